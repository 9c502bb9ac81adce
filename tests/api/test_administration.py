"""Changing people in the administration: audited, and with an end to old sessions."""

from collections.abc import Callable

import pytest
from django.test import Client

from agents.definitions import versions
from agents.members import accounts, roles, throttling
from agents.members.models import Member
from audit.models import AuditEvent
from tests.conftest import PASSWORD

pytestmark = pytest.mark.django_db

NEW_PASSWORD = "a very different one 42"


def signed_in(member: Member, password: str = PASSWORD) -> Client:
    """A browser that signed in through the administration's own page."""
    browser = Client()
    answer = browser.post(
        "/admin/login/?next=/admin/", {"username": member.username, "password": password}
    )
    assert answer.status_code == 302, answer.content
    return browser


def form(member: Member, **changes: str) -> dict[str, str]:
    """The person form as it stands, with changes."""
    shown = {
        "display_name": member.display_name,
        "role": accounts.role_of(member) or "",
        "is_active": "on" if member.is_active else "",
        "password": "",
    }
    return {name: value for name, value in {**shown, **changes}.items() if value}


def change(browser: Client, member: Member, **changes: str) -> int:
    """Send the person form; the status of the answer."""
    path = f"/admin/members/member/{member.pk}/change/"
    return browser.post(path, form(member, **changes)).status_code


def audited(action: str, member: Member) -> int:
    """How many rows say that this was done to the person."""
    return AuditEvent.objects.filter(action=action, subject_id=str(member.pk)).count()


def test_a_person_is_added_with_a_role(ada: Member) -> None:
    answer = signed_in(ada).post(
        "/admin/members/member/add/",
        {
            "username": "dora",
            "display_name": "Dora",
            "role": "operator",
            "is_active": "on",
            "password": NEW_PASSWORD,
        },
    )
    assert answer.status_code == 302
    dora = Member.objects.get(username="dora")
    assert (accounts.role_of(dora), dora.is_staff, dora.is_superuser) == ("operator", True, False)
    assert signed_in(dora, NEW_PASSWORD).get("/admin/").status_code == 200
    row = AuditEvent.objects.get(action="member_changed", subject_id=str(dora.pk))
    assert row.actor == ada.principal


def test_a_new_role_is_the_only_one_and_audited(ada: Member, alice: Member) -> None:
    before = audited("member_changed", alice)
    assert change(signed_in(ada), alice, role="operator") == 302
    assert accounts.role_of(Member.objects.get(pk=alice.pk)) == "operator"
    assert audited("member_changed", alice) == before + 1


def test_a_new_password_ends_the_persons_sessions(ada: Member, otto: Member) -> None:
    browser = signed_in(otto)
    assert browser.get("/admin/").status_code == 200
    assert change(signed_in(ada), otto, password=NEW_PASSWORD) == 302
    assert browser.get("/admin/").status_code == 302
    assert signed_in(otto, NEW_PASSWORD).get("/admin/").status_code == 200
    assert audited("password_changed", otto) == 1


def test_ones_own_new_password_keeps_only_the_session_that_changed_it(ada: Member) -> None:
    here, elsewhere = signed_in(ada), signed_in(ada)
    old_key = here.session.session_key
    answer = here.post(
        "/admin/password_change/",
        {
            "old_password": PASSWORD,
            "new_password1": NEW_PASSWORD,
            "new_password2": NEW_PASSWORD,
        },
    )
    assert answer.status_code == 302
    assert here.get("/admin/").status_code == 200
    assert here.session.session_key != old_key
    assert elsewhere.get("/admin/").status_code == 302
    assert audited("password_changed", ada) == 1


def test_a_weak_password_is_refused(ada: Member, alice: Member) -> None:
    assert change(signed_in(ada), alice, password="password1") == 200
    assert Member.objects.get(pk=alice.pk).check_password(PASSWORD)


def test_a_person_switched_off_is_out_at_once(ada: Member, otto: Member) -> None:
    browser = signed_in(otto)
    assert change(signed_in(ada), otto, is_active="") == 302
    assert browser.get("/admin/").status_code == 302
    assert audited("member_changed", otto) == 2  # when made, and now


def test_nobody_takes_their_own_role_or_switches_themselves_off(ada: Member) -> None:
    browser = signed_in(ada)
    assert change(browser, ada, role="member") == 200
    assert change(browser, ada, is_active="") == 200
    assert accounts.is_administrator(Member.objects.get(pk=ada.pk))


def test_a_role_taken_away_closes_the_site_at_once(ada: Member, otto: Member) -> None:
    browser = signed_in(otto)
    otto.groups.clear()  # even while the flag still stands
    assert browser.get("/admin/").status_code == 302


def test_guessing_is_throttled_also_for_the_right_password(ada: Member) -> None:
    browser = Client()
    for _ in range(throttling.MAX_FAILURES):
        browser.post("/admin/login/", {"username": ada.username, "password": "wrong"})
    answer = browser.post("/admin/login/", {"username": ada.username, "password": PASSWORD})
    assert answer.status_code == 200
    assert browser.get("/admin/").status_code == 302
    assert AuditEvent.objects.filter(action="sign_in_failed", reason="rate_limited").count() == 1


def test_signing_in_gives_the_session_a_new_key(ada: Member) -> None:
    browser = Client()
    browser.get("/admin/login/")
    session = browser.session
    session["planted"] = True
    session.save()
    browser.cookies["sessionid"] = session.session_key
    browser.post("/admin/login/", {"username": ada.username, "password": PASSWORD})
    assert browser.session.session_key != session.session_key


def test_agents_and_versions_are_shown_and_their_text_is_escaped(
    ada: Member, alice: Member
) -> None:
    content = {"name": "Ferry", "persona": "<script>alert(1)</script>"}
    version = versions.create(actor=alice, content=content)
    browser = signed_in(ada)
    assert b"Ferry" in browser.get("/admin/definitions/agent/").content
    page = browser.get(f"/admin/definitions/agentversion/{version.id}/change/").content
    assert b"&lt;script&gt;alert(1)" in page
    assert b"<script>alert(1)" not in page


def test_groups_show_what_the_table_of_roles_says(ada: Member) -> None:
    browser = signed_in(ada)
    group = ada.groups.get()
    page = browser.get(f"/admin/auth/group/{group.pk}/change/").content.decode()
    assert all(permission in page for permission in roles.PERMISSIONS[roles.ADMINISTRATOR])


def test_no_page_needs_more_than_the_policy_allows(
    ada: Member, alice: Member, make_member: Callable[..., Member]
) -> None:
    browser = signed_in(ada)
    for path in (
        "/admin/",
        "/admin/members/member/",
        f"/admin/members/member/{alice.pk}/change/",
        "/admin/audit/auditevent/",
        "/admin/definitions/agent/",
        "/admin/gateway/deployment/add/",
    ):
        answer = browser.get(path)
        page = answer.content.decode()
        assert "script-src 'self'" in answer["Content-Security-Policy"], path
        for tag in page.split("<script")[1:]:
            opening, inside = tag.split(">", 1)
            assert (
                "src=" in opening
                or "application/json" in opening
                or not inside.split("</script", 1)[0].strip()
            ), path
        assert " onclick=" not in page, path
        assert "<style" not in page, path


@pytest.mark.parametrize(
    "path",
    [
        "/admin/audit/auditevent/?action=%00",
        "/admin/members/member/?username__exact=%00",
        "/admin/members/member/?q=a&username__exact=b%00",
    ],
)
def test_a_filter_that_no_column_takes_is_a_bad_request(ada: Member, path: str) -> None:
    assert signed_in(ada).get(path).status_code == 400
