"""What has to agree before a message is accepted, named by those who stand above conversations.

So acceptance asks about models and budgets without knowing either.
"""

from collections.abc import Callable
from uuid import UUID

from agents.members.models import Member

# Raises `Refusal` for what must not be accepted; gets the person and the deployment they named.
Gate = Callable[[Member, UUID | None], None]

_gates: dict[str, Gate] = {}


def add(name: str, gate: Gate) -> None:
    """Ask this gate from now on; a name stands for one gate."""
    _gates[name] = gate


def check(member: Member, deployment_id: UUID | None) -> None:
    """Ask every gate, in the transaction of the acceptance."""
    for gate in _gates.values():
        gate(member, deployment_id)
