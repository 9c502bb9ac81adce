"""Every route that names an object, against everybody, for every kind of id."""

import itertools
import uuid
from collections.abc import Callable
from typing import Any
from urllib.parse import urlencode

import pytest

from agents.api.operations import Door
from tests.access import entries, routes
from tests.access.conftest import Objects, Person, Seen
from tests.access.entries import Probe

MALFORMED_IDS = (
    "0",
    "x" * 300,
    "00000000000040008000000000000000",
    "AAAAAAAA-0000-4000-8000-000000000000",
    "%00",
    "..%2fadmin",
    "{id}",
    "%F0%9F%9A%A2",
)
MALFORMED_NUMBERS = ("0", "-1", "1.5", "x", "9" * 20, "%00")
WITHOUT_RIGHTS = ("stranger", "staff", "superuser")
WITHOUT_STANDING = ("anonymous", "inactive", "revoked")
NAMED = {**entries.REST, **entries.PAGES}
CALLS = [
    pytest.param(route, method, probe, id=f"{method} {route}")
    for route, methods in NAMED.items()
    for method, probe in methods.items()
]

READ_LISTS = [route for route, methods in entries.ONES_OWN.items() if "GET" in methods]


def rest(call: Any) -> bool:
    """Whether a call knocks at the REST door."""
    return call.values[0].startswith("api/")


def missing(ids: dict[str, str]) -> dict[str, str]:
    """The same with ids that nothing has."""
    return {name: str(uuid.uuid4()) if name.endswith("_id") else ids[name] for name in ids}


def malformed(route: str, ids: dict[str, str]) -> list[dict[str, str]]:
    """The same with each parameter in turn replaced by what cannot be one."""
    return [
        {**ids, slot: value}
        for slot in routes.slots(route)
        for value in (MALFORMED_IDS if slot.endswith("_id") else MALFORMED_NUMBERS)
    ]


@pytest.mark.req("TST-003")
def test_every_route_is_in_the_table() -> None:
    tables = [
        set(entries.REST),
        set(entries.PAGES),
        set(entries.ONES_OWN),
        set(entries.ADMINISTRATORS),
        set(entries.OPEN),
    ]
    assert set().union(*tables) == set(routes.http_routes())
    assert sum(map(len, tables)) == len(set().union(*tables)), "a route stands in two tables"
    assert tuple(routes.socket_routes()) == entries.SOCKETS


def test_every_route_that_takes_an_id_has_probes() -> None:
    with_ids = {route for route in routes.http_routes() if routes.slots(route)}
    assert with_ids - set(entries.OPEN) == set(NAMED)


def test_every_method_of_the_rest_door_has_a_probe() -> None:
    known = {route: set(methods) for route, methods in entries.REST.items()}
    known |= {route: set(methods) for route, methods in entries.ONES_OWN.items()}
    known |= {route: set(methods) for route, methods in entries.ADMINISTRATORS.items()}
    for route, pattern in routes.http_routes().items():
        view = getattr(pattern.callback, "cls", None)
        if isinstance(view, type) and issubclass(view, Door) and route not in entries.OPEN:
            taken = {name for name in ("GET", "POST", "PUT", "PATCH", "DELETE")}
            assert {name for name in taken if view.operation_of(name)} == known[route], route


@pytest.mark.req("REPO-003", "REPO-005")
@pytest.mark.parametrize(("route", "method", "probe"), CALLS)
def test_foreign_and_missing_objects_look_alike(
    route: str,
    method: str,
    probe: Probe,
    everybody: dict[str, Person],
    objects: Objects,
    ask: Callable[..., Seen],
) -> None:
    answers = {
        ask(everybody[who], route, method, probe, ids)
        for who in WITHOUT_RIGHTS
        for ids in (objects.ids, missing(objects.ids))
    }
    assert {answer.status for answer in answers} == {404}
    assert len(answers) == 1


@pytest.mark.parametrize(("route", "method", "probe"), CALLS)
def test_ids_that_cannot_be_look_missing(
    route: str,
    method: str,
    probe: Probe,
    everybody: dict[str, Person],
    objects: Objects,
    ask: Callable[..., Seen],
) -> None:
    owner = everybody["owner"]
    known = ask(owner, route, method, probe, missing(objects.ids))
    for ids in malformed(route, objects.ids):
        answer = ask(owner, route, method, probe, ids)
        assert answer.status == 404, ids
        if route.startswith("api/"):
            assert answer == known, ids


