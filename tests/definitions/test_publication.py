"""Who sees a shipped agent is an administrator's decision, which no start overturns."""

import pytest
from django.contrib import admin
from django.test import Client
from django.urls import reverse

from agents.definitions import bundling, publication, versions
from agents.definitions.bundling import Bundle
from agents.definitions.models import Agent
from agents.members.models import Member
from audit.models import AuditEvent
from audit.reasons import Reason
from audit.refusals import NotFound, Refusal

pytestmark = pytest.mark.django_db

SHIPPED = {bundle.slug: bundle for bundle in bundling.shipped()}
LIST = "admin:definitions_agent_changelist"


@pytest.fixture
def builder() -> Bundle:
    """A shipped agent that nobody has published yet."""
    bundling.reconcile_all(SHIPPED.values())
    return SHIPPED["agent-builder"]


def usable(bundle: Bundle, member: Member) -> bool:
    return bool(Agent.objects.usable_by(member).filter(id=bundle.agent_id).exists())


def chosen(client: Client, action: str, bundle: Bundle) -> int:
    """The status of the administration's answer to an action on one agent."""
    form = {"action": action, "_selected_action": [str(bundle.agent_id)]}
    return client.post(reverse(LIST), form).status_code


@pytest.mark.req("BUN-005")
def test_a_new_installation_shows_only_the_agent_that_answers_everybody(
    builder: Bundle, alice: Member, ada: Member
) -> None:
    published = {slug for slug, bundle in SHIPPED.items() if bundle.published}
    assert published == {"default"}
    for member in (alice, ada):
        assert {slug for slug, bundle in SHIPPED.items() if usable(bundle, member)} == published


@pytest.mark.req("BUN-005")
def test_an_administrator_publishes_and_no_start_takes_it_back(
    builder: Bundle, alice: Member, ada: Member
) -> None:
    assert publication.publish(actor=ada, agent_id=builder.agent_id) is True
    assert publication.publish(actor=ada, agent_id=builder.agent_id) is False
    bundling.reconcile_all(SHIPPED.values())
    assert usable(builder, alice)


@pytest.mark.req("BUN-005")
def test_an_administrator_withdraws_and_no_start_publishes_again(
    builder: Bundle, alice: Member, ada: Member
) -> None:
    default = SHIPPED["default"]
    publication.withdraw(actor=ada, agent_id=default.agent_id)
    bundling.reconcile_all(SHIPPED.values())
    newer = Bundle("default", {**default.content, "persona": "Another voice."}, published=True)
    bundling.reconcile(newer)
    assert not usable(default, alice)


@pytest.mark.parametrize("who", ["alice", "otto"])
def test_nobody_else_decides(builder: Bundle, who: str, request: pytest.FixtureRequest) -> None:
    member = request.getfixturevalue(who)
    for decide in (publication.publish, publication.withdraw):
        with pytest.raises(Refusal) as refused:
            decide(actor=member, agent_id=builder.agent_id)
        assert refused.value.reason == Reason.FORBIDDEN
    assert not usable(builder, member)


def test_a_superuser_without_the_role_does_not_decide(builder: Bundle, alice: Member) -> None:
    Member.objects.filter(pk=alice.pk).update(is_superuser=True, is_staff=True)
    alice.refresh_from_db()
    with pytest.raises(Refusal):
        publication.publish(actor=alice, agent_id=builder.agent_id)


def test_a_deleted_agent_is_not_opened(alice: Member, ada: Member) -> None:
    made = versions.create(actor=alice, content={"name": "Guide", "persona": "You guide."})
    versions.delete(actor=alice, agent_id=made.agent_id)
    with pytest.raises(NotFound):
        publication.publish(actor=ada, agent_id=made.agent_id)


def test_the_administration_offers_both_and_records_who_did_it(
    builder: Bundle, alice: Member, ada: Member, client: Client
) -> None:
    client.force_login(ada)
    assert "Open to everyone" in client.get(reverse(LIST)).content.decode()
    assert chosen(client, "publish", builder) == 302
    assert usable(builder, alice)
    assert chosen(client, "withdraw", builder) == 302
    assert not usable(builder, alice)
    decided = AuditEvent.objects.filter(subject_id=str(builder.agent_id), actor=ada.principal)
    assert list(decided.order_by("at", "sequence").values_list("action", "details")) == [
        ("agent_shared", {"audience": "everyone"}),
        ("agent_unshared", {"audience": "private"}),
    ]


def test_the_administration_keeps_operators_and_members_out(
    builder: Bundle, alice: Member, otto: Member, client: Client
) -> None:
    for member in (alice, otto):
        client.force_login(member)
        assert chosen(client, "publish", builder) in {302, 403}
        assert not usable(builder, alice)


def test_nothing_else_about_an_agent_changes_in_the_administration() -> None:
    shown = admin.site._registry[Agent]
    assert list(shown.actions or ()) == ["publish", "withdraw"]
    assert not shown.has_change_permission(None)  # type: ignore[arg-type]  # asks nothing of it
