"""What a definition may hold: only words, grants and references; never behaviour."""

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agents.definitions import content as definition
from audit.refusals import Invalid

GOOD: dict[str, Any] = {"name": "Helper", "persona": "You help."}
BEHAVIOUR = ("temperature", "tools", "controller", "guardrails", "retries", "model", "owner", "id")


def faults(content: Any) -> list[tuple[str, str]]:
    with pytest.raises(Invalid) as refused:
        definition.checked(content)
    return [(fault["field"], fault["reason"]) for fault in refused.value.fields]


def test_two_fields_are_enough_and_the_rest_has_defaults() -> None:
    assert definition.checked(GOOD) == {
        "name": "Helper",
        "persona": "You help.",
        "description": "",
        "capability_ceiling": "read",
        "mode": "chat",
        "routing": {},
        "granted_package_ids": [],
        "collection_ids": [],
        "prompt_ids": [],
        "posture": {},
        "meta": {},
    }


def test_defaults_are_not_shared_between_definitions() -> None:
    definition.checked(GOOD)["meta"]["left"] = "behind"
    assert definition.checked(GOOD)["meta"] == {}


@pytest.mark.req("AGT-001", "AGT-002")
@pytest.mark.parametrize("name", BEHAVIOUR)
def test_behaviour_has_no_place(name: str) -> None:
    assert faults({**GOOD, name: "x"}) == [(f"content.{name}", "unknown_field")]


@pytest.mark.parametrize("name", ["name", "persona"])
def test_both_required_fields_are_asked_for(name: str) -> None:
    assert faults({key: GOOD[key] for key in GOOD if key != name}) == [
        (f"content.{name}", "missing_field")
    ]


def test_all_faults_are_told_at_once() -> None:
    assert faults({"persona": 1, "mode": "shout", "secret": 1}) == [
        ("content.secret", "unknown_field"),
        ("content.name", "missing_field"),
        ("content.persona", "invalid_field"),
        ("content.mode", "invalid_field"),
    ]


@pytest.mark.parametrize("content", [None, [], "text", 7, [GOOD]])
def test_only_an_object_is_a_definition(content: Any) -> None:
    assert faults(content) == [("content", "invalid_field")]


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("name", ""),
        ("name", "   "),
        ("name", "two\nlines"),
        ("name", "bell\x07"),
        ("name", "nezi\u202eaK"),
        ("name", "Ferry\u200b"),
        ("name", "Ferry\u3164"),
        ("name", "\u2800"),
        ("name", "Fer\u200dry"),
        ("name", "\u200dF\u00e4hre"),
        ("name", "Fer\u00adry"),
        ("name", "\ufeffFerry"),
        ("name", "Ferry\u200f"),
        ("name", "Ferry\u2028ok"),
        ("name", "Ferry\x85"),
        ("name", "Ferry\U000e0041"),
        ("name", "Ferry\ue000"),
        ("name", "half \ud800"),
        ("name", "x" * 101),
        ("name", ["Helper"]),
        ("persona", " \n "),
        ("persona", "x" * 20_001),
        ("persona", "nul\x00"),
        ("persona", "half \ud800"),
        ("meta", {"half": "\udfff"}),
        ("description", "x" * 501),
        ("description", None),
        ("capability_ceiling", "god"),
        ("capability_ceiling", ["read"]),
        ("mode", "CHAT"),
        ("mode", {}),
        ("posture", {"tools": ["shell"]}),
        ("posture", {"tools": "artifacts"}),
        ("posture", {"autonomy": "full"}),
        ("posture", {"tools": [["artifacts"]]}),
        ("posture", {"discoveries": 0}),
        ("posture", {"discoveries": 1_001}),
        ("posture", {"discoveries": True}),
        ("posture", {"discoveries": "4"}),
        ("posture", {"effort": "most"}),
        ("posture", {"effort": ""}),
        ("posture", {"effort": ["low"]}),
        ("posture", []),
        ("granted_package_ids", ["a", "a"]),
        ("granted_package_ids", ["a"] * 51),
        ("collection_ids", ["../etc"]),
        ("collection_ids", [""]),
        ("prompt_ids", [7]),
        ("prompt_ids", "abc"),
        ("routing", "fast"),
        ("meta", {"x": "y" * 4_100}),
        ("meta", []),
    ],
)
def test_a_value_out_of_bounds_names_its_field(name: str, value: Any) -> None:
    assert faults({**GOOD, name: value}) == [(f"content.{name}", "invalid_field")]


def test_bounds_are_reached_but_not_passed() -> None:
    content = {
        "name": "x" * 100,
        "persona": "x" * 20_000,
        "description": "x" * 500,
        "prompt_ids": [f"p{n}" for n in range(50)],
        "posture": {"tools": ["artifacts"], "discoveries": 9, "effort": "high"},
    }
    assert definition.checked(content)["name"] == "x" * 100


def test_blanks_round_a_name_are_dropped() -> None:
    assert definition.checked({**GOOD, "name": "  Helper "})["name"] == "Helper"


@pytest.mark.parametrize(
    "name",
    [
        "F\u00e4hre",
        "\u6e21\u3057\u8239",
        "\u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u0645",
        "\U0001f469\u200d\U0001f52c lab",
        "\u2708\ufe0f",
    ],
)
def test_names_of_any_script_are_names(name: str) -> None:
    assert definition.checked({**GOOD, "name": name})["name"] == name


ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)
FIELDS = st.sampled_from([*GOOD, *definition.OPTIONAL, "extra"])


@settings(max_examples=60, deadline=None)
@given(st.dictionaries(FIELDS, ANYTHING, max_size=8))
def test_any_object_is_stored_faithfully_or_refused_by_name(content: dict[str, Any]) -> None:
    checked, refused = outcome({**GOOD, **content})
    assert {field.partition(".")[0] for field in refused} == ({"content"} if refused else set())
    if checked is not None:
        assert json.loads(json.dumps(checked)) == checked
        assert set(checked) == {*GOOD, *definition.OPTIONAL}
        assert "\x00" not in json.dumps(checked, ensure_ascii=False)


def outcome(content: Any) -> tuple[dict[str, Any] | None, list[str]]:
    """The checked definition, or the fields that were refused."""
    try:
        return definition.checked(content), []
    except Invalid as refused:
        return None, [fault["field"] for fault in refused.fields]


@settings(max_examples=60, deadline=None)
@given(ANYTHING)
def test_nothing_that_is_no_definition_gets_past(value: Any) -> None:
    checked, refused = outcome(value)
    assert (checked is None) == bool(refused)
    assert checked is None or (checked["name"] and checked["persona"])
