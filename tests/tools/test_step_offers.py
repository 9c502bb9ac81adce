"""What one model step is shown of a large catalogue, and what moves a tool into it."""

import json
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agents.engine import bounds
from tools.boundary import exposure, registry
from tools.boundary.contract import Tier, ToolDescriptor
from tools.boundary.facts import CallFacts, from_json, to_json
from tools.boundary.memory import RunMemory

MakeTool = Callable[..., ToolDescriptor]
SEARCH = registry.resolve("tool_search")
PLAIN = registry.resolve("list_available_agents")
NAMES = [f"tool_{n:02}" for n in range(40)]


def catalogue(count: int) -> dict[str, ToolDescriptor]:
    """A frozen catalogue of invented tools and, past the direct set, the search for them."""
    tools = {name: replace(PLAIN, name=name) for name in NAMES[:count]}
    return tools | ({SEARCH.name: SEARCH} if count > exposure.DIRECT_TOOLS else {})


def found(*names: str, call_id: str = "c-1") -> CallFacts:
    return CallFacts(call_id, SEARCH.name, "success", discovery=True, discovered=names)


@pytest.mark.req("REG-035")
@given(
    count=st.integers(0, 40),
    recent=st.lists(st.sampled_from([*NAMES, "invented", SEARCH.name]), max_size=30),
    withdrawn=st.frozensets(st.sampled_from([*NAMES, SEARCH.name]), max_size=30),
    may_search=st.booleans(),
)
def test_a_step_is_shown_at_most_sixteen_tools_of_its_own_catalogue(
    count: int, recent: list[str], withdrawn: frozenset[str], may_search: bool
) -> None:
    frozen = catalogue(count)
    shown = exposure.step_offer(frozen, recent=recent, withdrawn=withdrawn, may_search=may_search)
    assert len(shown) <= 16
    assert list(shown) == [name for name in frozen if name in shown]
    assert not set(shown) & withdrawn
    usable = {name for name in frozen if name not in withdrawn and name != SEARCH.name}
    if len(usable) < 16:
        assert set(shown) >= usable
    elif len(usable) > 16:
        assert len(shown) == 16
    assert (SEARCH.name in shown) == (
        may_search and SEARCH.name in frozen and SEARCH.name not in withdrawn
    )


@given(
    wanted=st.lists(st.sampled_from(NAMES), min_size=1, max_size=8, unique=True),
    before=st.lists(st.sampled_from(NAMES), max_size=40),
)
def test_what_a_search_found_is_shown_from_the_next_step_on(
    wanted: list[str], before: list[str]
) -> None:
    memory = RunMemory(catalogue(40))
    for n, name in enumerate(before):
        memory.observe(CallFacts(f"b-{n}", name, "success"), "{}", {})
    memory.observe(found(*wanted, "invented"), "{}", {})
    assert set(wanted) <= set(memory.offer())
    assert "invented" not in memory.offer()


def test_a_small_catalogue_is_shown_whole_and_needs_no_search() -> None:
    grant: dict[str, Any] = {"families": frozenset({"artifacts"}), "ceiling": Tier.WRITE}
    offered = exposure.offer(**grant, surface="chat")
    assert not [tool for tool in offered if tool.discovery]
    frozen = {tool.name: tool for tool in offered}
    assert RunMemory(frozen).offer() == frozen


