"""Stop: one cancelled terminal, the text shown so far kept for people and kept from the model."""

import json
import secrets
import time
import urllib.request

import pytest

from agents.conversations.inputs import Accepted
from agents.conversations.models import Input
from agents.gateway.models import ModelCall
from agents.journal.frames import TERMINALS
from tests.patience import promised, until
from tests.stack import ANSWER_S
from tests.turns.conftest import Desk
from tools.effects.models import RunClaim

pytestmark = pytest.mark.stack

STOP_S = 2.0  # from the press of the button to the terminal


def streaming(desk: Desk, word: str) -> Accepted:
    """A turn that has begun to answer and would never end."""
    with desk.listening() as wait_for:
        asked = desk.ask(f"say: {word}\nhold: {word}\n")
        wait_for(word)
    return asked


@pytest.mark.req("ENG-020", "INP-012")
def test_a_stop_ends_the_turn_once_and_keeps_what_was_shown(desk: Desk) -> None:
    word = secrets.token_hex(8)
    asked = streaming(desk, word)
    pressed = time.monotonic()
    desk.stop()
    end = desk.ended(asked)
    assert time.monotonic() - pressed < promised(STOP_S)
    assert (end.kind, end.data["reason"], end.data["message"]) == (
        "agent_run_cancelled",
        "stopped",
        "Stopped.",
    )
    said = [entry for entry in desk.entries(asked) if entry.kind == "assistant_message"]
    assert len(said) == 1
    assert said[0].data["text"].startswith(word)
    assert [kind for kind in desk.kinds(asked) if kind in TERMINALS] == ["agent_run_cancelled"]
    assert Input.objects.get(id=asked.input_id).status == "cancelled"
    calls = ModelCall.objects.filter(run_id=asked.run_id)
    assert [call.outcome for call in calls] == ["cancelled"]


def test_the_model_never_hears_of_a_stopped_answer(desk: Desk) -> None:
    word, mark = secrets.token_hex(8), secrets.token_hex(8)
    asked = streaming(desk, word)
    desk.stop()
    desk.ended(asked)
    desk.answered(f"say: {mark}\n")
    messages = desk.requests(mark)[-1]["messages"]
    assert [message["role"] for message in messages] == ["system", "user", "user"]


def test_the_model_request_is_given_up(desk: Desk) -> None:
    asked = streaming(desk, secrets.token_hex(8))
    before = abandoned(desk)
    desk.stop()
    desk.ended(asked)
    until(lambda: abandoned(desk) > before, "the model's client has gone away")


def abandoned(desk: Desk) -> int:
    url = f"http://127.0.0.1:{desk.stack.model_port}/scripted/streams"
    with urllib.request.urlopen(url, timeout=ANSWER_S) as answer:
        return int(json.load(answer)["abandoned"])


def test_a_stop_ends_the_queued_turns_too(desk: Desk) -> None:
    running = streaming(desk, secrets.token_hex(8))
    queued = [desk.ask("say: Not said\n") for _ in range(2)]
    assert len(desk.stop()) == 3
    ends = [desk.ended(asked) for asked in (running, *queued)]
    assert {end.kind for end in ends} == {"agent_run_cancelled"}
    for asked in queued:
        assert desk.kinds(asked) == ["input_accepted", "agent_run_cancelled"]
        assert not ModelCall.objects.filter(run_id=asked.run_id).exists()


def test_after_the_end_a_stop_changes_nothing(desk: Desk) -> None:
    asked = desk.answered("say: Hello\n")
    before = (desk.kinds(asked), RunClaim.objects.filter(run_id=asked.run_id).values().get())
    assert desk.stop() == []
    time.sleep(0.3)
    after = (desk.kinds(asked), RunClaim.objects.filter(run_id=asked.run_id).values().get())
    assert after == before


def test_pressing_twice_is_pressing_once(desk: Desk) -> None:
    asked = streaming(desk, secrets.token_hex(8))
    desk.stop()
    desk.stop()
    desk.ended(asked)
    desk.stop()
    time.sleep(0.3)
    assert [kind for kind in desk.kinds(asked) if kind in TERMINALS] == ["agent_run_cancelled"]


def test_the_next_message_is_answered_as_ever(desk: Desk) -> None:
    asked = streaming(desk, secrets.token_hex(8))
    desk.stop()
    desk.ended(asked)
    assert desk.ended(desk.ask("say: Back again\n")).kind == "agent_run_completed"


def test_a_stop_at_any_moment_leaves_one_terminal(desk: Desk) -> None:
    """Also in the instant of the last commit: an answer that is called complete has its text."""
    for pause in (0.0, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.35):
        asked = desk.ask("wait: 0.1\nsay: Short answer\n")
        time.sleep(pause)
        desk.stop()
        end = desk.ended(asked)
        kinds = desk.kinds(asked)
        assert len([kind for kind in kinds if kind in TERMINALS]) == 1
        assert kinds[-1] == end.kind
        assert end.kind in {"agent_run_cancelled", "agent_run_completed"}
        if end.kind == "agent_run_completed":
            (said,) = [e for e in desk.entries(asked) if e.kind == "assistant_message"]
            assert said.data["text"] == "Short answer"
