"""The public client, unmodified, against the running product. `make sdk-check` installs it."""

import json
import os
import subprocess
from pathlib import Path

import pytest

from agents.members import roles
from tests.stack import Stack

SCRIPT = Path(__file__).with_name("sdk_client.py")
ROOT = SCRIPT.parent.parent.parent
PYTHON = Path(os.environ.get("KAIZEN_SDK_PYTHON", ROOT / ".kaizen" / "sdk" / "bin" / "python"))
TIMEOUT_S = 180


@pytest.mark.stack
@pytest.mark.usefixtures("committed_db")
@pytest.mark.skipif(not PYTHON.exists(), reason="the public client is not installed")
def test_the_public_client_runs_unmodified(stack: Stack) -> None:
    alice, ada = stack.person("alice"), stack.person("ada", roles.ADMINISTRATOR)
    run = subprocess.run(
        [str(PYTHON), str(SCRIPT), stack.url, alice.token, ada.token],
        capture_output=True,
        text=True,
        timeout=TIMEOUT_S,
        check=False,
    )
    assert run.returncode == 0, run.stderr[-3_000:]
    assert json.loads(run.stdout) == {
        "version": 1,
        "same_input": True,
        "accepted_position": 1,
        "answers": ["The first ferry leaves at 06:40.", "Later."],
        "first_event": "id: 1",
        "failure": "ConversationError",
        "deleted_again": 404,
        "member_reads_models": 404,
        "chat_set": True,
        "embedding_set": True,
    }
