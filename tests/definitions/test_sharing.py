"""Sharing agents: what is given, taken back, published and recorded, and by whom."""

from typing import Any
from uuid import UUID, uuid4

import pytest
from django.contrib.auth.models import Group
from django.db import connection
from django.test.utils import CaptureQueriesContext

from agents.definitions import bundling, library, sharing, versions
from agents.definitions.library import Source
from agents.definitions.models import Agent, Audience
from agents.definitions.sharing import Holder, Kind, Right
from agents.members import accounts, roles
from agents.members.models import Member
from audit.models import AuditEvent
from audit.reasons import Reason
from audit.refusals import Invalid, NotFound, Refusal

pytestmark = pytest.mark.django_db

CONTENT: dict[str, Any] = {"name": "Ferry", "persona": "Help."}


@pytest.fixture
def agent_id(alice: Member) -> UUID:
    """A private agent of alice's."""
    return versions.create(actor=alice, content=CONTENT).agent_id


@pytest.fixture
def crew(alice: Member, bob: Member) -> Group:
    """A group of alice and bob."""
    crew = Group.objects.create(name="Crew")
    for member in (alice, bob):
        member.groups.add(crew)
    return crew


def person(member: Member) -> Holder:
    return Holder(Kind.MEMBER, member.pk)


def give(owner: Member, agent_id: UUID, **shares: tuple[Holder, set[Right]]) -> None:
    wanted = {holder: frozenset(rights) for holder, rights in shares.values()}
    sharing.change(actor=owner, agent_id=agent_id, wanted=wanted)


def may(member: Member, agent_id: UUID) -> set[str]:
    """What a person may do with an agent now."""
    questions = {
        "use": Agent.objects.usable_by(member),
        "duplicate": Agent.objects.duplicable_by(member),
        "edit": Agent.objects.editable_by(member),
    }
    return {verb for verb, rows in questions.items() if rows.filter(id=agent_id).exists()}


def recorded(agent_id: UUID) -> list[tuple[str, dict[str, Any]]]:
    rows = AuditEvent.objects.filter(subject_id=str(agent_id)).order_by("at", "sequence")
    return [(row.action, row.details) for row in rows][1:]  # after its creation


@pytest.mark.req("AGT-013", "AGT-014")
@pytest.mark.parametrize(
    ("rights", "allowed"),
    [
        ({Right.USE}, {"use"}),
        ({Right.DUPLICATE}, {"use", "duplicate"}),
        ({Right.EDIT}, {"use", "edit"}),
        ({Right.EDIT, Right.DUPLICATE}, {"use", "duplicate", "edit"}),
    ],
)
def test_a_share_opens_what_it_names_and_goes_again(
    alice: Member, bob: Member, charlie: Member, agent_id: UUID, rights: set[Right], allowed: Any
) -> None:
    give(alice, agent_id, bob=(person(bob), rights))
    assert (may(bob, agent_id), may(charlie, agent_id)) == (allowed, set())
    sharing.change(actor=alice, agent_id=agent_id, wanted={})
    assert may(bob, agent_id) == set()


def test_shares_replace_all_others_and_are_told_by_name(
    alice: Member, bob: Member, charlie: Member, crew: Group, agent_id: UUID
) -> None:
    give(alice, agent_id, bob=(person(bob), {Right.USE, Right.EDIT}))
    everyone = Holder(Kind.GROUP, crew.pk)
    give(
        alice,
        agent_id,
        crew=(everyone, {Right.USE}),
        charlie=(person(charlie), {Right.EDIT, Right.DUPLICATE}),
        bob=(person(bob), {Right.USE}),
    )
    audience, shares = sharing.shares(alice, agent_id)
    assert audience == Audience.PRIVATE
    assert [(share.holder, share.name, share.rights) for share in shares] == [
        (person(bob), "Bob", (Right.USE,)),
        (person(charlie), "Charlie", (Right.DUPLICATE, Right.EDIT)),
        (everyone, "Crew", (Right.USE,)),
    ]


