"""Why a target is missed, where that is known: told beside it, so that nobody looks for the reason again."""

from __future__ import annotations

REASONS: dict[str, str] = {}
"""By the name of the target."""
