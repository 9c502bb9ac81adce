"""An agent's definition in words: what its fields and their values are called on pages."""

from typing import Any, Final

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy as _later
from django.utils.translation import ngettext

from agents.definitions.library import Card, Sharing
from agents.definitions.models import Ceiling, Mode
from agents.members.models import Member
from agents.web import choosing
from agents.web.account import EFFORTS
from audit import canonical

# Families of tools a definition may name, with what a person gets by each.
FAMILIES: Final = (
    (
        "artifacts",
        _later("Artifacts"),
        _later("Keeps and edits documents, code, tables and graphs."),
    ),
    (
        "artifacts_staged",
        _later("Long artifacts"),
        _later("Writes long documents part by part and checks each part."),
    ),
)
CEILINGS: Final = (
    (Ceiling.READ, _later("Read only"), _later("Looks things up and changes nothing.")),
    (Ceiling.WRITE, _later("Read and write"), _later("Also makes and changes things of yours.")),
    (
        Ceiling.SENSITIVE,
        _later("Read, write and sensitive"),
        _later("Also what cannot easily be undone. You are still asked."),
    ),
)
MODES: Final = (
    (Mode.CHAT, _later("Chat"), _later("Talks with you, message by message.")),
    (Mode.SEARCH, _later("Search"), _later("Answers one question at a time.")),
)
FIELDS: Final = {
    "name": _later("Name"),
    "description": _later("Purpose"),
    "persona": _later("Instructions"),
    "mode": _later("Kind"),
    "capability_ceiling": _later("What its tools may do"),
    "posture": _later("Tools and effort"),
    "granted_package_ids": _later("Packages"),
    "collection_ids": _later("Collections"),
    "prompt_ids": _later("Prompts"),
    "routing": _later("Routing"),
    "meta": _later("Other data"),
}

# Fields that people write in their own words.
TEXTS: Final = frozenset({"name", "description", "persona"})


def card(found: Card, member: Member) -> dict[str, Any]:
    """A card as templates show it."""
    own = found.agent.owner_id == member.pk
    return {
        "agent": found.agent,
        "mode": mode(found.agent.mode),
        "tools": [choosing.tool_name(label) for label in found.tools],
        "holds": _holds(found),
        "provenance": _provenance(found, own),
        "sharing": choosing.sharing(
            is_protected=False,
            is_own=own,
            is_everyones=found.sharing is Sharing.EVERYONE,
            is_shared=found.sharing is Sharing.SHARED,
        ),
        "may": found.may,
    }


def field(name: str) -> str:
    """What a field of a definition is called."""
    return str(FIELDS.get(name, name))


def value(name: str, held: Any) -> str:
    """A field's value for people, where it is no long text."""
    if held is None or held in ("", [], {}):
        return _("nothing")
    if name == "mode":
        return mode(held)
    if name == "capability_ceiling":
        return ceiling(held)
    if name == "posture":
        return _posture(held)
    if isinstance(held, list):
        return ", ".join(map(str, held))
    return held if isinstance(held, str) else canonical.dump(held)


def mode(held: str) -> str:
    """The kind of an agent."""
    return next((str(words) for known, words, _help in MODES if known == held), held)


def ceiling(held: str) -> str:
    """What an agent's tools may do."""
    return next((str(words) for known, words, _help in CEILINGS if known == held), held)


def _posture(held: dict[str, Any]) -> str:
    names = {family: str(words) for family, words, _help in FAMILIES}
    parts = [names.get(family, family) for family in held.get("tools", [])]
    efforts = {str(known): str(words) for known, words in EFFORTS}
    if "effort" in held:
        parts.append(_("effort: %(effort)s") % {"effort": efforts.get(held["effort"], "")})
    if "discoveries" in held:
        parts.append(_("searches for tools: %(count)s") % {"count": held["discoveries"]})
    return ", ".join(parts) or _("nothing")


def _holds(found: Card) -> list[str]:
    """Packages, collections and prompts, counted."""
    packages, collections, prompts = (
        found.package_count,
        found.collection_count,
        found.prompt_count,
    )
    counted = (
        ngettext("%d package", "%d packages", packages) % packages,
        ngettext("%d collection", "%d collections", collections) % collections,
        ngettext("%d prompt", "%d prompts", prompts) % prompts,
    )
    # A number stays on the line of what it counts.
    return [words.replace(" ", "\N{NO-BREAK SPACE}") for words in counted]


def _provenance(found: Card, own: bool) -> str:
    if found.agent.protected:
        return _("Included")
    if own:
        return _("Yours")
    return _("By %(name)s") % {"name": found.owner_name}
