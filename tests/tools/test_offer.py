"""What one turn is offered."""

import json
from collections.abc import Callable
from types import MappingProxyType
from typing import Any

import pytest

from tools import AGENT_LOOP_TOOL_NAMES
from tools.boundary import exposure, registry, schemas
from tools.boundary.contract import Tier, ToolDescriptor, ToolKind
from tools.boundary.registry import Entry, UnfitTool, UnregisteredTool

BASELINE = {
    "search_about",
    "show_chat_canvas",
    "conversation_history_search",
    "list_available_agents",
}


def names(**grant: Any) -> list[str]:
    return [tool.name for tool in exposure.offer(**grant)]


@pytest.mark.req("REG-006", "REG-010")
def test_an_agent_without_grants_gets_the_baseline_alone() -> None:
    offered = names(families=frozenset(), ceiling=Tier.SENSITIVE, surface="chat")
    assert set(offered) == BASELINE


@pytest.mark.req("REG-005")
def test_the_offer_follows_grant_ceiling_and_surface() -> None:
    artifacts = frozenset({"artifacts", "artifacts_staged"})
    assert set(names(families=artifacts, ceiling=Tier.WRITE, surface="chat")) == (
        AGENT_LOOP_TOOL_NAMES - {"tool_search"}
    )
    reading = names(families=artifacts, ceiling=Tier.READ, surface="chat")
    assert set(reading) == {*BASELINE, "read_artifact"}
    assert names(families=frozenset(), ceiling=Tier.WRITE, surface="search") == []
    assert names(families=frozenset({"*"}), ceiling=Tier.WRITE, surface="search") == []


@pytest.mark.req("REG-001")
def test_a_catalogue_with_a_name_outside_the_set_is_refused() -> None:
    assert set(exposure.catalogue(["search_about"])) == {"search_about"}
    with pytest.raises(UnregisteredTool):
        exposure.catalogue(["search_about", "run_anything"])
    stranger = MappingProxyType({"run_anything": Entry("tools.builtin.about.SEARCH_ABOUT")})
    with pytest.raises(UnregisteredTool):
        exposure.catalogue(["run_anything"], stranger)


def test_a_tool_behind_a_flag_exists_only_while_the_flag_is_on() -> None:
    flagged = MappingProxyType(
        {"search_about": Entry("tools.builtin.about.SEARCH_ABOUT", flag="sandbox_enabled")}
    )
    grant: dict[str, Any] = {"families": frozenset(), "ceiling": Tier.READ, "surface": "chat"}
    assert exposure.offer(**grant, entries=flagged, flag=lambda name: False) == ()
    asked: list[str] = []
    on = exposure.offer(**grant, entries=flagged, flag=lambda name: not asked.append(name))
    assert [tool.name for tool in on] == ["search_about"]
    assert asked == ["sandbox_enabled"]
    assert exposure.flag_is_on("sandbox_enabled") is False


@pytest.mark.req("REG-012", "REG-013", "REG-030")
def test_words_of_the_message_reorder_the_offer_and_add_nothing() -> None:
    grant: dict[str, Any] = {"families": frozenset(), "ceiling": Tier.READ, "surface": "chat"}
    plain = names(**grant)
    hinted = names(**grant, message="What did we say LAST TIME about the move?")
    assert hinted[0] == "conversation_history_search"
    assert sorted(hinted) == sorted(plain)
    named = names(**grant, message="call list_available_agents and create_artifact")
    assert named[0] == "list_available_agents"
    assert "create_artifact" not in named


@pytest.mark.req("REG-023", "REG-024")
def test_large_size_bounds_are_not_advertised_and_small_ones_are() -> None:
    described = {
        "type": "object",
        "properties": {
            "maxLength": {"type": "string", "maxLength": 1_999},
            "text": {"type": "string", "minLength": 2_000, "maxLength": 2_000},
            "list": {"type": "array", "maxItems": 5_000, "items": {"maxLength": 2_500}},
            "either": {"anyOf": [{"maxProperties": 2_000}, {"minItems": 3}]},
            "data": {"const": {"maxLength": 9_000}},
        },
    }
    assert schemas.advertised(described) == {
        "type": "object",
        "properties": {
            "maxLength": {"type": "string", "maxLength": 1_999},
            "text": {"type": "string"},
            "list": {"type": "array", "items": {}},
            "either": {"anyOf": [{}, {"minItems": 3}]},
            "data": {"const": {"maxLength": 9_000}},
        },
    }


def test_every_tool_is_advertised_with_a_name_a_description_and_a_schema() -> None:
    families = frozenset({"artifacts", "artifacts_staged"})
    tools = exposure.offer(families=families, ceiling=Tier.WRITE, surface="chat")
    shown = {tool["name"]: tool for tool in exposure.advertise(tools)}
    assert set(shown) == AGENT_LOOP_TOOL_NAMES - {"tool_search"}
    assert "maxLength" not in shown["create_artifact"]["parameters"]["properties"]["content"]
    assert shown["create_artifact"]["parameters"]["properties"]["title"]["maxLength"] == 200
    assert all(len(json.dumps(tool)) < 2_500 for tool in shown.values())


@pytest.mark.req("TOOL-025")
def test_a_tool_without_both_projections_does_not_register(
    make_tool: Callable[..., ToolDescriptor],
) -> None:
    registry.check(make_tool())
    with pytest.raises(UnfitTool, match="projection"):
        registry.check(make_tool(project_for_member=None))
    with pytest.raises(UnfitTool, match="projection"):
        registry.check(make_tool(project_for_model=None))


@pytest.mark.req("REG-027", "REG-029", "TOOL-012")
def test_a_tool_that_breaks_the_contract_does_not_register(
    make_tool: Callable[..., ToolDescriptor],
) -> None:
    for changes, problem in (
        ({"kind": ToolKind.WRITE, "tier": Tier.READ}, "tier"),
        ({"kind": ToolKind.READ, "tier": Tier.WRITE}, "tier"),
        ({"timeout_s": 601}, "timeout"),
        ({"timeout_s": 0}, "timeout"),
        ({"label": " "}, "label"),
        ({"parameters": {"type": "object"}}, "unknown fields"),
        ({"parameters": {"type": "object", "additionalProperties": False, "required": 3}}, "valid"),
    ):
        with pytest.raises(UnfitTool, match=problem):
            registry.check(make_tool(**changes))


@pytest.mark.req("TOOL-019", "TOOL-022")
def test_no_tool_may_ask_the_model_who_acts(make_tool: Callable[..., ToolDescriptor]) -> None:
    for field in ("member", "member_id", "owner", "tenant_id", "workroom", "role", "user_id"):
        inner = {"type": "object", "properties": {field: {"type": "string"}}}
        for properties in (inner["properties"], {"deep": {"anyOf": [inner]}}):
            schema = {"type": "object", "additionalProperties": False, "properties": properties}
            with pytest.raises(UnfitTool, match="identity"):
                registry.check(make_tool(parameters=schema))


def test_a_schema_that_points_elsewhere_does_not_register(
    make_tool: Callable[..., ToolDescriptor],
) -> None:
    away = {"$ref": "https://example.org/schema"}
    schema = {"type": "object", "additionalProperties": False, "properties": {"a": away}}
    with pytest.raises(UnfitTool, match="reference"):
        registry.check(make_tool(parameters=schema))
