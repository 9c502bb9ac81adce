"""The messages a model sees, rebuilt from the journal."""

from typing import Any
from uuid import UUID, uuid4

import pytest

from agents.journal.append import Draft, append, open_stream
from agents.journal.frames import Kind
from agents.turns.transcript import INTERRUPTED, Message, Transcripts
from agents.turns.window import budget_characters

pytestmark = pytest.mark.django_db
PLENTY = 1_000_000


class Talk:
    """A conversation written straight into the journal, turn by turn."""

    def __init__(self) -> None:
        self.id = uuid4()
        open_stream(self.id)
        self.kept = Transcripts()

    def asks(self, text: str) -> UUID:
        run_id = uuid4()
        append(self.id, [Draft(Kind.INPUT_ACCEPTED, {"message": text})], run_id=run_id)
        return run_id

    def follows(self, text: str, before: UUID | None, **more: Any) -> UUID:
        """Ask something whose branch is said, as acceptance does; `before` is a run."""
        run_id = uuid4()
        parent = str(before) if before else None
        append(
            self.id,
            [Draft(Kind.INPUT_ACCEPTED, {"message": text, "parent": parent, **more})],
            run_id=run_id,
            input_id=run_id,
        )
        return run_id

    def notes(self, run_id: UUID, kind: Kind, data: Any, private: Any = None) -> None:
        append(self.id, [Draft(kind, data, private)], run_id=run_id)

    def says(self, run_id: UUID, text: str, *, step: int = 1, excluded: bool = False) -> None:
        private = {"step": step, "excluded": excluded}
        data = {"text": text, "segment": 0}
        append(self.id, [Draft(Kind.ASSISTANT_MESSAGE, data, private)], run_id=run_id)

    def calls(self, run_id: UUID, *names: str, step: int = 1) -> None:
        append(
            self.id,
            [
                Draft(
                    Kind.TOOL_STARTED,
                    {"call_id": name, "name": "look"},
                    {"step": step, "arguments": "{}"},
                )
                for name in names
            ],
            run_id=run_id,
        )

    def results(self, run_id: UUID, *names: str) -> None:
        for name in names:
            append(
                self.id,
                [Draft(Kind.TOOL_ENDED, {"call_id": name}, {"step": 1, "model_view": f"r{name}"})],
                run_id=run_id,
            )

    def seen(self, run_id: UUID, budget: int = PLENTY) -> list[Message]:
        """As a warm worker sees it, which must equal what a fresh one reads."""
        warm = self.kept.history(self.id, run_id, budget_characters=budget)
        fresh = Transcripts().history(self.id, run_id, budget_characters=budget)
        assert warm == fresh
        return fresh.messages


@pytest.fixture
def talk() -> Talk:
    return Talk()


def user(text: str) -> Message:
    return {"role": "user", "content": text}


def assistant(text: str | None, *calls: str) -> Message:
    message: Message = {"role": "assistant", "content": text}
    if calls:
        message["tool_calls"] = [
            {"id": call, "type": "function", "function": {"name": "look", "arguments": "{}"}}
            for call in calls
        ]
    return message


def tool(call: str, text: str | None = None) -> Message:
    return {"role": "tool", "tool_call_id": call, "content": text or f"r{call}"}


def test_turns_stay_together_whatever_was_queued_meanwhile(talk: Talk) -> None:
    first = talk.asks("one")
    second, third = talk.asks("two"), talk.asks("three")
    talk.says(first, "answer one")
    assert talk.seen(second) == [user("one"), assistant("answer one"), user("two")]
    talk.says(second, "answer two")
    assert talk.seen(third) == [
        user("one"),
        assistant("answer one"),
        user("two"),
        assistant("answer two"),
        user("three"),
    ]


def test_a_turn_sees_nothing_of_later_ones(talk: Talk) -> None:
    first = talk.asks("one")
    talk.asks("two")
    assert talk.seen(first) == [user("one")]


@pytest.mark.req("ENG-002")
def test_calls_and_results_of_the_past_pair(talk: Talk) -> None:
    run = talk.asks("one")
    talk.says(run, "Looking.")
    talk.calls(run, "a", "b")
    talk.results(run, "b", "a")
    talk.calls(run, "c", step=2)
    talk.results(run, "c")
    talk.says(run, "Found.", step=3)
    following = talk.asks("two")
    assert talk.seen(following) == [
        user("one"),
        assistant("Looking.", "a", "b"),
        tool("a"),
        tool("b"),
        assistant(None, "c"),
        tool("c"),
        assistant("Found."),
        user("two"),
    ]