@pytest.mark.req("AGT-013", "AUD-007")
def test_each_change_of_a_holder_is_recorded_once(
    alice: Member, bob: Member, charlie: Member, agent_id: UUID
) -> None:
    give(alice, agent_id, bob=(person(bob), {Right.USE, Right.EDIT}))
    give(alice, agent_id, bob=(person(bob), {Right.USE, Right.EDIT}))  # changes nothing
    give(alice, agent_id, charlie=(person(charlie), {Right.USE}), bob=(person(bob), {Right.USE}))
    give(alice, agent_id)
    b, c = str(person(bob)), str(person(charlie))
    told = [
        (action, details["holder"], details["rights"]) for action, details in recorded(agent_id)
    ]
    assert told[0] == ("agent_shared", b, ["use", "edit"])
    assert sorted(told[1:3]) == [("agent_shared", c, ["use"]), ("agent_unshared", b, ["use"])]
    assert sorted(told[3:]) == [("agent_unshared", b, []), ("agent_unshared", c, [])]


@pytest.mark.req("AGT-013")
def test_all_members_are_offered_an_agent_by_administrators_only(
    alice: Member, charlie: Member, ada: Member, agent_id: UUID
) -> None:
    with pytest.raises(Refusal) as refused:
        sharing.change(actor=alice, agent_id=agent_id, audience=Audience.EVERYONE)
    assert refused.value.reason == Reason.FORBIDDEN
    assert may(charlie, agent_id) == set()
    sharing.change(actor=ada, agent_id=agent_id, audience=Audience.EVERYONE)
    assert may(charlie, agent_id) == {"use"}
    sharing.change(actor=alice, agent_id=agent_id, audience=Audience.PRIVATE)
    assert may(charlie, agent_id) == set()
    assert recorded(agent_id) == [
        ("agent_shared", {"audience": "everyone"}),
        ("agent_unshared", {"audience": "private"}),
    ]


@pytest.mark.parametrize("member", ["charlie", "otto", "root"])
def test_nobody_else_decides_about_an_agent_out_of_reach(
    request: pytest.FixtureRequest, alice: Member, charlie: Member, agent_id: UUID, member: str
) -> None:
    if member == "root":
        Member.objects.filter(pk=charlie.pk).update(is_superuser=True, is_staff=True)
        charlie.refresh_from_db()
    actor = charlie if member == "root" else request.getfixturevalue(member)
    for wanted in (agent_id, uuid4()):
        with pytest.raises(NotFound):
            sharing.change(actor=actor, agent_id=wanted, audience=Audience.EVERYONE)
        with pytest.raises(NotFound):
            sharing.change(actor=actor, agent_id=wanted, wanted={})
        with pytest.raises(NotFound):
            sharing.shares(actor, wanted)
    assert recorded(agent_id) == []


def test_an_administrator_decides_about_the_audience_and_not_about_shares(
    ada: Member, bob: Member, agent_id: UUID
) -> None:
    wanted = {person(bob): frozenset({Right.USE})}
    for audience in (None, Audience.EVERYONE):
        with pytest.raises(NotFound):
            sharing.change(actor=ada, agent_id=agent_id, audience=audience, wanted=wanted)
    assert recorded(agent_id) == []
    assert sharing.change(actor=ada, agent_id=agent_id, audience=Audience.EVERYONE) == (
        Audience.EVERYONE,
        [],
    )


@pytest.mark.parametrize("rights", list(Right))
def test_whoever_has_a_share_does_not_hand_it_on(
    alice: Member, bob: Member, charlie: Member, agent_id: UUID, rights: Right
) -> None:
    give(alice, agent_id, bob=(person(bob), {rights}))
    with pytest.raises(Refusal) as refused:
        give(bob, agent_id, charlie=(person(charlie), {Right.USE}))
    assert refused.value.reason == Reason.FORBIDDEN
    with pytest.raises(Refusal):
        sharing.shares(bob, agent_id)
    assert may(charlie, agent_id) == set()


def test_who_is_not_there_cannot_be_given_anything_and_nothing_changes(
    alice: Member, bob: Member, charlie: Member, agent_id: UUID
) -> None:
    accounts.change(actor="system:tests", member=charlie, display_name="", is_active=False)
    others = Group.objects.create(name="Others")
    role = Group.objects.get(name=roles.MEMBER)
    wanted = {
        person(bob): frozenset({Right.USE}),
        person(charlie): frozenset({Right.USE}),
        person(alice): frozenset({Right.USE}),
        Holder(Kind.MEMBER, 2_000_000_000): frozenset({Right.USE}),
        Holder(Kind.GROUP, others.pk): frozenset({Right.USE}),
        Holder(Kind.GROUP, role.pk): frozenset({Right.USE}),
    }
    with pytest.raises(Invalid) as refused:
        sharing.change(actor=alice, agent_id=agent_id, audience=Audience.PRIVATE, wanted=wanted)
    assert refused.value.fields == [
        {"field": f"shares.{place}.{kind}_id", "reason": "not_found"}
        for place, kind in ((1, "member"), (2, "member"), (3, "member"), (4, "group"), (5, "group"))
    ]
    assert may(bob, agent_id) == set()


