"""The desk of the turn tests, for turns that pass the guardrails."""

from tests.turns.conftest import desk, desk_of

__all__ = ["desk", "desk_of"]