def test_an_interrupted_call_gets_a_stand_in_result(talk: Talk) -> None:
    run = talk.asks("one")
    talk.calls(run, "a", "b")
    talk.results(run, "a")
    following = talk.asks("two")
    messages = talk.seen(following)
    assert messages[:2] == [user("one"), assistant(None, "a", "b")]
    assert sorted(messages[2:4], key=lambda message: str(message["tool_call_id"])) == [
        tool("a"),
        tool("b", INTERRUPTED),
    ]
    talk.results(run, "b")  # it came after all: the stand-in goes
    assert tool("b", INTERRUPTED) not in talk.seen(following)


def test_what_was_shown_and_taken_back_is_left_out(talk: Talk) -> None:
    run = talk.asks("one")
    talk.says(run, "Half an ans", excluded=True)
    assert talk.seen(talk.asks("two")) == [user("one"), user("two")]


@pytest.mark.parametrize(("budget", "kept"), [(1_000, 3), (35, 2), (25, 1), (5, 1)])
def test_the_oldest_turns_go_first_and_whole(talk: Talk, budget: int, kept: int) -> None:
    for word in ("first", "other"):
        run = talk.asks(word * 2)
        talk.says(run, word)
    last = talk.asks("now then me")
    messages = talk.seen(last, budget)
    assert [m["content"] for m in messages if m["role"] == "user"] == [
        "firstfirst",
        "otherother",
        "now then me",
    ][-kept:]
    assert messages[-1] == user("now then me")
    assert len(messages) == 2 * kept - 1


def test_a_kept_transcript_grows_with_the_journal(talk: Talk) -> None:
    run = talk.asks("one")
    sizes = [len(talk.seen(run))]
    for step in (1, 2):
        talk.calls(run, f"c{step}", step=step)
        talk.results(run, f"c{step}")
        sizes.append(len(talk.seen(run)))
    assert sizes == [1, 3, 5]


