"""conversation_history_search, and the search that pages use too."""

import json
from collections.abc import Callable
from uuid import UUID, uuid4

import pytest
from django.db import connection

from agents.conversations import inputs, keeping, search
from agents.conversations.models import Conversation
from agents.journal.append import Draft, append
from agents.journal.frames import Kind
from agents.journal.offloading import in_database
from agents.members.models import Member
from tests.tools.conftest import Run

Talk = Callable[..., UUID]


@pytest.fixture
def talk(committed_db: None) -> Talk:
    """A conversation in which a person asked and an agent answered."""

    def make(member: Member, asked: str, answered: str = "Noted.", title: str = "Talk") -> UUID:
        conversation = inputs.open_conversation(member=member)
        Conversation.objects.filter(id=conversation.id).update(title=title)
        append(
            conversation.id,
            [
                Draft(Kind.INPUT_ACCEPTED, {"kind": "message", "message": asked}),
                Draft(Kind.THINKING, {"text": f"secret musings about {asked}", "segment": 0}),
                Draft(Kind.ASSISTANT_MESSAGE, {"text": answered, "segment": 0}),
            ],
            run_id=uuid4(),
        )
        return conversation.id

    return make


@pytest.mark.req("AGT-017", "TST-002")
async def test_it_finds_what_the_member_may_read_and_nothing_else(
    run: Run, talk: Talk, bob: Member
) -> None:
    mine = await in_database(
        talk, run.member, "When do we migrate the zebra database?", "In May.", "Zoo move"
    )
    await in_database(talk, bob, "The zebra database is bob's secret")
    outcome = await run.call("conversation_history_search", {"query": "zebra database"})
    view = json.loads(outcome.model_view)
    at = view["found"][0].pop("at")
    assert at.endswith("+00:00")
    assert view == {
        "outcome": "success",
        "found": [
            {
                "conversation": "Zoo move",
                "said_by": "member",
                "excerpt": "When do we migrate the zebra database?",
                "source": f"conversation:{mine}#1",
            }
        ],
    }
    assert outcome.member_view == {"message": "Found 1 place in your conversations."}
    assert outcome.sources[0]["conversation_id"] == str(mine)


@pytest.mark.req("AGT-017")
async def test_what_was_deleted_since_is_not_found(run: Run, talk: Talk) -> None:
    conversation = await in_database(talk, run.member, "the giraffe question")
    ask = {"query": "giraffe"}
    assert json.loads((await run.call("conversation_history_search", ask)).model_view)["found"]
    await in_database(keeping.delete, member=run.member, conversation_id=conversation)
    gone = await run.call("conversation_history_search", ask)
    assert json.loads(gone.model_view) == {
        "outcome": "success",
        "found": [],
        "message": "Nothing was found.",
    }
    assert gone.member_view == {"message": "Found nothing in your conversations."}


async def test_a_run_does_not_find_the_question_it_works_on(run: Run) -> None:
    def ask() -> None:
        append(
            run.identity.conversation_id,
            [Draft(Kind.INPUT_ACCEPTED, {"message": "what about the okapi?"})],
            run_id=run.identity.run_id,
        )

    await in_database(ask)
    outcome = await run.call("conversation_history_search", {"query": "okapi"})
    assert json.loads(outcome.model_view)["found"] == []


def places(member: Member, text: str, limit: int = 20) -> list[tuple[str, str]]:
    return [(hit.kind, hit.text) for hit in search.search(member=member, text=text, limit=limit)]


def test_words_match_by_their_beginning_in_questions_answers_and_titles(
    talk: Talk, alice: Member
) -> None:
    talk(alice, "About penguins", "Penguins like COLD water.", "Animals")
    assert places(alice, "peng") == [
        ("answer", "Penguins like COLD water."),
        ("question", "About penguins"),
    ]
    assert places(alice, "cold WAT") == [("answer", "Penguins like COLD water.")]
    assert places(alice, "anim") == [("title", "Animals")]
    assert places(alice, "enguin") == []
    assert places(alice, "musings") == []


def test_what_was_found_is_marked(talk: Talk, alice: Member) -> None:
    talk(alice, "red and green\nand blue", title="")
    (hit,) = search.search(member=alice, text="green blue", limit=5)
    assert [(piece.text, piece.found) for piece in hit.excerpt] == [
        ("red and ", False),
        ("green", True),
        (" and ", False),
        ("blue", True),
    ]


def test_where_nothing_holds_every_word_the_best_partial_match_comes_first(
    talk: Talk, alice: Member
) -> None:
    talk(alice, "the walrus ordered invoices", title="One")
    talk(alice, "walrus", title="Two")
    found = search.search(member=alice, text="what about walrus invoices yesterday", limit=5)
    assert [hit.title for hit in found] == ["One", "Two"]


def test_nothing_in_a_query_is_an_operator(talk: Talk, alice: Member) -> None:
    talk(alice, "it's 100% (really) a\\b foo:bar user@example.org 3.14 C++ 漢字")
    for text in ("it's", "100%", "(really)", "a\\b", "foo:bar", "user@example.org", "3.14", "漢字"):
        assert len(places(alice, text)) == 1, text
    for text in (
        "'",
        "''':*",
        "& | !",
        "!(",
        "\\",
        ":*",
        "%",
        "<->",
        "x' OR 1",
        "a\x00z",
        "a\ud800z",
    ):
        assert places(alice, text) == [], text
    assert places(alice, "\x00") == places(alice, "")


def test_one_conversation_takes_at_most_three_places(talk: Talk, alice: Member) -> None:
    long = talk(alice, "a lemur")
    append(long, [Draft(Kind.ASSISTANT_MESSAGE, {"text": f"lemur {n}"}) for n in range(10)])
    other = talk(alice, "one more lemur")
    found = search.search(member=alice, text="lemur", limit=20)
    counts = [hit.conversation_id for hit in found]
    assert (counts.count(long), counts.count(other)) == (3, 1)


def test_what_others_said_takes_no_place_of_ones_own(
    talk: Talk, alice: Member, bob: Member
) -> None:
    talk(alice, "my tapir")
    for _ in range(3):
        talk(bob, "bob's tapir")
    assert places(alice, "tapir", limit=1) == [("question", "my tapir")]


def test_an_empty_search_gives_what_was_last_worked_on(talk: Talk, alice: Member) -> None:
    talk(alice, "first", title="Older")
    talk(alice, "second", title="Newer")
    assert [hit.title for hit in search.search(member=alice, text="  ", limit=5)] == [
        "Newer",
        "Older",
    ]


def test_a_very_long_answer_can_be_kept_and_found(talk: Talk, alice: Member) -> None:
    words = " ".join(f"w{n:x}" for n in range(200_000))
    talk(alice, "list", f"aardvark {words}")
    assert len(places(alice, "aardvark")) == 1


def test_the_search_uses_its_index(talk: Talk, alice: Member) -> None:
    statement = (
        f"EXPLAIN SELECT id FROM journal_entry WHERE {search._vector(search.TEXT)} @@"
        " to_tsquery('simple'::regconfig, '''zebra'':*')"
        " AND kind IN ('input_accepted', 'assistant_message')"
    )
    with connection.cursor() as cursor:
        cursor.execute("SET enable_seqscan = off")
        cursor.execute(statement)
        plan = "\n".join(row[0] for row in cursor.fetchall())
        cursor.execute("RESET enable_seqscan")
    assert "entries_by_words" in plan
