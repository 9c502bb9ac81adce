"""Ids in bodies and queries, and children under the wrong parent: side doors to the same rooms."""

import uuid
from collections.abc import Callable

import pytest

from agents.conversations.models import Input
from agents.definitions import versions
from tests.access.conftest import Objects, Person, Seen
from tests.access.entries import Probe
from tests.owned import CONTENT

REST = "api/conversations/<id:conversation_id>"


def test_an_agent_of_somebody_else_cannot_be_told_from_none(
    everybody: dict[str, Person], objects: Objects, ask: Callable[..., Seen]
) -> None:
    charlie = everybody["stranger"]
    mine = ask(charlie, "api/conversations", "POST", Probe(201), {})
    ids = {"conversation_id": mine.body.decode()[7:43]}
    answers = {
        ask(
            charlie,
            f"{REST}/inputs",
            "POST",
            Probe(422, {"kind": "message", "message": "x", "agent": agent}),
            ids,
        )
        for agent in (objects.ids["agent_id"], str(uuid.uuid4()), "Nobody of that name")
    }
    assert len(answers) == 1
    assert answers.pop().status == 422


def test_a_turn_of_somebody_else_cannot_be_told_from_none(
    everybody: dict[str, Person], objects: Objects, ask: Callable[..., Seen]
) -> None:
    charlie = everybody["stranger"]
    mine = ask(charlie, "api/conversations", "POST", Probe(201), {})
    ids = {"conversation_id": mine.body.decode()[7:43]}
    inputs = Input.objects.filter(conversation_id=objects.ids["conversation_id"])
    foreign = inputs.earliest("accepted_position").run_id
    answers = {
        ask(
            charlie,
            f"{REST}/steer",
            "POST",
            Probe(409, {"message": "x", "turn_id": str(turn_id)}),
            ids,
        )
        for turn_id in (foreign, uuid.uuid4())
    }
    assert len(answers) == 1
    assert answers.pop().status == 409


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("inputs", {"kind": "message", "message": "x", "replaces": ""}),
        ("branch", {"input_id": ""}),
    ],
)
def test_an_input_of_somebody_else_cannot_be_told_from_none(
    everybody: dict[str, Person],
    objects: Objects,
    ask: Callable[..., Seen],
    path: str,
    body: dict[str, str],
) -> None:
    charlie = everybody["stranger"]
    mine = ask(charlie, "api/conversations", "POST", Probe(201), {})
    ids = {"conversation_id": mine.body.decode()[7:43]}
    answers = {
        ask(
            charlie,
            f"{REST}/{path}",
            "POST",
            Probe(422, {name: value or str(input_id) for name, value in body.items()}),
            ids,
        )
        for input_id in (objects.ids["input_id"], uuid.uuid4())
    }
    assert len(answers) == 1
    assert answers.pop().status == 422


@pytest.mark.parametrize(
    ("route", "name"),
    [
        ("api/conversations?agent=<id:agent_id>", "agent_id"),
        ("api/artifacts?conversation_id=<id:conversation_id>", "conversation_id"),
    ],
)
def test_a_filter_by_a_foreign_id_finds_nothing(
    route: str,
    name: str,
    everybody: dict[str, Person],
    objects: Objects,
    ask: Callable[..., Seen],
) -> None:
    answers = {
        ask(everybody["stranger"], route, "GET", Probe(200), {name: wanted})
        for wanted in (objects.ids[name], str(uuid.uuid4()))
    }
    assert {answer.body for answer in answers} == {b'{"items":[],"next":null}'}
    owned = ask(everybody["owner"], route, "GET", Probe(200), objects.ids)
    assert len(owned.body) > 100


@pytest.mark.parametrize(
    "route",
    [
        "api/agents/<id:agent_id>/versions/<number:number>",
        "api/agents/<id:agent_id>/versions/<number:number>/diff/<number:other>",
        "api/agents/<id:agent_id>/versions/<number:other>/diff/<number:number>",
        "api/artifacts/<id:artifact_id>/versions/<number:number>",
        "api/artifacts/<id:artifact_id>/versions/<number:number>/diff/<number:other>",
        "api/artifacts/<id:artifact_id>/versions/<number:other>/diff/<number:number>",
    ],
)
def test_a_child_of_another_parent_is_missing(
    route: str, everybody: dict[str, Person], objects: Objects, ask: Callable[..., Seen]
) -> None:
    alice = everybody["owner"]
    content = {**CONTENT, "name": f"Bus {uuid.uuid4()}"}
    other = versions.create(actor=alice.member, content=content).agent_id
    versions.append(actor=alice.member, agent_id=other, content=content, expected_version=1)
    answer = ask(alice, route, "GET", Probe(404), {**objects.ids, "number": "2"})
    unknown = ask(alice, "api/nothing", "GET", Probe(404), {})
    assert answer == unknown
