"""One act of a member in a process of its own, to be lost in the middle of it.

python -m tests.faults.acting accept MEMBER CONVERSATION KEY TEXT
python -m tests.faults.acting approve MEMBER APPROVAL DIGEST
python -m tests.faults.acting stop MEMBER CONVERSATION
"""

import os
import sys
from uuid import UUID

import django


def main(act: str, member_id: str, *words: str) -> None:
    """Do it, say so and stay for a moment, as a web process does."""
    from agents.conversations import inputs  # models need the set-up that `__main__` does
    from agents.members.models import Member
    from agents.turns import decisions

    member = Member.objects.get(pk=int(member_id))
    match act, words:
        case "accept", (conversation, key, text):
            inputs.accept(
                member=member,
                conversation_id=UUID(conversation),
                message=inputs.Message(text),
                key=key,
            )
        case "approve", (approval, digest):
            decisions.decide(
                member=member, approval_id=UUID(approval), decision="approve", digest=digest
            )
        case "stop", (conversation,):
            inputs.stop(member=member, conversation_id=UUID(conversation))


if __name__ == "__main__":
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "kaizen.settings")
    django.setup()
    main(*sys.argv[1:])
