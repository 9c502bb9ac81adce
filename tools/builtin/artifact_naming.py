"""How a call names an artifact, and what a member is shown of the one it would change."""

from typing import Final
from uuid import UUID

from artifacts import reading
from audit.refusals import NotFound
from tools.boundary.contract import Json, RunIdentity, Target
from tools.builtin.acting import member_of

ARTIFACT_ID: Final[Json] = {
    "type": "string",
    "format": "uuid",
    "description": "The artifact's id, as you were given it when it was written or read",
}
VERSION: Final[Json] = {"type": "integer", "minimum": 1, "maximum": 1_000_000}


def target_of(identity: RunIdentity, arguments: Json) -> Target:
    """The artifact a call would change, as it is now; raises `NotFound`."""
    root = reading.artifact(member_of(identity), id_of(arguments["artifact_id"]))
    return Target(f"“{root.title}”, version {root.head}", f"{root.id}@{root.head}")


def id_of(text: str) -> UUID:
    """An id as a model wrote it; raises `NotFound` for one that nothing can have."""
    try:
        return UUID(text)
    except ValueError:
        raise NotFound() from None
