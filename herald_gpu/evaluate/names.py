"""Names of the networks, which the command line lists without loading torch."""

from __future__ import annotations

PAPER_MODELS = ("GCN", "GAT", "GIN", "H2GCN")
"""Networks that the condensation paper measured; what is evaluated by default."""
OTHER_MODELS = ("SAGE", "GATv2", "APPNP", "SGC", "TAG", "GraphConv", "FAGCN", "GCNII", "JKNet", "MLP")
"""Networks built from PyG's layers."""
