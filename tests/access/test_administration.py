"""The administration: which role opens which page, and that nobody else comes in."""

import pytest
from django.contrib import admin
from django.test import Client

from agents.members.models import Member
from tests.access import entries, routes
from tests.access.conftest import Objects, Person

PAGES = [route for route in routes.administration_routes() if "<" not in route and "$" not in route]
OUTSIDE = {"admin/login/", "admin/logout/", "admin/jsi18n/"}


def status(person: Person, path: str) -> int:
    """What a GET of the page answers to a person."""
    assert person.session is not None
    return person.session.get(path).status_code


@pytest.mark.req("TST-003")
def test_every_model_shown_is_in_the_table() -> None:
    shown = {
        f"admin/{model._meta.app_label}/{model._meta.model_name}/" for model in admin.site._registry
    }
    assert shown == set(entries.ADMINISTRATION)


@pytest.mark.parametrize("route", [route for route in PAGES if route not in OUTSIDE])
def test_members_and_the_nameless_are_led_to_the_sign_in(
    route: str, everybody: dict[str, Person], committed_db: None
) -> None:
    for client in (everybody["owner"].session, everybody["inactive"].session, Client()):
        assert client is not None
        answer = client.get(f"/{route}")
        assert answer.status_code == 302
        assert answer["Location"].startswith("/admin/login/?next=")


@pytest.mark.parametrize(("route", "allowed"), entries.ADMINISTRATION.items())
def test_each_role_opens_its_pages(
    route: str, allowed: frozenset[str], everybody: dict[str, Person], committed_db: None
) -> None:
    opened = {
        role
        for role, who in (("administrator", "staff"), ("operator", "operator"))
        if status(everybody[who], f"/{route}") == 200
    }
    assert opened == allowed


def test_nothing_is_deleted_and_no_one_is_promoted_there(
    everybody: dict[str, Person], objects: Objects
) -> None:
    ada, alice = everybody["staff"], everybody["owner"].member
    assert ada.session is not None
    assert alice is not None
    for path in (
        f"/admin/members/member/{alice.pk}/delete/",
        f"/admin/definitions/agent/{objects.ids['agent_id']}/delete/",
        "/admin/definitions/agent/add/",
        "/admin/auth/group/add/",
        "/admin/audit/auditevent/add/",
    ):
        assert ada.session.post(path, {"post": "yes"}).status_code == 403, path
    form = {
        "username": "x",
        "display_name": "Alice",
        "role": "member",
        "is_active": "on",
        "password": "",
        "is_superuser": "on",
        "is_staff": "on",
        "user_permissions": "1",
    }
    assert ada.session.post(f"/admin/members/member/{alice.pk}/change/", form).status_code == 302
    now = Member.objects.get(pk=alice.pk)
    assert (now.is_superuser, now.is_staff, now.username) == (False, False, alice.username)
    assert not now.user_permissions.exists()


def test_an_operator_changes_nothing(everybody: dict[str, Person], committed_db: None) -> None:
    otto, alice = everybody["operator"], everybody["owner"].member
    assert otto.session is not None
    assert alice is not None
    for path in (
        f"/admin/members/member/{alice.pk}/change/",
        "/admin/members/member/add/",
        "/admin/gateway/deployment/add/",
        "/admin/gateway/modelrole/add/",
    ):
        assert otto.session.post(path, {}).status_code == 403, path
