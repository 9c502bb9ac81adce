"""Bundled agents: source is their only author."""

from dataclasses import replace
from pathlib import Path

import pytest
from django.core.management import call_command
from guardian.shortcuts import assign_perm

from agents.definitions import bundling, versions
from agents.definitions.bundling import Bundle
from agents.definitions.models import Agent, AgentVersion
from agents.members.models import Member
from audit.models import AuditEvent
from audit.refusals import Invalid, NotFound

pytestmark = pytest.mark.django_db

CONTENT = {"name": "Guide", "persona": "You guide."}


@pytest.fixture
def bundle() -> Bundle:
    return bundling.shipped()[0]


def test_the_default_agent_ships_and_its_id_follows_from_its_name(bundle: Bundle) -> None:
    assert bundle.slug == "default"
    assert bundling.default_agent_id() == bundle.agent_id == Bundle("default", {}).agent_id


def test_reconciling_twice_changes_nothing_the_second_time(bundle: Bundle) -> None:
    bundling.reconcile(bundle)
    before = Agent.objects.filter(id=bundle.agent_id).values().get()
    events = AuditEvent.objects.count()
    assert bundling.reconcile(bundle) is False
    assert Agent.objects.filter(id=bundle.agent_id).values().get() == before
    assert AuditEvent.objects.count() == events


def test_a_change_in_source_appends_one_version(bundle: Bundle) -> None:
    bundling.reconcile(bundle)
    head = Agent.objects.get(id=bundle.agent_id).head
    changed = replace(bundle, content={**bundle.content, "persona": "Another voice."})
    assert bundling.reconcile(changed) is True
    agent = Agent.objects.get(id=bundle.agent_id)
    assert agent.head == head + 1
    assert versions.newest(agent).content["persona"] == "Another voice."
    assert AgentVersion.objects.filter(agent=agent).count() == head + 1


def test_a_bundle_is_for_everyone_and_belongs_to_nobody(bundle: Bundle, charlie: Member) -> None:
    bundling.reconcile(bundle)
    agent = Agent.objects.visible_to(charlie).get(id=bundle.agent_id)
    assert (agent.owner, agent.owner_principal) == (None, "bundle:default")
    assert (agent.protected, agent.audience) == (True, "everyone")


def test_nobody_changes_a_bundle_not_even_with_a_share(bundle: Bundle, ada: Member) -> None:
    bundling.reconcile(bundle)
    agent = Agent.objects.get(id=bundle.agent_id)
    Member.objects.filter(pk=ada.pk).update(is_superuser=True)
    ada.refresh_from_db()
    assign_perm("definitions.edit_agent", ada, agent)
    with pytest.raises(NotFound):
        versions.append(actor=ada, agent_id=agent.id, content=CONTENT, expected_version=agent.head)
    with pytest.raises(NotFound):
        versions.delete(actor=ada, agent_id=agent.id)
    agent.refresh_from_db()
    assert agent.deleted_at is None
    assert agent.name == bundle.content["name"]


def test_a_retired_bundle_comes_back(bundle: Bundle) -> None:
    bundling.reconcile(bundle)
    Agent.objects.filter(id=bundle.agent_id).update(deleted_at="2026-01-01T00:00:00Z")
    assert bundling.reconcile(bundle) is True
    assert Agent.objects.get(id=bundle.agent_id).deleted_at is None


def test_the_command_says_what_it_did(capsys: pytest.CaptureFixture[str]) -> None:
    call_command("reconcile_bundles")
    capsys.readouterr()
    call_command("reconcile_bundles")
    assert "default: unchanged" in capsys.readouterr().out


@pytest.mark.parametrize(
    "text",
    [
        'slug = "bad"\nname = "Bad"\npersona = "x"\ntemperature = 1\n',
        'slug = "bad"\nname = ""\npersona = "x"\n',
    ],
)
def test_a_bad_bundle_stops_the_start(tmp_path: Path, text: str) -> None:
    (tmp_path / "bad.toml").write_text(text)
    with pytest.raises(Invalid):
        bundling.shipped(tmp_path)
