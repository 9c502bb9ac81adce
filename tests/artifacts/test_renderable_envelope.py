"""What is a renderable envelope, and what is none: schema and normaliser agree on the rest."""

import json
import random
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from artifacts.renderable import envelope
from artifacts.renderable.envelope import (
    CONTEXT_BYTES,
    ENVELOPE_BYTES,
    ENVELOPE_DEPTH,
    SCHEMA,
    UnfitEnvelope,
    normalise,
)
from audit import canonical
from tests.artifacts.envelopes import COLUMNS, Json, ferries, payload, referring

CONTRACTS = Path(envelope.__file__).parents[1] / "contracts"


def refused(candidate: Any, **options: Any) -> str:
    with pytest.raises(UnfitEnvelope) as raised:
        normalise(candidate, **options)
    return raised.value.message


def satisfies_schema(candidate: Any) -> bool:
    return Draft202012Validator(SCHEMA).is_valid(candidate)


def nested(levels: int) -> Any:
    value: Any = "x"
    for _ in range(levels):
        value = [value]
    return value


def table(columns: list[Json], rows: list[Json]) -> Json:
    return ferries(
        payload={"type": "harbour.departures", "data": {"columns": columns, "rows": rows}}
    )


@pytest.mark.req("REN-001", "REN-002", "REN-039")
def test_a_schema_and_the_rules_beyond_it_ship_with_artifacts() -> None:
    Draft202012Validator.check_schema(SCHEMA)
    assert SCHEMA["$schema"] == "https://json-schema.org/draft/2020-12/schema"
    assert (CONTRACTS / "renderable-artifact-v1.schema.json").is_file()
    assert set(SCHEMA["required"]) == set(SCHEMA["properties"]) == set(ferries())
    assert SCHEMA["additionalProperties"] is False

    readme = (CONTRACTS / "README.md").read_text(encoding="utf-8")
    for bound in (ENVELOPE_BYTES, CONTEXT_BYTES, ENVELOPE_DEPTH):
        assert f"{bound:,}" in readme
    assert SCHEMA["x-kamiwaza-canonical-bytes"] == ENVELOPE_BYTES
    assert SCHEMA["x-kamiwaza-json-depth"] == ENVELOPE_DEPTH
    context = SCHEMA["properties"]["provenance"]["properties"]["context"]
    assert context["x-kamiwaza-canonical-bytes"] == CONTEXT_BYTES


@pytest.mark.req("REN-002")
@pytest.mark.parametrize("part", sorted(ferries()))
def test_every_part_is_needed_and_no_other_is_taken(part: str) -> None:
    whole = ferries()
    assert json.loads(normalise(whole).text) == whole
    del whole[part]
    assert part in refused(whole)
    assert "keys that the contract does not know" in refused({**ferries(), "module": "x"})


@pytest.mark.req("REN-002")
def test_equal_envelopes_have_one_text() -> None:
    whole = ferries(security={"markings": [" INTERNAL"]})
    accepted = normalise(whole)
    assert normalise(accepted.value).text == accepted.text
    whole = ferries()
    shuffled = dict(random.sample(sorted(whole.items()), len(whole)))
    assert normalise(shuffled).text == normalise(whole).text == canonical.dump(whole)


@pytest.mark.req("REN-003")
@pytest.mark.parametrize(
    ("candidate", "said"),
    [
        (ferries(text_fallback=" x"), "text_fallback"),
        (ferries(security={"markings": ["A", "A "]}), "twice"),
        (table([COLUMNS[0], COLUMNS[0]], []), "key twice"),
        (table(COLUMNS, [{"pier": 3}]), "belongs to no column"),
        (table(COLUMNS, [{"cars": "many"}]), "not of its column's type"),
        (payload(nested(40)), "deeper than 32"),
        (ferries(download={"filename": "con.json"}), "reserved"),
        (payload({"api_key": "abc"}), "credential"),
    ],
)
def test_what_satisfies_the_schema_still_passes_the_normaliser(candidate: Any, said: str) -> None:
    assert satisfies_schema(candidate)
    assert said in refused(candidate)


