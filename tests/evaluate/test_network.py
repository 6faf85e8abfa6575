"""What all models have in common."""

from __future__ import annotations

import pytest
import torch

from herald_gpu.evaluate import MODELS, VARIANTS, make_model
from herald_gpu.evaluate.network import Network, Sizes


def test_variants():
    assert VARIANTS == ("standard", "published")


@pytest.mark.parametrize("name", MODELS)
def test_models_know_their_sizes_and_drop_in_training_only(name):
    model = make_model(name, 7, 3, hidden=16)
    assert model.sizes == Sizes(n_features=7, hidden=16, n_classes=3)
    assert model.train().dropping is model.draws
    assert model.eval().dropping is None


def test_the_base_is_no_model():
    with pytest.raises(NotImplementedError):
        Network(Sizes(1, 1, 1), "standard", torch.Generator())
