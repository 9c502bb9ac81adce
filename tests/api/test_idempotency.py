"""One effect for one key, whoever repeats it and however many come at once."""

import random
import threading
import uuid
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

import pytest
from django.db import close_old_connections, connection
from django.db.models.functions import Now

from agents.api import idempotency, jobs
from agents.api.models import KeptAnswer
from agents.conversations.models import Conversation, Input
from agents.definitions.models import Agent
from agents.journal.models import Entry
from agents.members.models import Member
from audit.refusals import Refusal
from tests.api.conftest import Caller
from tests.patience import promised

CONTENT = {"name": "Ferry", "persona": "Help."}


@pytest.mark.django_db
@pytest.mark.parametrize("call", ["conversations", "inputs", "steer"])
def test_calls_that_need_a_key_say_so(as_alice: Caller, conversation: str, call: str) -> None:
    path = "/api/conversations" if call == "conversations" else f"/api/conversations/{conversation}"
    body = {
        "conversations": None,
        "inputs": {"kind": "message", "message": "x"},
        "steer": {"message": "x", "turn_id": conversation},
    }[call]
    answer = as_alice.send("POST", path if call == "conversations" else f"{path}/{call}", body)
    assert (answer.status_code, answer.json()["error"]["code"]) == (
        400,
        "idempotency_key_required",
    )


@pytest.mark.django_db
def test_a_repeat_gives_the_same_bytes_and_does_nothing(as_alice: Caller, alice: Member) -> None:
    answers = [as_alice.post("/api/conversations", key="once") for _ in range(3)]
    assert {(answer.status_code, answer.content) for answer in answers} == {
        (201, answers[0].content)
    }
    assert Conversation.objects.filter(owner=alice).count() == 1


@pytest.mark.django_db
@pytest.mark.req("INP-013")
def test_a_repeated_input_gives_the_same_bytes_when_it_has_ended(
    as_alice: Caller, conversation: str, agent: str
) -> None:
    path = f"/api/conversations/{conversation}/inputs"
    body = {"kind": "message", "message": "hello", "agent": agent}
    first = as_alice.post(path, body, key="once")
    Input.objects.filter(conversation_id=conversation).update(status="completed")
    again = as_alice.post(path, dict(reversed(body.items())), key="once")
    assert (again.status_code, again.content) == (202, first.content)
    assert Entry.objects.filter(stream_id=conversation).count() == 1


@pytest.mark.django_db
def test_the_same_key_with_another_body_is_a_conflict(
    as_alice: Caller, conversation: str, agent: str
) -> None:
    path = f"/api/conversations/{conversation}/inputs"
    body = {"kind": "message", "message": "hello", "agent": agent}
    as_alice.post(path, body, key="once")
    as_alice.post("/api/agents", {"content": {**CONTENT, "name": "Bus"}}, key="once")
    answers = [
        as_alice.post(path, {**body, "message": "other"}, key="once"),
        as_alice.post("/api/agents", {"content": {**CONTENT, "name": "Train"}}, key="once"),
    ]
    for answer in answers:
        assert (answer.status_code, answer.json()["error"]["code"]) == (
            409,
            "idempotency_conflict",
        )
    assert not Agent.objects.filter(name="Train").exists()


@pytest.mark.django_db
def test_a_refused_call_leaves_its_key_free(as_alice: Caller) -> None:
    assert as_alice.post("/api/agents", {"content": {}}, key="k").status_code == 422
    assert KeptAnswer.objects.filter(key="k").count() == 0
    assert as_alice.post("/api/agents", {"content": CONTENT}, key="k").status_code == 201


@pytest.mark.django_db
def test_answers_are_forgotten_after_a_day(as_alice: Caller, alice: Member) -> None:
    as_alice.post("/api/conversations", key="old")
    as_alice.post("/api/conversations", key="new")
    KeptAnswer.objects.filter(key="old").update(created_at=Now() - timedelta(hours=25))
    jobs.forget_kept_answers()
    assert list(KeptAnswer.objects.values_list("key", flat=True)) == ["new"]


