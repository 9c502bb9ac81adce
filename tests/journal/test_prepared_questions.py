"""A question compiled once answers as its queryset does, for every value."""

from uuid import uuid4

import pytest
from django.db import DataError, transaction
from guardian.shortcuts import assign_perm

from agents.definitions import usable, versions
from agents.definitions.models import Agent
from agents.journal.prepared import Change, Person, Prepared, instances, together
from agents.members.models import Member

pytestmark = pytest.mark.django_db
CONTENT = {"name": "Reader", "persona": "You read."}


def test_it_answers_each_person_as_the_queryset_does(
    alice: Member, bob: Member, charlie: Member
) -> None:
    version = versions.create(actor=alice, content=CONTENT)
    assign_perm("definitions.use_agent", bob, Agent.objects.get(id=version.agent_id))
    for person in (alice, bob, charlie):
        expected = Agent.objects.usable_by(person).filter(id=version.agent_id).first()
        assert usable.by_id(person, version.agent_id) == expected
    assert usable.newest_version(bob, version.agent_id) == version
    assert usable.newest_version(charlie, version.agent_id) is None


def test_it_loads_whole_instances(alice: Member) -> None:
    version = versions.create(actor=alice, content=CONTENT)
    found = usable.newest_version(alice, version.agent_id)
    assert found is not None
    assert (found.content, found.digest, found.number) == (version.content, version.digest, 1)
    assert found.get_deferred_fields() == set()


def test_somebody_inactive_is_answered_nothing(alice: Member) -> None:
    version = versions.create(actor=alice, content=CONTENT)
    assert usable.by_id(Person(alice.pk, is_active=False), version.agent_id) is None
    assert usable.by_id(Person(alice.pk), version.agent_id) is not None


def test_a_value_that_the_question_would_ignore_is_an_error() -> None:
    def compose(marks):  # type: ignore[no-untyped-def]  # a broken question on purpose
        marks.uuid("agent")
        return Agent.objects.filter(owner_id=marks.integer("owner"))

    with pytest.raises(ValueError, match="agent"):
        instances(Agent, compose).first(owner=1, agent=uuid4())


def test_a_change_made_together_with_others_is_theirs_or_nobodys(alice: Member) -> None:
    rename = Change(
        lambda marks: (
            Member.objects.filter(id=marks.integer("id")),
            {"display_name": marks.text("name")},
        )
    )
    rename.make(id=alice.pk, name="Alice A.")
    alice.refresh_from_db()
    assert alice.display_name == "Alice A."
    with pytest.raises(DataError), transaction.atomic(), together():
        # The fault of the second is seen when the answers are.
        [rename.make(id=alice.pk, name=name) for name in ("Somebody else", "x" * 10_000)]
    alice.refresh_from_db()
    assert alice.display_name == "Alice A."


def test_questions_asked_together_are_answered_in_their_order(alice: Member, bob: Member) -> None:
    name = Prepared(
        lambda row: row[0],
        lambda marks: Member.objects.filter(id=marks.integer("id")).values_list("username"),
    )
    with transaction.atomic(), together():
        asked = [name.ask(id=person.pk) for person in (alice, bob, alice)]
        assert [each.first() for each in asked] == [
            alice.username,
            bob.username,
            alice.username,
        ]
