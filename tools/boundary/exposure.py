"""What one turn is offered: computed anew for every turn, nothing remembered between them."""

from collections.abc import Callable, Iterable, Mapping
from typing import Final

from django.conf import settings

from tools.boundary import registry, schemas
from tools.boundary.contract import TIER_ORDER, Json, Tier, ToolDescriptor
from tools.boundary.registry import ENTRIES, Entry

BASELINE: Final = "baseline"  # the family every chat agent has without asking
CHAT: Final = "chat"  # the surface on which it has it


def flag_is_on(name: str) -> bool:
    """Whether the operator has switched a feature on."""
    return bool(getattr(settings.FLAGS, name))


def catalogue(
    names: Iterable[str], entries: Mapping[str, Entry] = ENTRIES
) -> dict[str, ToolDescriptor]:
    """Descriptors by name, for a frozen offer that is taken up again.

    Raises `registry.UnregisteredTool` for the first name outside the closed set.
    """
    return {name: registry.resolve(name, entries) for name in names}


def offer(
    *,
    families: frozenset[str],
    ceiling: Tier,
    surface: str,
    message: str = "",
    entries: Mapping[str, Entry] = ENTRIES,
    flag: Callable[[str], bool] = flag_is_on,
) -> tuple[ToolDescriptor, ...]:
    """The tools of one turn, those the message hints at first.

    `families` is what the agent's definition was granted, `ceiling` the highest tier it may use,
    `surface` the agent's mode. A hint or a name in the message moves a tool that is offered
    anyway; it never adds one.
    """
    granted = families | ({BASELINE} if surface == CHAT else frozenset())
    offered = [
        descriptor
        for name, entry in entries.items()
        if (not entry.flag or flag(entry.flag))
        and (descriptor := registry.resolve(name, entries)).family in granted
        and within(descriptor.tier, ceiling)
    ]
    return tuple(sorted(offered, key=lambda descriptor: not _hinted(descriptor, message)))


def names_allowed(*, families: frozenset[str], ceiling: Tier, surface: str) -> frozenset[str]:
    """The names `offer` would offer now: what authority is compared with before each call."""
    tools = offer(families=families, ceiling=ceiling, surface=surface)
    return frozenset(descriptor.name for descriptor in tools)


def advertise(descriptors: Iterable[ToolDescriptor]) -> list[Json]:
    """What a model is told of each tool; large size bounds are left out and enforced later."""
    return [
        {
            "name": descriptor.name,
            "description": descriptor.description,
            "parameters": schemas.advertised(descriptor.parameters),
        }
        for descriptor in descriptors
    ]


def within(tier: Tier, ceiling: Tier) -> bool:
    """Whether a ceiling admits a tier."""
    return TIER_ORDER.index(tier) <= TIER_ORDER.index(ceiling)


def _hinted(descriptor: ToolDescriptor, message: str) -> bool:
    text = message.casefold()
    return descriptor.name in text or any(hint in text for hint in descriptor.intent_hints)