@pytest.mark.django_db
def test_keys_of_other_people_routes_and_bodies_never_meet(
    make_member: Callable[..., Member],
) -> None:
    """1,000 random calls against a plain model of what must happen."""
    seed = random.SystemRandom().randrange(2**32)
    print(f"seed {seed}")
    chance = random.Random(seed)
    people = [make_member(name) for name in ("alice", "bob", "charlie")]
    first: dict[tuple[int, str, str], tuple[str, bytes]] = {}
    outcomes: Counter[str] = Counter()
    for number in range(1_000):
        member = chance.choice(people)
        route = chance.choice(["POST /api/agents", "POST /api/conversations"])
        key, body = chance.choice("abcdef"), chance.choice(["x", "y"])
        attempt = idempotency.Attempt(member, route, key, {"body": body})

        def act(number: int = number) -> dict[str, int]:
            return {"effect": number}

        place = (member.pk, route, key)
        if place in first and first[place][0] != body:
            with pytest.raises(Refusal, match="another body"):
                idempotency.once(attempt, act, status=201)
            outcomes["conflict"] += 1
            continue
        status, answer = idempotency.once(attempt, act, status=201)
        known = first.setdefault(place, (body, answer))
        assert (status, known) == (201, (body, answer)), seed
        outcomes["new" if answer == b'{"effect":%d}' % number else "kept"] += 1
    assert outcomes["new"] == len(first) == 36
    assert outcomes["kept"] > 300
    assert outcomes["conflict"] > 300


@pytest.fixture
def together() -> Callable[[Callable[[], object], int], list[object]]:
    """Run a call many times at once, each thread with a connection of its own."""

    def run(call: Callable[[], object], times: int) -> list[object]:
        ready = threading.Barrier(8)

        def work(number: int) -> object:
            if number < ready.parties:
                ready.wait(timeout=promised(20))
            try:
                return call()
            finally:
                close_old_connections()
                connection.close()

        with ThreadPoolExecutor(max_workers=ready.parties) as pool:
            return list(pool.map(work, range(times)))

    return run


@pytest.mark.usefixtures("committed_db")
def test_five_hundred_posts_with_one_key_open_one_conversation(
    calling: Callable[..., Caller],
    alice: Member,
    together: Callable[[Callable[[], object], int], list[object]],
) -> None:
    token, key = calling(alice).token, str(uuid.uuid4())

    def post() -> tuple[int, bytes]:
        answer = Caller(token).post("/api/conversations", key=key)
        return answer.status_code, answer.content

    answers = together(post, 500)
    assert len(set(answers)) == 1
    assert answers[0][0] == 201  # type: ignore[index]  # a pair
    assert Conversation.objects.filter(owner=alice).count() == 1


@pytest.mark.usefixtures("committed_db", "nobody_works")
def test_five_inputs_a_key_over_a_hundred_keys_are_accepted_once_each(
    calling: Callable[..., Caller],
    alice: Member,
    together: Callable[[Callable[[], object], int], list[object]],
) -> None:
    caller = calling(alice)
    agent = caller.post("/api/agents", {"content": CONTENT}).json()["id"]
    conversations = [caller.post("/api/conversations").json()["id"] for _ in range(20)]
    keys = [(conversation, str(uuid.uuid4())) for conversation in conversations for _ in range(5)]
    work = [pair for pair in keys for _ in range(5)]
    random.Random(7).shuffle(work)
    lock = threading.Lock()

    def post() -> tuple[str, int, bytes]:
        with lock:
            conversation, key = work.pop()
        body = {"kind": "message", "message": key, "agent": agent}
        path = f"/api/conversations/{conversation}/inputs"
        answer = Caller(caller.token).post(path, body, key=key)
        return key, answer.status_code, answer.content

    answers = together(post, len(work))
    assert {answer[1] for answer in answers} == {202}  # type: ignore[index]  # a triple
    assert len(set(answers)) == 100
    accepted = Input.objects.filter(member=alice)
    assert accepted.count() == 100
    assert sorted(accepted.values_list("idempotency_key", flat=True)) == sorted(
        key for _, key in keys
    )