def test_a_very_long_conversation_is_not_kept_in_memory(
    talk: Talk, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("agents.turns.transcript.CACHED_CHARACTERS", 10)
    run = talk.asks("longer than ten")
    assert talk.seen(run) == talk.seen(run) == [user("longer than ten")]
    assert talk.kept._kept == {}


@pytest.mark.parametrize(
    ("window", "output", "characters"),
    [(8_192, 1_024, 18_432), (128_000, 4_096, 323_712), (1_024, 2_048, 4_000)],
)
def test_the_budget_leaves_room_for_prompt_and_answer(
    window: int, output: int, characters: int
) -> None:
    assert budget_characters(window, output) == characters


def test_nobody_can_change_what_is_kept(talk: Talk) -> None:
    run = talk.asks("one")
    messages: list[dict[str, Any]] = talk.seen(run)
    messages.append(user("forged"))
    assert talk.seen(run) == [user("one")]


@pytest.mark.parametrize("order", [("one", "other"), ("other", "one")])
def test_a_model_sees_its_own_branch_alone(talk: Talk, order: tuple[str, str]) -> None:
    root = talk.follows("root", None)
    talk.says(root, "rooted")
    runs = {text: talk.follows(text, root) for text in order}
    for text, run in runs.items():
        talk.says(run, f"answer {text}")
    end = talk.follows("end", runs["one"])
    assert talk.seen(end) == [
        user("root"),
        assistant("rooted"),
        user("one"),
        assistant("answer one"),
        user("end"),
    ]
    assert talk.seen(runs["other"]) == [
        user("root"),
        assistant("rooted"),
        user("other"),
        assistant("answer other"),
    ]


def test_inputs_from_before_branches_follow_on_one_another(talk: Talk) -> None:
    old = [talk.asks("one"), talk.asks("two")]
    assert talk.seen(old[1]) == [user("one"), user("two")]


def test_what_was_told_to_a_turn_stands_where_it_was_taken_up(talk: Talk) -> None:
    run = talk.follows("one", None)
    talk.notes(run, Kind.STEER_ACCEPTED, {"steer_id": "s1"})
    talk.notes(run, Kind.STEER_ACCEPTED, {"steer_id": "s2"})
    talk.calls(run, "a")
    talk.results(run, "a")
    told = [user("one"), assistant(None, "a"), tool("a")]
    assert talk.seen(run) == told
    assert talk.kept.history(talk.id, run, budget_characters=PLENTY).is_told
    talk.notes(run, Kind.STEER_APPLIED, {"steer_id": "s1"}, {"message": "Only mornings."})
    talk.notes(run, Kind.STEER_REJECTED, {"steer_id": "s2"})
    assert talk.seen(run) == [*told, user("Only mornings.")]
    assert not talk.kept.history(talk.id, run, budget_characters=PLENTY).is_told


def test_a_queued_message_is_seen_as_it_was_left(talk: Talk) -> None:
    first = talk.follows("one", None)
    second = talk.follows("two", first)
    third = talk.follows("three", second)
    assert talk.seen(third)[1:] == [user("two"), user("three")]
    talk.notes(second, Kind.QUEUE_CHANGED, {"items": []}, {"message": "second"})
    assert talk.seen(third)[1:] == [user("second"), user("three")]
    talk.notes(second, Kind.AGENT_RUN_CANCELLED, {"reason": "withdrawn"})
    assert talk.seen(third) == [user("one"), user("three")]


def test_a_stopped_message_is_still_seen(talk: Talk) -> None:
    first = talk.follows("one", None)
    talk.notes(first, Kind.AGENT_RUN_CANCELLED, {"reason": "stopped"})
    assert talk.seen(talk.follows("two", first)) == [user("one"), user("two")]


def summary(text: str) -> Message:
    return assistant(f"Summary of what was said before:\n\n{text}")


def test_a_summary_stands_for_what_was_said_not_for_what_was_asked(talk: Talk) -> None:
    first = talk.follows("one", None)
    talk.says(first, "answer one")
    second = talk.follows("two", first)
    talk.calls(second, "a")
    talk.results(second, "a")
    talk.notes(second, Kind.COMPACTION, {}, {"summary": "They spoke."})
    assert talk.seen(second) == [user("one"), summary("They spoke."), user("two")]
    talk.says(second, "answer two", step=2)
    third = talk.follows("three", second)
    assert talk.seen(third) == [
        user("one"),
        summary("They spoke."),
        user("two"),
        assistant("answer two"),
        user("three"),
    ]


def test_a_summary_of_its_own_run_asks_nothing(talk: Talk) -> None:
    first = talk.follows("one", None)
    talk.says(first, "answer one")
    summing_up = talk.follows("", first, kind="compaction")
    talk.notes(summing_up, Kind.COMPACTION, {}, {"summary": "They spoke."})
    third = talk.follows("three", summing_up)
    assert talk.seen(third) == [user("one"), summary("They spoke."), user("three")]
    assert talk.seen(talk.follows("two", first)) == [
        user("one"),
        assistant("answer one"),
        user("two"),
    ]


def test_the_newest_messages_of_a_person_are_kept_the_oldest_of_them_cut(talk: Talk) -> None:
    runs: list[UUID | None] = [None]
    for text in ("a" * 600, "b" * 600, "c" * 600):
        runs.append(talk.follows(text, runs[-1]))
    end = talk.follows("end", runs[-1])
    talk.notes(end, Kind.COMPACTION, {}, {"summary": "S" * 100})
    kept = talk.seen(end, budget=103 + 2 * 900)
    assert [message["content"] for message in kept[:-2]] == ["b" * 300, "c" * 600]


def test_what_a_summary_would_not_make_smaller_is_not_summed_up(talk: Talk) -> None:
    end = talk.follows("x" * 1_200, talk.follows("ok", None))
    assert not talk.kept.history(talk.id, end, budget_characters=1_000).is_crowded
    talk.calls(end, "a")
    talk.notes(end, Kind.TOOL_ENDED, {"call_id": "a"}, {"step": 1, "model_view": "y" * 300})
    assert talk.kept.history(talk.id, end, budget_characters=1_000).is_crowded


@pytest.mark.parametrize(("size", "is_crowded"), [(890, False), (900, True), (1_200, True)])
def test_a_history_says_when_it_is_time_to_sum_up(talk: Talk, size: int, is_crowded: bool) -> None:
    first = talk.follows("x" * (size - 2), None)
    end = talk.follows("ok", first)
    assert talk.kept.history(talk.id, end, budget_characters=1_000).is_crowded is is_crowded


def test_what_is_to_be_summed_up_is_all_since_the_last_time(talk: Talk) -> None:
    first = talk.follows("one", None)
    talk.says(first, "x" * 500)
    second = talk.follows("two", first)
    assert len(talk.seen(second, budget=100)) == 1
    whole = [user("one"), assistant("x" * 500), user("two")]
    assert talk.kept.whole(talk.id, second) == whole
    after = talk.kept.summed_up(talk.id, second, "They spoke.", budget_characters=PLENTY)
    assert after.messages == [user("one"), summary("They spoke."), user("two")]
    assert talk.kept.whole(talk.id, second) == whole
