"""A key is bound to member, conversation and content: repeating is safe, reusing is refused."""

import threading
from collections import Counter

import pytest
from django.db import connection
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from agents.conversations import inputs
from agents.conversations.inputs import Accepted, Message
from agents.conversations.models import Conversation, Input
from agents.definitions import bundling
from agents.journal import replay
from agents.members.models import Member
from audit.reasons import Reason
from audit.refusals import NotFound, Refusal
from tests.conversations.conftest import Ask
from tools.effects.models import RunClaim


def runs(conversation: Conversation) -> int:
    return RunClaim.objects.filter(lane=conversation.id).count()


@pytest.mark.req("INP-001")
def test_a_lost_reply_and_what_may_follow_it(
    committed_db: None, alice: Member, bob: Member
) -> None:
    for bundle in bundling.shipped():
        bundling.reconcile(bundle)
    here, theirs = (inputs.open_conversation(member=member) for member in (alice, bob))

    def post(key: str, text: str, member: Member = alice, where: Conversation = here) -> Accepted:
        return inputs.accept(
            member=member, conversation_id=where.id, message=Message(text), key=key
        )

    twins: list[Accepted] = []
    start = threading.Barrier(2)

    def twin() -> None:
        start.wait()
        twins.append(post("k1", "ok"))
        connection.close()

    threads = [threading.Thread(target=twin) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    first, repeat = sorted(twins, key=lambda accepted: not accepted.created)
    assert (first.created, repeat.created) == (True, False)
    assert identity(first) == identity(repeat)
    with pytest.raises(Refusal) as refused:
        post("k1", "changed")
    assert refused.value.reason == Reason.IDEMPOTENCY_CONFLICT
    second = post("k2", "ok")
    assert second.created
    assert second.input_id != first.input_id
    assert runs(here) == 2
    with pytest.raises(NotFound):  # another member cannot even ask about alice's conversation
        post("k1", "ok", member=bob)
    own = post("k1", "ok", member=bob, where=theirs)
    assert own.created
    assert own.input_id != first.input_id
    inputs.stop(member=alice, conversation_id=here.id)
    inputs.stop(member=bob, conversation_id=theirs.id)


def identity(accepted: Accepted) -> tuple[object, ...]:
    return accepted.input_id, accepted.run_id, accepted.position


@pytest.mark.usefixtures("nobody_works")
def test_many_posts_with_one_key_make_one_input(committed_db: None, alice: Member) -> None:
    for bundle in bundling.shipped():
        bundling.reconcile(bundle)
    conversation = inputs.open_conversation(member=alice)
    keys = [f"key {n}" for n in range(5)]
    answers: list[tuple[str, Accepted]] = []
    start = threading.Barrier(5)

    def post() -> None:
        start.wait()
        for key in keys:
            accepted = inputs.accept(
                member=alice, conversation_id=conversation.id, message=Message(key), key=key
            )
            answers.append((key, accepted))
        connection.close()

    threads = [threading.Thread(target=post) for _ in range(5)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert Counter(key for key, accepted in answers if accepted.created) == Counter(keys)
    assert len({(key, identity(accepted)) for key, accepted in answers}) == len(keys)
    assert (Input.objects.filter(conversation=conversation).count(), runs(conversation)) == (5, 5)
    assert replay.head(conversation.id) == 5
    inputs.stop(member=alice, conversation_id=conversation.id)


@pytest.mark.django_db
@pytest.mark.req("INP-013")
def test_a_key_whose_turn_ended_answers_with_its_first_acceptance(
    ask: Ask, conversation: Conversation
) -> None:
    first = ask("Hello", "k1")
    Input.objects.filter(id=first.input_id).update(status="completed")
    again = ask("Hello", "k1")
    assert (identity(again), again.created, again.status) == (identity(first), False, "completed")
    assert runs(conversation) == 1


@pytest.mark.django_db
def test_keys_of_one_conversation_mean_nothing_in_another(ask: Ask, alice: Member) -> None:
    first = ask("Hello", "k1")
    other = inputs.open_conversation(member=alice)
    second = ask("Something else", "k1", where=other.id)
    assert (second.created, second.position) == (True, 1)
    assert second.run_id != first.run_id


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("text", "more"),
    [("hello", {}), ("Hello", {"agent": "Kaizen"}), ("Hello ", {})],
)
def test_any_change_of_the_body_is_another_body(ask: Ask, text: str, more: dict[str, str]) -> None:
    ask("Hello", "k1")
    with pytest.raises(Refusal) as refused:
        ask(text, "k1", **more)
    assert refused.value.reason == Reason.IDEMPOTENCY_CONFLICT


@pytest.mark.django_db
@pytest.mark.parametrize("key", ["", "x" * 201, " k", "k ", "ü", "a\nb", "\x00", "tab\t"])
def test_a_key_that_headers_cannot_carry_is_refused(ask: Ask, key: str) -> None:
    with pytest.raises(Refusal) as refused:
        ask("Hello", key)
    assert refused.value.reason == Reason.IDEMPOTENCY_KEY_INVALID


@pytest.mark.django_db
def test_a_key_of_two_hundred_characters_is_kept_whole(ask: Ask) -> None:
    long, longer_elsewhere = "k" * 200, "k" * 199 + "l"
    assert ask("Hello", long).created
    assert ask("Hello", longer_elsewhere).created
    assert not ask("Hello", long).created


STEPS = st.lists(
    st.tuples(
        st.sampled_from(["alice", "bob"]),
        st.sampled_from(["k1", "k2"]),
        st.sampled_from(["ok", "changed"]),
    ),
    max_size=9,
)


@pytest.mark.django_db
@settings(
    max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(steps=STEPS)
def test_no_key_ever_reaches_into_another_members_space(
    steps: list[tuple[str, str, str]], shipped: None, alice: Member, bob: Member
) -> None:
    people = {"alice": alice, "bob": bob}
    places = {name: inputs.open_conversation(member=who) for name, who in people.items()}
    known: dict[tuple[str, str], tuple[str, Accepted]] = {}
    for name, key, text in steps:
        outcome: Accepted | Reason
        try:
            outcome = inputs.accept(
                member=people[name],
                conversation_id=places[name].id,
                message=Message(text),
                key=key,
            )
        except Refusal as refused:
            outcome = refused.reason
        before = known.get((name, key))
        if before is None:
            assert isinstance(outcome, Accepted)
            assert outcome.created
            known[name, key] = (text, outcome)
        elif before[0] == text:
            assert isinstance(outcome, Accepted)
            assert (identity(outcome), outcome.created) == (identity(before[1]), False)
        else:
            assert outcome == Reason.IDEMPOTENCY_CONFLICT
    for name, who in people.items():
        mine = Input.objects.filter(conversation=places[name])
        assert {row.member_id for row in mine} <= {who.pk}
        assert mine.count() == sum(1 for owner, _ in known if owner == name)