def test_a_holder_who_left_may_be_kept_or_dropped(
    alice: Member, bob: Member, crew: Group, agent_id: UUID
) -> None:
    holder = Holder(Kind.GROUP, crew.pk)
    give(alice, agent_id, bob=(person(bob), {Right.USE}), crew=(holder, {Right.USE}))
    accounts.change(actor="system:tests", member=bob, display_name="Bob", is_active=False)
    alice.groups.remove(crew)
    give(alice, agent_id, bob=(person(bob), {Right.EDIT}), crew=(holder, {Right.USE}))
    assert len(sharing.shares(alice, agent_id)[1]) == 2
    give(alice, agent_id)
    assert sharing.shares(alice, agent_id)[1] == []


def test_leaving_a_group_ends_what_it_was_given(
    alice: Member, bob: Member, crew: Group, agent_id: UUID
) -> None:
    give(alice, agent_id, crew=(Holder(Kind.GROUP, crew.pk), {Right.EDIT}))
    assert may(bob, agent_id) == {"use", "edit"}
    bob.groups.remove(crew)
    assert may(bob, agent_id) == set()


def test_a_bundle_is_shared_by_nobody(alice: Member, ada: Member) -> None:
    for bundle in bundling.shipped():
        bundling.reconcile(bundle)
    shipped = bundling.default_agent_id()
    for actor in (alice, ada):
        with pytest.raises(Refusal) as refused:
            sharing.change(actor=actor, agent_id=shipped, wanted={})
        assert refused.value.reason == Reason.FORBIDDEN


@pytest.mark.req("BUN-003")
def test_cards_say_what_an_agent_is_made_of_and_what_the_reader_may(
    alice: Member, bob: Member
) -> None:
    content = {
        **CONTENT,
        "capability_ceiling": "write",
        "posture": {"tools": ["artifacts"]},
        "granted_package_ids": ["a", "b"],
        "collection_ids": ["c"],
        "prompt_ids": ["d", "e", "f"],
    }
    agent_id = versions.create(actor=alice, content=content).agent_id
    give(alice, agent_id, bob=(person(bob), {Right.DUPLICATE}))
    ((own,), (theirs,)) = (cards(member) for member in (alice, bob))
    assert (own.tools, own.package_count, own.collection_count, own.prompt_count) == (
        ("Artifacts",),
        2,
        1,
        3,
    )
    assert (own.owner_name, own.sharing, theirs.sharing) == ("Alice", "shared", "shared")
    assert own.may == library.May(edit=True, duplicate=True, share=True, delete=True)
    assert theirs.may == library.May(edit=False, duplicate=True, share=False, delete=False)


def cards(member: Member) -> list[library.Card]:
    return library.cards(member, list(library.agents(member).filter(protected=False)))


def test_the_library_is_read_by_source_mode_and_words(alice: Member, bob: Member) -> None:
    for bundle in bundling.shipped():
        bundling.reconcile(bundle)
    mine = versions.create(actor=bob, content={**CONTENT, "mode": "search"}).agent_id
    lent = versions.create(actor=alice, content={**CONTENT, "description": "Boats"}).agent_id
    give(alice, lent, bob=(person(bob), {Right.USE}))

    def found(**filters: Any) -> set[UUID]:
        return set(library.agents(bob, **filters).values_list("id", flat=True))

    assert found(source=Source.ME) == {mine}
    assert found(source=Source.SHARED) == {lent}
    assert bundling.default_agent_id() in found(source=Source.INCLUDED)
    assert not found(source=Source.INCLUDED) & {mine, lent}
    assert found(mode="search") == {mine}
    assert found(text="boat") == {lent}


def test_a_page_of_cards_takes_as_many_questions_as_one_card(alice: Member) -> None:
    taken = []
    for count in (1, 20):
        for number in range(count):
            versions.create(actor=alice, content={**CONTENT, "name": f"Ferry {count} {number}"})
        with CaptureQueriesContext(connection) as queries:
            assert len(cards(alice)) >= count
        taken.append(len(queries))
    assert taken[0] == taken[1] <= 5
