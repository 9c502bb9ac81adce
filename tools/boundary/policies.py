"""What administrators decide about families of tools."""

from dataclasses import dataclass
from typing import Final

from django.db import connection, transaction
from django.db.models.functions import Now

from audit import funnel
from audit.reasons import Action
from tools.boundary import registry
from tools.boundary.contract import Tier, ToolDescriptor
from tools.boundary.models import FamilyPolicy, PolicyMode
from tools.boundary.registry import ENTRIES

# Without a row: a new family works as its agents were granted it.
UNDECIDED: Final = PolicyMode.ON


def families() -> tuple[str, ...]:
    """The families that registered tools belong to, sorted."""
    return tuple(sorted({registry.resolve(name).family for name in ENTRIES}))


@dataclass(frozen=True)
class Line:
    """One family as administrators see it: what is decided and the tools it holds."""

    family: str
    mode: PolicyMode
    tools: tuple[str, ...]
    always_asks: bool


def lines() -> list[Line]:
    """Every family, decided or not, in order."""
    decided = dict(FamilyPolicy.objects.values_list("family", "mode"))
    found = []
    for family in families():
        held = [tool for tool in map(registry.resolve, ENTRIES) if tool.family == family]
        found.append(
            Line(
                family,
                PolicyMode(decided.get(family, UNDECIDED)),
                tuple(tool.label for tool in held),
                any(tool.tier is Tier.SENSITIVE for tool in held),
            )
        )
    return found


def mode_of(family: str) -> PolicyMode:
    """What is decided about a family at this instant."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT mode FROM boundary_familypolicy WHERE family = %s", [family])
        row = cursor.fetchone()
    return PolicyMode(row[0]) if row else UNDECIDED


def switched_off() -> frozenset[str]:
    """The families whose tools nobody may use at this instant."""
    return frozenset(FamilyPolicy.switched_off())


def asks(descriptor: ToolDescriptor, mode: PolicyMode) -> bool:
    """Whether a member has to approve each call of a tool under a policy."""
    if descriptor.tier is Tier.READ:
        return False
    return descriptor.tier is Tier.SENSITIVE or mode is PolicyMode.APPROVAL


def decide(*, actor: str, family: str, mode: PolicyMode) -> FamilyPolicy:
    """Set a family's policy; it counts from the next call of each of its tools.

    `actor` is an audit principal. Raises `ValueError` for a family no registered tool belongs to.
    """
    if family not in families():
        raise ValueError(f"{family!r:.80} is no family of tools")
    with transaction.atomic():
        row, _ = FamilyPolicy.objects.update_or_create(
            family=family, defaults={"mode": mode, "updated_at": Now()}
        )
        funnel.record(
            action=Action.TOOL_POLICY_CHANGED,
            actor=actor,
            outcome="success",
            subject=("tool_family", family),
            details={"mode": str(mode)},
        )
    return row
