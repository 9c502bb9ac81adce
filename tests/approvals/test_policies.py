"""What administrators decide about families of tools."""

from typing import Any

import pytest
from django.test import Client

from agents.members.models import Member
from audit.models import AuditEvent
from tools.boundary import policies
from tools.boundary.models import FamilyPolicy, PolicyMode

pytestmark = pytest.mark.django_db

PAGE = "/admin/boundary/familypolicy/"
BACKEND = "agents.members.backends.ThrottledModelBackend"


@pytest.fixture
def opened(client: Client) -> Any:
    """The page as a person sees it."""

    def open_as(person: Member) -> Client:
        client.force_login(person, BACKEND)
        return client

    return open_as


def form(**modes: str) -> dict[str, str]:
    """What the page sends when these families were changed."""
    sent = {}
    for line in policies.lines():
        sent[f"shown-{line.family}"] = sent[f"mode-{line.family}"] = str(line.mode)
    return sent | {f"mode-{family}": mode for family, mode in modes.items()}


def recorded() -> list[tuple[str, str, Any]]:
    rows = AuditEvent.objects.filter(action="tool_policy_changed")
    return list(rows.values_list("actor", "subject_id", "details"))


def test_a_family_is_on_until_somebody_decides() -> None:
    assert {line.mode for line in policies.lines()} == {PolicyMode.ON}
    assert policies.mode_of("artifacts") is PolicyMode.ON
    assert policies.switched_off() == frozenset()


def test_an_administrator_decides_and_it_is_recorded_once(opened: Any, ada: Member) -> None:
    page = opened(ada)
    shown = page.get(PAGE).content.decode()
    for family in policies.families():
        assert f'name="mode-{family}"' in shown
    assert page.post(PAGE, form(artifacts="approval")).status_code == 302
    assert policies.mode_of("artifacts") is PolicyMode.APPROVAL
    assert recorded() == [(ada.principal, "artifacts", {"mode": "approval"})]
    page.post(PAGE, form())  # saved again without a change
    assert len(recorded()) == 1


def test_a_page_that_is_old_changes_only_what_its_reader_changed(opened: Any, ada: Member) -> None:
    old = form(baseline="approval")
    policies.decide(actor="system:tests", family="artifacts", mode=PolicyMode.OFF)
    opened(ada).post(PAGE, old)
    assert policies.mode_of("artifacts") is PolicyMode.OFF
    assert policies.mode_of("baseline") is PolicyMode.APPROVAL
    assert policies.switched_off() == {"artifacts"}


@pytest.mark.parametrize(
    "sent", [{"mode-artifacts": "sometimes"}, {"mode-nothing": "off"}, {}, {"mode-artifacts": ""}]
)
def test_nonsense_changes_nothing(sent: dict[str, str], opened: Any, ada: Member) -> None:
    assert opened(ada).post(PAGE, sent).status_code == 302
    assert not FamilyPolicy.objects.exists()


def test_an_operator_looks_and_a_member_does_not(opened: Any, otto: Member, alice: Member) -> None:
    page = opened(otto)
    assert "disabled" in page.get(PAGE).content.decode()
    assert page.post(PAGE, form(artifacts="off")).status_code == 403
    assert opened(alice).get(PAGE).status_code == 302
    assert not FamilyPolicy.objects.exists()


def test_an_unknown_family_cannot_be_decided_about() -> None:
    with pytest.raises(ValueError, match="no family"):
        policies.decide(actor="system:tests", family="nothing", mode=PolicyMode.OFF)
