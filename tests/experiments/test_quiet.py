"""Warnings of condensers are kept back."""

from __future__ import annotations

import logging

import pytest

from herald_gpu.experiments.quiet import hushed, logger


@pytest.fixture(autouse=True)
def _level():
    before = logger.level
    yield
    logger.setLevel(before)


@pytest.mark.parametrize(("level", "told"), [(logging.WARNING, False), (logging.INFO, True), (logging.DEBUG, True)])
def test_unless_everything_is_told(level, told):
    logger.setLevel(level)
    with hushed():
        assert logger.isEnabledFor(logging.WARNING) is told
        assert logger.isEnabledFor(logging.ERROR)
    assert logger.level == level


def test_the_level_is_put_back_after_an_error():
    logger.setLevel(logging.WARNING)
    with pytest.raises(RuntimeError), hushed():
        raise RuntimeError
    assert logger.level == logging.WARNING
