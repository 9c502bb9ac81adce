"""What one turn is offered: computed anew for every turn, nothing remembered between them."""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Final

from django.conf import settings

from audit.limits import limit
from tools.boundary import registry, schemas
from tools.boundary.contract import TIER_ORDER, Json, Tier, ToolDescriptor
from tools.boundary.registry import ENTRIES, Entry

BASELINE: Final = "baseline"  # the family every chat agent has without asking
CHAT: Final = "chat"  # the surface on which it has it

DIRECT_TOOLS = limit(
    "turn.direct_tools", 16, "count", "Tools one model step is shown; the rest has to be searched."
)
DISCOVERIES = limit(
    "turn.discoveries", 4, "count", "Searches for tools one turn has, unless its agent asks more."
)


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
    switched_off: frozenset[str] = frozenset(),
    entries: Mapping[str, Entry] = ENTRIES,
    flag: Callable[[str], bool] = flag_is_on,
) -> tuple[ToolDescriptor, ...]:
    """The tools of one turn, those the message hints at first.

    `families` is what the agent's definition was granted, `ceiling` the highest tier it may use,
    `surface` the agent's mode, `switched_off` the families an administrator let nobody use. A hint
    or a name in the message moves a tool that is offered anyway; it never adds one.
    """
    granted = (families | ({BASELINE} if surface == CHAT else frozenset())) - switched_off
    described = [
        descriptor
        for name, entry in entries.items()
        if (not entry.flag or flag(entry.flag))
        and within((descriptor := registry.resolve(name, entries)).tier, ceiling)
    ]
    offered = [tool for tool in described if tool.family in granted and not tool.discovery]
    if len(offered) > DIRECT_TOOLS:
        finding = [tool for tool in described if tool.discovery]
        offered += [tool for tool in finding if tool.family not in switched_off]
    text = message.casefold()
    return tuple(sorted(offered, key=lambda tool: _distance(tool, text)))


def step_offer(
    catalogue: Mapping[str, ToolDescriptor],
    *,
    recent: Sequence[str] = (),
    withdrawn: frozenset[str] = frozenset(),
    may_search: bool = True,
) -> dict[str, ToolDescriptor]:
    """The bounded part of a run's frozen catalogue that one model step is shown.

    Always the tools that search for others while that is allowed, then what was found or called
    last, then the catalogue in its own order. The answer keeps the catalogue's order, so that a
    provider's cache of the beginning of a request stays good.
    """
    usable = [tool for tool in catalogue.values() if tool.name not in withdrawn]
    searching = [tool.name for tool in usable if tool.discovery] if may_search else []
    others = {tool.name for tool in usable if not tool.discovery}
    wanted = [*searching, *(name for name in recent if name in others)]
    wanted += [tool.name for tool in usable if tool.name in others]
    shown = set(list(dict.fromkeys(wanted))[:DIRECT_TOOLS])
    return {name: tool for name, tool in catalogue.items() if name in shown}


def discoveries(asked: int | None, *, step_ceiling: int) -> int:
    """How often a turn may search for tools: raised on demand, never past its model steps."""
    return min(max(asked or 0, DISCOVERIES), step_ceiling)


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


def _distance(descriptor: ToolDescriptor, text: str) -> int:
    """0 for a tool the text names or asks for exactly, 1 for one it hints at, 2 for every other."""
    exact = descriptor.exact_intent
    if _says(text, descriptor.name, whole=True) or (exact is not None and exact.search(text)):
        return 0
    return 1 if any(_says(text, hint, whole=False) for hint in descriptor.intent_hints) else 2


def _says(text: str, phrase: str, *, whole: bool) -> bool:
    """Whether a text has a phrase at the beginning of a word; `whole`: and at the end of one."""
    if phrase not in text:  # most are not, and this is quick
        return False
    end = r"(?!\w)" if whole else ""
    return re.search(rf"(?<!\w){re.escape(phrase)}{end}", text) is not None
