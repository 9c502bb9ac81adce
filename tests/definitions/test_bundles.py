"""Bundled agents: source is their only author, administrators decide who sees them."""

import threading
from dataclasses import replace
from pathlib import Path

import pytest
from django.core.management import call_command
from django.db import connection
from guardian.shortcuts import assign_perm

from agents.definitions import bundling, publication, versions
from agents.definitions.bundling import Bundle, Outcome
from agents.definitions.models import Agent, AgentVersion
from agents.members.models import Member
from audit.models import AuditEvent
from audit.refusals import Invalid, Refusal

CONTENT = {"name": "Guide", "persona": "You guide."}
SHIPPED = {bundle.slug: bundle for bundle in bundling.shipped()}


@pytest.fixture
def bundle(db: None) -> Bundle:
    return SHIPPED["default"]


def row(bundle: Bundle) -> Agent:
    found: Agent = Agent.objects.get(id=bundle.agent_id)
    return found


def test_the_shipped_agents_and_their_ids_follow_from_source() -> None:
    assert {"default", "agent-builder", "package-creator"} <= set(SHIPPED)
    assert bundling.default_agent_id() == Bundle("default", {}).agent_id
    assert len({bundle.agent_id for bundle in SHIPPED.values()}) == len(SHIPPED)


def test_reconciling_twice_changes_nothing_the_second_time(bundle: Bundle) -> None:
    bundling.reconcile_all(SHIPPED.values())
    before = list(Agent.objects.order_by("id").values())
    events = AuditEvent.objects.count()
    again = bundling.reconcile_all(SHIPPED.values())
    assert set(again.values()) == {Outcome.UNCHANGED}
    assert list(Agent.objects.order_by("id").values()) == before
    assert AuditEvent.objects.count() == events


def test_a_change_in_source_appends_one_version(bundle: Bundle) -> None:
    bundling.reconcile(bundle)
    head = row(bundle).head
    changed = replace(bundle, content={**bundle.content, "persona": "Another voice."})
    assert bundling.brought(changed) is Outcome.UPDATED
    agent = row(bundle)
    assert agent.head == head + 1
    assert versions.newest(agent).content["persona"] == "Another voice."
    assert AgentVersion.objects.filter(agent=agent).count() == head + 1


@pytest.mark.req("BUN-002")
@pytest.mark.parametrize("slug", SHIPPED)
def test_a_bundle_is_protected_and_belongs_to_nobody_who_signs_in(
    slug: str, db: None, alice: Member, ada: Member
) -> None:
    bundling.reconcile(SHIPPED[slug])
    agent = row(SHIPPED[slug])
    assert (agent.owner, agent.owner_principal) == (None, f"bundle:{slug}")
    assert agent.protected
    named_so = Member.objects.create(username=f"bundle:{slug}"[:150])
    for member in (alice, ada, named_so):
        assert member.principal != agent.owner_principal
        assert not Agent.objects.owned_by(member).filter(id=agent.id).exists()


@pytest.mark.req("BUN-004")
@pytest.mark.parametrize("slug", SHIPPED)
def test_nobody_changes_a_bundle_not_even_with_a_share(slug: str, db: None, ada: Member) -> None:
    bundling.reconcile(SHIPPED[slug])
    agent = row(SHIPPED[slug])
    Member.objects.filter(pk=ada.pk).update(is_superuser=True)
    ada.refresh_from_db()
    assign_perm("definitions.edit_agent", ada, agent)
    with pytest.raises(Refusal):
        versions.append(actor=ada, agent_id=agent.id, content=CONTENT, expected_version=agent.head)
    with pytest.raises(Refusal):
        versions.delete(actor=ada, agent_id=agent.id)
    agent.refresh_from_db()
    assert (agent.deleted_at, agent.head) == (None, 1)
    assert agent.name == SHIPPED[slug].content["name"]


