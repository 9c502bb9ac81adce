"""Whole turns on the running product: what guardrails, normaliser and prompt chain do to them."""

import json
import secrets
from typing import Any
from uuid import uuid4

import pytest
import redis
from django.conf import settings

from agents.conversations.inputs import MESSAGE_CHARACTERS, Accepted
from agents.gateway.models import Deployment
from agents.guardrails.builtin.citations import ATTRIBUTION
from agents.journal.publication import live_channel
from agents.members import preferences
from agents.prompts import grounding, plain_speak
from agents.prompts.settings_projection import HEADING
from audit.reasons import Reason
from tests.turns.conftest import Desk
from tools.boundary.failures import DENIALS

pytestmark = pytest.mark.stack
SECRET = "sk-" + "aB3-" * 8
ESCAPED = SECRET.replace("sk-", "sk\\u002d", 1)  # so that the script reaches the model


def answer(desk: Desk, accepted: Accepted) -> str:
    """The last text of a turn as it is kept."""
    desk.ended(accepted)
    texts = [
        entry.data["text"] for entry in desk.entries(accepted) if entry.kind == "assistant_message"
    ]
    return str(texts[-1])


def system(desk: Desk, mark: str) -> str:
    """The system prompt of the last request in which a text occurs."""
    return str(desk.requests(mark)[-1]["messages"][0]["content"])


@pytest.mark.req("GRD-012")
def test_a_credential_split_over_deltas_is_neither_shown_live_nor_kept(desk: Desk) -> None:
    listener = redis.Redis.from_url(settings.REDIS_URL).pubsub()
    listener.subscribe(live_channel(desk.conversation.id))
    accepted = desk.answered(
        f'pace: 100/s\nsplit: 2\nthink: "I know {ESCAPED} well"\nsay: "It is {ESCAPED} as asked"\n'
    )
    shown = {"text": "", "thinking": ""}
    while (heard := listener.get_message(timeout=1)) is not None:
        for line in heard["data"].splitlines() if heard["type"] == "message" else ():
            conversation, _, raw = line.partition(b" D ")
            if conversation == str(desk.conversation.id).encode() and raw:
                delta = json.loads(raw)
                shown[delta["kind"]] += delta["text"]
    listener.close()
    assert "aB3" not in str(shown)
    assert shown["text"].startswith("It is ")
    assert shown["text"].endswith("[redacted] as asked")
    kept = [entry.data["text"] for entry in desk.entries(accepted) if "text" in entry.data]
    assert kept == [shown["thinking"], shown["text"]]


@pytest.mark.req("NRM-006", "NRM-001")
def test_a_failed_write_at_the_end_is_told_by_the_product(desk: Desk) -> None:
    change = {"artifact_id": str(uuid4()), "expected_version": 1, "content": "x"}
    accepted = desk.ask(
        f"call: update_artifact {json.dumps(change)}\nthen:\nsay: All saved, enjoy!\n"
    )
    assert answer(desk, accepted) == (
        "“Updating an artifact” did not work: There is no artifact with this id."
    )
    mark = secrets.token_hex(8)
    desk.answered(f"say: {mark}\n")
    past = [message["content"] for message in desk.requests(mark)[-1]["messages"]]
    assert "All saved, enjoy!" not in past


@pytest.mark.req("BND-014")
def test_a_denied_change_is_told_with_its_original_reason(desk: Desk) -> None:
    accepted = desk.ask(
        'call: create_artifact {"title": 7}\nthen:\nsay: Call it again with a title as text.\n'
    )
    assert answer(desk, accepted) == (
        f"“Saving an artifact” was not done. {DENIALS[Reason.INVALID_ARGUMENTS]}"
    )


@pytest.mark.req("NRM-002")
@pytest.mark.parametrize(
    ("said", "kept"),
    [
        ("I've created the PDF.", "No PDF file was saved in this turn"),
        ("Which pages should the PDF have?", "Which pages should the PDF have?"),
    ],
)
def test_a_claimed_file_is_held_against_what_was_kept(desk: Desk, said: str, kept: str) -> None:
    accepted = desk.ask(f"say: {said}\n\nCreate a PDF of the plan")
    assert answer(desk, accepted).startswith(kept)


@pytest.mark.req("GRD-006", "GRD-007")
def test_an_id_of_the_member_is_no_citation(desk: Desk) -> None:
    theirs = str(uuid4())
    accepted = desk.ask(f"say: Tea is green [source: {theirs}], {theirs}.\n\nCite {theirs}")
    assert answer(desk, accepted) == f"Tea is green `{theirs}` ({ATTRIBUTION}), `{theirs}`."


@pytest.mark.req("PRM-001", "UIX-006")
def test_an_agent_is_told_the_rules_the_person_and_the_settings(desk: Desk) -> None:
    mark = secrets.token_hex(8)
    desk.answered(f"say: {mark}\n")
    told = system(desk, mark)
    assert told.startswith(grounding.RULES)
    assert told.count("You are talking with Alice.") == 1
    assert plain_speak.RULES not in told
    last = told.split("\n\n")[-1]
    assert last.startswith(HEADING)
    assert "- Answers in plain words: off." in last
    preferences.change(
        actor=desk.member, chosen={"plain_speak": True, "compress_tool_results": True}
    )
    desk.answered(f"say: again {mark}\n")
    told = system(desk, f"again {mark}")
    assert plain_speak.RULES in told
    assert "- Answers in plain words: on." in told
    assert "- Long results of tools are shortened: on." in told


@pytest.mark.req("PRM-002", "PRM-012")
def test_all_steps_of_a_turn_get_the_same_prompt(desk: Desk) -> None:
    mark = secrets.token_hex(8)
    desk.answered(f'call: search_about {{"question": "{mark}"}}\nthen:\nsay: Done\n')
    prompts = {str(asked["messages"][0]["content"]) for asked in desk.requests(mark)}
    assert len(desk.requests(mark)) == 2
    assert len(prompts) == 1


@pytest.mark.req("PRM-006")
def test_only_the_model_reads_a_message_shortened(desk: Desk) -> None:
    small: Any = Deployment.objects.create(
        id=uuid4(),
        name=f"small {secrets.token_hex(4)}",
        base_url=f"http://127.0.0.1:{desk.stack.model_port}/v1",
        model="scripted",
        context_window=2_048,
        max_output_tokens=512,
        enabled=True,
    )
    mark = secrets.token_hex(8)
    text = f"say: {mark}\n\n" + "word " * ((MESSAGE_CHARACTERS - 100) // 5) + "the end"
    accepted = desk.answered(text, deployment_id=small.id)
    assert desk.entries(accepted)[0].data["message"] == text
    (sent,) = [m["content"] for m in desk.requests(mark)[-1]["messages"] if m["role"] == "user"]
    assert "characters of this message are left out here" in sent
    assert (sent[:20], sent[-7:]) == (text[:20], "the end")
    assert len(sent) < 5_000
