"""What an agent definition may hold. Nothing else: behaviour belongs to the shared pipeline."""

import re
from copy import deepcopy
from typing import Any, Final

from agents.definitions.models import Ceiling, Mode
from agents.members.models import Effort
from audit import canonical, hiding
from audit.limits import limit
from audit.reasons import Reason
from audit.refusals import FieldProblem, Invalid, Refusal

NAME_CHARACTERS = limit("agent.name", 100, "characters", "Length of an agent's name.")
DESCRIPTION_CHARACTERS = limit(
    "agent.description", 500, "characters", "Length of an agent's description."
)
PERSONA_CHARACTERS = limit("agent.persona", 20_000, "characters", "Length of an agent's persona.")
MAX_REFERENCES = limit(
    "agent.references", 50, "count", "Packages, collections or prompts one agent may name."
)
DISCOVERIES_ASKED = limit(
    "agent.discoveries",
    1_000,
    "count",
    "Searches for tools an agent may ask for in one turn; its turns still end at their own bounds.",
)
META_BYTES = limit("agent.meta", 4_096, "bytes", "Size of an agent's routing and meta data.")

# Families of tools a definition may ask for; the boundary decides what a turn is offered.
TOOL_FAMILIES: Final = frozenset({"artifacts", "artifacts_staged"})
OPTIONAL: Final = {
    "description": "",
    "capability_ceiling": Ceiling.READ.value,
    "mode": Mode.CHAT.value,
    "routing": {},
    "granted_package_ids": [],
    "collection_ids": [],
    "prompt_ids": [],
    "posture": {},
    "meta": {},
}
REFERENCE = re.compile(r"[A-Za-z0-9][A-Za-z0-9._:-]{0,99}")
UNPRINTABLE = re.compile(r"[\x00-\x08\x0b-\x1f\x7f\ud800-\udfff]")


def checked(content: Any) -> dict[str, Any]:
    """The definition with its defaults filled in; raises `Invalid` naming every bad field."""
    if not isinstance(content, dict):
        raise Invalid([_fault("content", Reason.INVALID_FIELD)])
    faults = [
        _fault(f"content.{name}", Reason.UNKNOWN_FIELD)
        for name in sorted(set(content) - set(OPTIONAL) - {"name", "persona"})
    ]
    faults += [
        _fault(f"content.{name}", Reason.MISSING_FIELD)
        for name in ("name", "persona")
        if name not in content
    ]
    definition = {**deepcopy(OPTIONAL), **content}
    faults += [
        _fault(f"content.{name}", Reason.INVALID_FIELD)
        for name, holds in CHECKS.items()
        if name in definition and not holds(definition[name])
    ]
    if faults:
        raise Invalid(faults)
    return {**definition, "name": definition["name"].strip()}


def _fault(field: str, reason: Reason) -> FieldProblem:
    return {"field": field, "reason": str(reason)}


def _name(value: Any) -> bool:
    return (
        isinstance(value, str)
        and len(value.strip()) > 0
        and len(value) <= NAME_CHARACTERS
        and not hiding.hides(value)
    )


def _text(maximum: int) -> Any:
    return lambda value: (
        isinstance(value, str) and len(value) <= maximum and not UNPRINTABLE.search(value)
    )


def _persona(value: Any) -> bool:
    return bool(_text(PERSONA_CHARACTERS)(value)) and bool(value.strip())


def _references(value: Any) -> bool:
    return (
        isinstance(value, list)
        and len(value) <= MAX_REFERENCES
        and all(isinstance(item, str) and REFERENCE.fullmatch(item) for item in value)
        and len(set(value)) == len(value)
    )


def _small_object(value: Any) -> bool:
    try:
        return isinstance(value, dict) and len(canonical.dump(value).encode()) <= META_BYTES
    except Refusal:  # something in it cannot be stored
        return False


def _posture(value: Any) -> bool:
    if not isinstance(value, dict) or set(value) - {"tools", "discoveries", "effort"}:
        return False
    tools, discoveries = value.get("tools", []), value.get("discoveries", 1)
    return (
        value.get("effort", Effort.MEDIUM) in Effort.values
        and isinstance(tools, list)
        and all(isinstance(family, str) and family in TOOL_FAMILIES for family in tools)
        and type(discoveries) is int
        and 1 <= discoveries <= DISCOVERIES_ASKED
    )


CHECKS: Final = {
    "name": _name,
    "persona": _persona,
    "description": _text(DESCRIPTION_CHARACTERS),
    "capability_ceiling": lambda value: isinstance(value, str) and value in Ceiling.values,
    "mode": lambda value: isinstance(value, str) and value in Mode.values,
    "routing": _small_object,
    "granted_package_ids": _references,
    "collection_ids": _references,
    "prompt_ids": _references,
    "posture": _posture,
    "meta": _small_object,
}
