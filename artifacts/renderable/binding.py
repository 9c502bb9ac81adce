"""What a renderable artifact is bound to for good: its provenance and its markings. Pure."""

import json
from typing import Any

from audit import canonical
from audit.reasons import Reason
from audit.refusals import FieldProblem, Invalid

BOUND = ("provenance", "security")


class BindingChanged(Invalid):
    """A later version comes from elsewhere or is marked otherwise; it is a new artifact."""

    def __init__(self, changed: list[str]) -> None:
        fields: list[FieldProblem] = [
            {"field": f"envelope.{name}", "reason": str(Reason.CONFLICT)} for name in changed
        ]
        super().__init__(
            fields,
            f"The {' and '.join(changed)} of an artifact never change;"
            " keep this result as a new artifact.",
        )


def check(*, before: str, after: str) -> None:
    """Raise `BindingChanged` unless both canonical envelopes are bound alike."""
    old: dict[str, Any] = json.loads(before)
    new: dict[str, Any] = json.loads(after)
    changed = [name for name in BOUND if canonical.dump(old[name]) != canonical.dump(new[name])]
    if changed:
        raise BindingChanged(changed)