@pytest.mark.req("REN-003")
@pytest.mark.parametrize(
    "candidate",
    [
        *(None, 1, "x", [ferries()]),
        {**ferries(), "schema_version": 2},
        {**ferries(), "schema_version": True},
        ferries(renderer={"type": "Table"}),
        ferries(renderer={"type": "table", "module": "harbour"}),
        ferries(renderer={"type": "../table"}),
        ferries(download={"filename": "../departures.json"}),
        ferries(download={"filename": "departures.html"}),
        ferries(download={"filename": ".departures.json"}),
        ferries(download={"filename": "departures.json\n"}),
        ferries(provenance={"cluster": "north", "dataset": "departures"}),
        {**ferries(), "payload": {"type": "x", "data": float("nan")}},
        {**ferries(), "payload": {"type": "x", "data": "half \ud800"}},
        {**ferries(), "payload": {"type": "x", "data": {1: "x"}}},
        {**ferries(), "payload": {"type": "x", "data": b"x"}},
    ],
    ids=repr,
)
def test_what_is_no_envelope_is_refused(candidate: Any) -> None:
    assert refused(candidate).startswith("The renderable envelope is not right: ")


@pytest.mark.req("REN-004")
def test_the_envelope_is_bounded_as_canonical_json() -> None:
    room = ENVELOPE_BYTES - len(normalise(payload("")).text.encode())
    largest = normalise(payload("ü" * (room // 2) + "x" * (room % 2)))
    assert len(largest.text.encode()) == ENVELOPE_BYTES
    assert "524,288 bytes" in refused(payload("ü" * (room // 2) + "x" * (room % 2 + 1)))
    # blanks and escapes of the notation do not count, nor do they help
    spaced = json.dumps(payload("x" * room), indent=200)
    assert len(spaced) > ENVELOPE_BYTES
    assert normalise(json.loads(spaced)).text == normalise(payload("x" * room)).text


@pytest.mark.req("REN-004")
def test_the_context_is_bounded() -> None:
    def within(length: int) -> Json:
        provenance = {**ferries()["provenance"], "context": {"q": "x" * length}}
        return ferries(provenance=provenance)

    overhead = len('{"q":""}')
    normalise(within(CONTEXT_BYTES - overhead))
    assert "16,384 bytes" in refused(within(CONTEXT_BYTES - overhead + 1))


@pytest.mark.req("REN-004")
def test_nesting_is_bounded() -> None:
    # the envelope and its payload are two levels
    assert normalise(payload(nested(ENVELOPE_DEPTH - 2)))
    assert "deeper than 32" in refused(payload(nested(ENVELOPE_DEPTH - 1)))
    bottomless = {**ferries(), "payload": {"type": "x", "data": nested(100_000)}}
    assert "deeper than 32" in refused(bottomless)


@pytest.mark.req("REN-005")
@pytest.mark.parametrize(
    "text", ["", " ", "\n\t", " x", "x\n", "\u00a0x", "x\u2003", "x\x07y", "a\u202eb"]
)
def test_required_text_is_neither_blank_nor_untrimmed_nor_hiding(text: str) -> None:
    provenance = ferries()["provenance"]
    for candidate in (
        ferries(text_fallback=text),
        *(ferries(provenance={**provenance, part: text}) for part in ("cluster", "dataset", "job")),
        ferries(security={"markings": {"banner": text}}),
        table([{"key": "ship", "label": text}], []),
        ferries(renderer={"type": text}),
        ferries(payload={"type": text, "data": 1}),
        ferries(download={"filename": text}),
    ):
        refused(candidate)
    assert normalise(ferries(text_fallback="two\n\tlines"))
    refused(ferries(provenance={**provenance, "job": "two\nlines"}))


@pytest.mark.req("REN-006")
@pytest.mark.parametrize(
    "name", ["", "Ship", "1st", "_ship", "on-time", "on time", "schiff\u00e4", "ship\n", "s" * 65]
)
def test_column_keys_and_portions_have_canonical_names(name: str) -> None:
    for fine in ("s", "on_time", "s" * 64, "day2"):
        assert normalise(table([{"key": fine, "label": "Fine"}], []))
        assert normalise(ferries(security={"markings": {fine: "INTERNAL"}}))
    refused(table([{"key": name, "label": "Ship"}], []))
    refused(ferries(security={"markings": {name: "INTERNAL"}}))
    assert "key twice" in refused(table([*COLUMNS, {"key": "ship", "label": "Other"}], []))


@pytest.mark.req("REN-007", "REN-011")
def test_markings_of_a_list_are_trimmed_before_they_are_compared() -> None:
    kept = normalise(ferries(security={"markings": [" INTERNAL ", "CREW\n"]}))
    assert kept.value["security"]["markings"] == ["INTERNAL", "CREW"]
    for markings in (["A", " A"], ["A", "A"], ["A", " "], [""], [], [1], [["A"]], "A", None, {}):
        refused(ferries(security={"markings": markings}))
    assert normalise(ferries(security={"markings": ["A", "a"]}))


@pytest.mark.req("REN-011")
def test_markings_of_a_map_stay_a_map() -> None:
    markings = {"rows": "CREW", "banner": "INTERNAL"}
    kept = normalise(ferries(security={"markings": markings}))
    assert kept.value["security"] == {"markings": markings}
    for wrong in ({"banner": 1}, {"banner": None}, {"banner": ["A"]}, {"banner": {"a": "A"}}):
        refused(ferries(security={"markings": wrong}))


@pytest.mark.req("REN-012")
@pytest.mark.parametrize("error", ["unknown label", "", None, False])
def test_a_result_that_could_not_be_marked_is_refused_and_never_marked_here(error: Any) -> None:
    for candidate in (
        ferries(security={"markings_error": error}),
        ferries(security={"markings": ["INTERNAL"], "markings_error": error}),
        {**ferries(), "markings_error": error},
    ):
        assert "markings_error" in refused(candidate)
    for unmarked in ({}, {"markings": []}, {"markings": None}):
        refused(ferries(security=unmarked))


@pytest.mark.req("REN-008")
def test_a_payload_has_a_type_and_either_data_or_a_reference() -> None:
    reference = referring()["payload"]["result_ref"]
    for wrong in (
        {"data": 1},
        {"type": "x"},
        {"type": "x", "data": 1, "result_ref": reference},
        {"type": "x", "data": None, "result_ref": reference},
        {"type": "x", "data": 1, "href": "y"},
    ):
        refused(ferries(renderer={"type": "harbour.map"}, payload=wrong))
    for data in (None, False, 0, "", [], {}):
        assert normalise(payload(data)).value["payload"]["data"] == data
    assert normalise(referring()).value["payload"]["result_ref"] == reference


@pytest.mark.req("REN-009")
@pytest.mark.parametrize(
    "change",
    [
        *({"id": text} for text in ("", " a", "https://example.test/r", "//example.test", "a/b")),
        *({"id": text} for text in ("data:text", "javascript:x", "a?b", "a#b", "../a", "a\n", 7)),
        *({"content_digest": "ab" * 32}, {"content_digest": f"sha256:{'AB' * 32}"}),
        *({"content_digest": f"sha256:{'ab' * 31}"}, {"content_digest": f"sha512:{'ab' * 32}"}),
        *({"content_digest": f"sha256:{'ab' * 32}\n"}, {"content_digest": None}),
        *({"version": wrong} for wrong in (0, -1, True, None, 1.5, "", "v/1", [1])),
        {"url": "x"},
    ],
    ids=repr,
)
def test_a_reference_is_opaque_and_bound_to_its_content(change: Json) -> None:
    refused(referring(**change))
    for fine in ({}, {"version": 3}, {"version": "2026-03"}, {"id": "a.b_c~d-9"}):
        assert normalise(referring(**fine)).value["payload"] == referring(**fine)["payload"]


@pytest.mark.req("REN-024")
@pytest.mark.parametrize(
    "leak",
    [
        {"note": "Authorization: Bearer abcdefghijklmnop1234"},
        {"note": "sk-proj-abcdefghijklmnopqrstuv"},
        {"deep": [{"deeper": ["https://ada:hunter2secret@example.test/x"]}]},
        {"eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.abc": 1},
        *({name: "x"} for name in ("api_key", "API-Key", "password", "Set-Cookie", "accessToken")),
        {"authorization": ["Basic", "x"]},
        {"apiKey": "x", "api_key": False},
        {"name": "Authorization", "value": "Basic x"},
        {"raw_response": "x"},
        {"status": 200, "headers": {"content-type": "text/html"}, "body": "x"},
        {"id": "x", "choices": [{"message": {"content": "x"}}], "usage": {"total_tokens": 1}},
        {"jsonrpc": "2.0", "id": 1, "result": {"content": []}},
        {"note": "kept-by-this-installation"},
    ],
    ids=repr,
)
def test_credentials_and_raw_answers_are_refused_not_blanked(leak: Json) -> None:
    secrets = ("kept-by-this-installation",)
    provenance = {**ferries()["provenance"], "context": leak}
    for candidate in (payload(leak), payload([[leak]]), ferries(provenance=provenance)):
        message = refused(candidate, secrets=secrets)
        assert "credential" in message or "unfiltered" in message
        assert not any(part in message for part in ("hunter2", "abcdefghijkl", "kept-by"))
    refused(ferries(text_fallback="Bearer abcdefghijklmnop1234"))
    refused(referring(id="sk-proj-abcdefghijklmnopqrstuv"))


@pytest.mark.req("REN-024")
@pytest.mark.parametrize(
    "fine",
    [
        {"tokens": 12, "password": False, "cookie": 3, "authorization": None},
        {"headers": "12", "status": "late"},
        {"note": "Say bearer of news, not more."},
        {"choices": "two", "model": "ferry"},
        {"name": "password", "value": 3},
    ],
)
def test_what_only_sounds_like_a_credential_is_kept(fine: Json) -> None:
    assert normalise(payload(fine)).value["payload"]["data"] == fine


@pytest.mark.req("REN-027")
def test_a_payload_version_is_a_whole_number_of_two_bytes() -> None:
    for given, kept in ((1, 1), (1.0, 1), (65_535, 65_535), (65_535.0, 65_535)):
        text = normalise(payload(1, version=given)).text
        assert f'"version":{kept}' in text
    for wrong in (0, 65_536, -1, 1.5, True, False, None, "1"):
        refused(payload(1, version=wrong))
    assert "version" not in normalise(payload(1)).value["payload"]


@pytest.mark.req("REN-003")
@pytest.mark.parametrize(
    ("of_type", "fine", "wrong"),
    [
        ("text", ["", "x", None], [1, True, [], {}]),
        ("number", [0, -1.5, 1e9, None], ["1", True, []]),
        ("boolean", [True, False, None], [0, 1, "true"]),
        (
            "date",
            ["2024-02-29", None],
            ["2023-02-29", "2024-2-9", "2024-02-29T00:00:00Z", 2024],
        ),
        (
            "datetime",
            ["2026-03-01T08:00:00Z", "2026-03-01T08:00:00.5+01:00", None],
            ["2026-03-01", "2026-03-01T08:00:00", "2026-03-01T25:00:00Z", "now"],
        ),
        (None, [1, "x", True, None], [[], {}, [1]]),
    ],
)
def test_cells_are_of_their_columns_type(of_type: str, fine: list[Any], wrong: list[Any]) -> None:
    column = {"key": "cell", "label": "Cell", **({"type": of_type} if of_type else {})}
    assert normalise(table([column], [{"cell": cell} for cell in fine]))
    for cell in wrong:
        assert "row 2" in refused(table([column], [{}, {"cell": cell}]))


def test_a_refusal_never_repeats_what_it_refuses() -> None:
    hidden = "otto-private-words"
    for candidate in (
        {**ferries(), hidden: 1},
        ferries(provenance={**ferries()["provenance"], hidden: 1}),
        ferries(renderer={"type": hidden.upper()}),
        ferries(security={"markings": {hidden: hidden}}),
        table(COLUMNS, [{hidden: 1}]),
        table(COLUMNS, [{"cars": hidden}]),
        payload({"password": hidden}),
    ):
        assert hidden not in refused(candidate).lower()