@pytest.mark.parametrize(("route", "method", "probe"), CALLS)
def test_whoever_has_no_standing_learns_nothing(
    route: str,
    method: str,
    probe: Probe,
    everybody: dict[str, Person],
    objects: Objects,
    ask: Callable[..., Seen],
) -> None:
    kinds = [objects.ids, missing(objects.ids)]
    if route.startswith("api/"):
        # A slash in an id makes another address, which is unknown to anybody.
        kinds += [ids for ids in malformed(route, objects.ids) if "%2f" not in str(ids)]
        answers = {
            ask(everybody[who], route, method, probe, ids)
            for who, ids in itertools.product(WITHOUT_STANDING, kinds)
        }
        assert {answer.status for answer in answers} == {401}
        assert len(answers) == 1
        return
    for who, ids in itertools.product(("anonymous", "inactive"), kinds):
        answer = ask(everybody[who], route, method, probe, ids)
        headers = dict(answer.headers)
        if answer.status == 302:  # to the sign-in page, and back to the same address
            path = routes.filled(route, ids) + probe.query
            assert headers["Location"] == f"/sign-in?{urlencode({'next': path}, safe='/')}"
            assert answer.body == b""
        else:
            assert answer.status == 401


@pytest.mark.parametrize(("route", "method", "probe"), CALLS)
def test_the_owner_gets_through(
    route: str,
    method: str,
    probe: Probe,
    everybody: dict[str, Person],
    objects: Objects,
    ask: Callable[..., Seen],
) -> None:
    assert ask(everybody["owner"], route, method, probe, objects.ids).status == probe.status


@pytest.mark.parametrize(
    ("route", "method", "probe"),
    [call for call in CALLS if rest(call) and "agent_id" in call.values[0]],
)
def test_a_share_to_use_opens_no_writing_and_no_definition(
    route: str,
    method: str,
    probe: Probe,
    everybody: dict[str, Person],
    objects: Objects,
    ask: Callable[..., Seen],
) -> None:
    answer = ask(everybody["reader"], route, method, probe, objects.ids)
    reads = (route, method) == ("api/agents/<id:agent_id>", "GET")
    assert answer.status == (200 if reads else 403)
    assert b"persona" not in answer.body


@pytest.mark.parametrize(
    ("route", "method", "probe"),
    [call for call in CALLS if rest(call) and "artifact_id" in call.values[0]],
)
def test_a_share_to_read_opens_reading(
    route: str,
    method: str,
    probe: Probe,
    everybody: dict[str, Person],
    objects: Objects,
    ask: Callable[..., Seen],
) -> None:
    answer = ask(everybody["reader"], route, method, probe, objects.ids)
    assert answer.status == (probe.status if method == "GET" else 403)


@pytest.mark.req("REPO-005")
@pytest.mark.parametrize("route", READ_LISTS)
def test_lists_hold_nothing_of_others_and_turn_the_nameless_away(
    route: str, everybody: dict[str, Person], objects: Objects, ask: Callable[..., Seen]
) -> None:
    rest_door = route.startswith("api/")
    query = "?q=Al" if route == "api/people" else ""
    probe = Probe(200, accept="application/json" if rest_door else "text/html", query=query)
    for who in WITHOUT_RIGHTS:
        answer = ask(everybody[who], route, "GET", probe, {})
        assert answer.status == 200
        assert not any(text in answer.body for text in objects.texts), who
    for who in WITHOUT_STANDING if rest_door else ("anonymous", "inactive"):
        assert ask(everybody[who], route, "GET", probe, {}).status == (401 if rest_door else 302)


@pytest.mark.parametrize(("route", "methods"), entries.ADMINISTRATORS.items())
def test_what_is_for_administrators_looks_missing_to_others(
    route: str,
    methods: frozenset[str],
    everybody: dict[str, Person],
    committed_db: None,
    ask: Callable[..., Seen],
) -> None:
    for method in methods:
        probe = Probe(404, {"deployment_id": str(uuid.uuid4())} if method == "PUT" else None)
        unknown = ask(everybody["stranger"], "api/nothing", "GET", probe, {})
        for who in ("stranger", "operator", "superuser"):
            assert ask(everybody[who], route, method, probe, {}) == unknown, who
        for who in WITHOUT_STANDING:
            assert ask(everybody[who], route, method, probe, {}).status == 401, who
        allowed = ask(everybody["staff"], route, method, probe, {})
        assert allowed.status == (200 if method == "GET" else 422)