@pytest.mark.req("REG-035")
def test_a_large_catalogue_comes_with_the_search(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(exposure, "DIRECT_TOOLS", 4)
    grant: dict[str, Any] = {"families": frozenset({"artifacts"}), "ceiling": Tier.READ}
    offered = exposure.offer(**grant, surface="chat")
    assert offered[-1].name == SEARCH.name
    assert SEARCH.name in exposure.names_allowed(**grant, surface="chat")
    without = exposure.offer(**grant, surface="chat", switched_off=frozenset({SEARCH.family}))
    assert [tool.name for tool in without] == [tool.name for tool in offered[:-1]]
    memory = RunMemory({tool.name: tool for tool in offered})
    assert len(memory.offer()) == 4
    hidden = next(name for name in memory.catalogue if name not in memory.offer())
    memory.observe(found(hidden), "{}", {})
    assert {hidden, SEARCH.name} <= set(memory.offer())
    assert len(memory.offer()) == 4


@pytest.mark.req("REG-036")
@pytest.mark.parametrize(("asked", "allowed"), [(None, 4), (1, 4), (4, 4), (9, 9), (500, 32)])
def test_searches_are_raised_on_demand_and_never_past_the_steps_of_a_turn(
    asked: int | None, allowed: int
) -> None:
    raised = exposure.discoveries(asked, step_ceiling=bounds.MAX_MODEL_STEPS)
    assert raised == allowed
    memory = RunMemory(catalogue(20), discoveries=raised)
    for n in range(raised):
        assert SEARCH.name in memory.offer()
        memory.observe(found(call_id=f"s-{n}"), "{}", {})
    assert SEARCH.name not in memory.offer()
    assert len(memory.offer()) == 16


def test_a_call_counts_once_however_often_it_is_replayed() -> None:
    memory = RunMemory(catalogue(20), discoveries=2)
    for _ in range(5):
        memory.observe(found(), "{}", {})
    assert SEARCH.name in memory.offer()


WORDS = st.lists(
    st.sampled_from(
        [*registry.ENTRIES, "canvas", "last time", "save", "Kaizen", "please", "run_anything", "\n"]
    ),
    max_size=12,
)
GRANTS = st.builds(
    dict,
    families=st.sampled_from(
        [frozenset(), frozenset({"artifacts"}), frozenset({"*", "discovery"})]
    ),
    ceiling=st.sampled_from(list(Tier)),
    surface=st.sampled_from(["chat", "search"]),
)


@pytest.mark.req("REG-013", "REG-030", "REG-005")
@given(words=WORDS, grant=GRANTS)
def test_words_only_move_tools_that_are_authorised_anyway(
    words: list[str], grant: Mapping[str, Any]
) -> None:
    plain = exposure.offer(**grant)
    moved = exposure.offer(**grant, message=" ".join(words))
    assert sorted(tool.name for tool in moved) == sorted(tool.name for tool in plain)
    named = [tool.name for tool in moved if tool.name in words]
    assert [tool.name for tool in moved[: len(named)]] == named
    assert exposure.offer(**grant) == plain  # nothing is remembered between turns


@pytest.mark.req("REG-012")
def test_a_hint_needs_the_beginning_of_a_word_and_a_name_the_whole_of_it() -> None:
    def first(message: str) -> str:
        grant: dict[str, Any] = {"families": frozenset({"artifacts"}), "ceiling": Tier.WRITE}
        return exposure.offer(**grant, surface="chat", message=message)[0].name

    assert first("It is already done") == "search_about"
    assert first("Revised wording, please: revise it") == "update_artifact"
    assert first("recreate_artifact") == "search_about"
    assert first("a canvas with (create_artifact)!") == "create_artifact"
    assert first("Two canvases") == "show_chat_canvas"


CALLS = st.lists(
    st.builds(
        CallFacts,
        call_id=st.uuids().map(str),
        tool=st.sampled_from([*NAMES[:20], SEARCH.name, "invented"]),
        outcome=st.sampled_from(["success", "error", "timeout", "denied", "pending_confirmation"]),
        arguments_digest=st.sampled_from(["d1", "d2"]),
        failure_domain=st.sampled_from(["tool", "caller"]),
        discovery=st.booleans(),
        discovered=st.lists(st.sampled_from([*NAMES, "invented"]), max_size=8).map(tuple),
    ),
    max_size=40,
)


@given(calls=CALLS)
def test_a_worker_that_takes_over_offers_what_the_lost_one_would(calls: list[CallFacts]) -> None:
    live, taken_over = RunMemory(catalogue(40)), RunMemory(catalogue(40))
    for facts in calls:
        live.observe(facts, "{}", {})
    for facts in calls:
        taken_over.observe(from_json(json.loads(json.dumps(to_json(facts)))), "{}", {})
    assert list(taken_over.offer()) == list(live.offer())
    assert taken_over.health.withdrawn == live.health.withdrawn
    assert not taken_over.health.withdrawn & set(taken_over.offer())
    assert [tool.name for tool in taken_over.findable()] == [tool.name for tool in live.findable()]