@pytest.mark.req("BUN-003")
@pytest.mark.parametrize("slug", SHIPPED)
def test_whoever_may_use_a_bundle_reads_what_it_is_composed_of(
    slug: str, db: None, alice: Member, ada: Member
) -> None:
    bundling.reconcile(SHIPPED[slug])
    publication.publish(actor=ada, agent_id=SHIPPED[slug].agent_id)
    readable = Agent.objects.readable_by(alice).get(id=SHIPPED[slug].agent_id)
    content = versions.newest(readable).content
    assert content["posture"]["tools"] == ["artifacts"]
    assert (content["granted_package_ids"], content["collection_ids"]) == ([], [])


@pytest.mark.parametrize("slug", SHIPPED)
def test_a_bundle_appears_on_the_surface_of_its_mode_alone(
    slug: str, db: None, alice: Member, ada: Member
) -> None:
    bundling.reconcile(SHIPPED[slug])
    publication.publish(actor=ada, agent_id=SHIPPED[slug].agent_id)
    modes = Agent.objects.usable_by(alice).filter(id=SHIPPED[slug].agent_id).values_list("mode")
    assert list(modes) == [(SHIPPED[slug].content["mode"],)]


@pytest.mark.parametrize("slug", SHIPPED)
def test_every_tool_a_bundle_asks_for_is_needed_and_allowed_by_its_ceiling(slug: str) -> None:
    content = SHIPPED[slug].content
    assert set(content["posture"]) == {"tools"}
    assert content["posture"]["tools"] == ["artifacts"]  # its persona speaks of drafts to keep
    assert content["capability_ceiling"] == "write"  # which saving an artifact needs, no more


def test_a_bundle_that_source_no_longer_has_is_retired_and_keeps_its_history(
    bundle: Bundle, alice: Member
) -> None:
    other = replace(bundle, slug="other")
    bundling.reconcile_all([bundle, other])
    assert bundling.reconcile_all([bundle]) == {
        "default": Outcome.UNCHANGED,
        "other": Outcome.RETIRED,
    }
    assert not Agent.objects.usable_by(alice).filter(id=other.agent_id).exists()
    assert AgentVersion.objects.filter(agent_id=other.agent_id).count() == 1
    assert bundling.reconcile_all([bundle]) == {"default": Outcome.UNCHANGED}


def test_retiring_touches_nobody_elses_agent(bundle: Bundle, alice: Member) -> None:
    made = versions.create(actor=alice, content=CONTENT)
    bundling.reconcile_all([])
    assert Agent.objects.owned_by(alice).filter(id=made.agent_id).exists()


def test_a_retired_bundle_comes_back_as_it_was(bundle: Bundle) -> None:
    bundling.reconcile(bundle)
    bundling.reconcile_all([])
    assert bundling.brought(bundle) is Outcome.RESTORED
    agent = row(bundle)
    assert (agent.deleted_at, agent.head, agent.audience) == (None, 1, "everyone")


def test_the_command_says_what_it_did(db: None, capsys: pytest.CaptureFixture[str]) -> None:
    call_command("reconcile_bundles")
    assert "agent-builder: created" in capsys.readouterr().out
    call_command("reconcile_bundles")
    assert "default: unchanged" in capsys.readouterr().out


def test_two_that_reconcile_at_once_make_each_row_once(committed_db: None) -> None:
    fresh = [
        replace(bundle, slug=f"at-once-{bundle.slug}") for bundle in SHIPPED.values()
    ]  # rows that no other test has made
    start, outcomes = threading.Barrier(2), list[list[Outcome]]()

    def reconcile() -> None:
        start.wait()
        outcomes.append([bundling.brought(bundle) for bundle in fresh])
        connection.close()

    threads = [threading.Thread(target=reconcile) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    pairs = [sorted(pair) for pair in zip(*outcomes, strict=True)]
    assert pairs == [[Outcome.CREATED, Outcome.UNCHANGED]] * len(fresh)
    bundling.reconcile_all(SHIPPED.values())  # and leave none of them to other tests


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
