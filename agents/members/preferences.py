"""What a person has chosen about how agents work for them. Read when a turn is admitted, and fixed
for that turn.
"""

from typing import Final

from django.db import transaction

from agents.members.models import Member
from audit import funnel
from audit.reasons import Action

NAMES: Final = ("plain_speak", "compress_tool_results", "default_during_run", "effort")


def change(*, actor: Member, chosen: dict[str, bool | str]) -> None:
    """Set some of a person's own preferences by name; audited. Values are checked by the doors."""
    unknown = chosen.keys() - set(NAMES)
    if unknown:
        raise ValueError(f"no preferences: {sorted(unknown)}")
    if not chosen:
        return
    with transaction.atomic():
        for name, value in chosen.items():
            setattr(actor, name, value)
        actor.save(update_fields=list(chosen))
        funnel.record(
            action=Action.MEMBER_CHANGED,
            actor=actor.principal,
            outcome="success",
            subject=("member", str(actor.pk)),
            details={name: str(value).lower() for name, value in sorted(chosen.items())},
        )
