"""Drive the public client against a running instance; run by the client's own interpreter.

    python sdk_client.py URL MEMBER_TOKEN ADMINISTRATOR_TOKEN

Imports nothing of Kaizen. Prints what happened as one JSON object; a call that fails raises.
"""

import json
import sys
import uuid

from kamiwaza_sdk import KamiwazaClient
from kamiwaza_sdk.exceptions import APIError, KamiwazaError
from kamiwaza_sdk.schemas.kaizen import AgentDefinition

MESSAGE = "say: The first ferry leaves at 06:40."
SLOW = "wait: 2\nsay: Later."
BROKEN = "fault: status 400 message no"


def main(url: str, member_token: str, administrator_token: str) -> dict[str, object]:
    """Every call of the public contract once; see the keys of the result."""
    member = KamiwazaClient(url, api_key=member_token)
    definition = AgentDefinition(
        name=f"Ferry {uuid.uuid4()}",
        persona="Help people cross.",
        description="Knows the times",
        capability_ceiling="read",
        meta={"made": "by the public client"},
    )
    agent = member.agents.create_canonical(definition, base_url=url)
    conversation = member.conversations.create_canonical(base_url=url)
    key = str(uuid.uuid4())
    sent = [
        member.conversations.send_input_canonical(
            conversation.id, MESSAGE, base_url=url, agent=agent.id, idempotency_key=key
        )
        for _ in range(2)
    ]
    answers = [
        member.conversations.chat_canonical(
            conversation.id, message, base_url=url, agent=agent.id, timeout_seconds=60
        )
        for message in (MESSAGE, SLOW)
    ]
    stream = member.conversations.stream_events_canonical(conversation.id, base_url=url, after=0)
    first = next(line for line in stream.iter_lines(decode_unicode=True) if line.startswith("id:"))
    stream.close()
    result: dict[str, object] = {
        "version": agent.version,
        "same_input": sent[0].model_dump() == sent[1].model_dump(),
        "accepted_position": sent[0].accepted_position,
        "answers": answers,
        "first_event": first,
        "failure": refused(
            lambda: member.conversations.chat_canonical(
                conversation.id, BROKEN, base_url=url, agent=agent.id, timeout_seconds=60
            )
        ),
    }
    member.agents.delete(agent.id, base_url=url)
    result["deleted_again"] = refused(lambda: member.agents.delete(agent.id, base_url=url))
    result["member_reads_models"] = refused(
        lambda: member.kaizen_ops.get_model_settings(base_url=url)
    )
    administrator = KamiwazaClient(url, api_key=administrator_token)
    before = administrator.kaizen_ops.get_model_settings(base_url=url)
    chosen = before["chat"]["id"]
    result["chat_set"] = (
        administrator.kaizen_ops.set_chat_model(chosen, base_url=url)["chat"]["id"] == chosen
    )
    after = administrator.kaizen_ops.set_embedding_model(chosen, base_url=url)
    result["embedding_set"] = after["embedding"]["id"] == chosen
    return result


def refused(call: object) -> object:
    """The status, or the kind of error, with which a call fails."""
    try:
        call()  # type: ignore[operator]  # a function
    except APIError as error:
        return getattr(error, "status_code", None)
    except KamiwazaError as error:
        return getattr(error, "status_code", None) or type(error).__name__
    return "accepted"


if __name__ == "__main__":
    print(json.dumps(main(*sys.argv[1:])))
