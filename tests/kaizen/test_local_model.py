"""The model that comes along: real weights on a private socket, closed without its key."""

import http.client
import json
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from kaizen.model_probe import Probe, SocketConnection, ask
from tests.kaizen.running import ROOT, environment
from tests.patience import promised, until

KEY = "a-key-of-this-test"
ANSWER_TIMEOUT_S = promised(60)


@pytest.fixture(scope="module")
def socket(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    folder = tmp_path_factory.mktemp("model")
    path = folder / "model.sock"
    process = subprocess.Popen(
        [sys.executable, "-m", "kaizen.local_model", str(path)],
        cwd=ROOT,
        env=environment(folder, KAIZEN_SECRET_LOCAL_MODEL=KEY),
    )
    until(lambda: process.poll() is not None or answers(path), "the model answers", 60)
    assert process.poll() is None
    yield path
    process.send_signal(signal.SIGTERM)
    assert process.wait(promised(10)) == 0
    assert not path.exists()


def answers(path: Path) -> bool:
    try:
        return bool(ask(Probe("unix", "", None, str(path), KEY)))
    except (OSError, ValueError):
        return False


def post(path: Path, body: dict[str, object], key: str) -> http.client.HTTPResponse:
    link = SocketConnection(str(path), ANSWER_TIMEOUT_S)
    headers = {"Authorization": f"Bearer {key}", "Content-Type": "application/json"}
    link.request("POST", "/v1/chat/completions", json.dumps(body), headers)
    return link.getresponse()


def question(text: str) -> dict[str, object]:
    messages = [
        {"role": "system", "content": "You are a helpful assistant."},
        {"role": "user", "content": text},
    ]
    return {"messages": messages, "max_tokens": 24, "temperature": 0}


def test_it_answers_a_question(socket: Path) -> None:
    answer = post(socket, question("What is the capital of France?"), KEY)
    assert answer.status == 200
    assert "Paris" in json.load(answer)["choices"][0]["message"]["content"]


def test_it_is_named_as_the_gateway_names_it(socket: Path) -> None:
    assert ask(Probe("unix", "", None, str(socket), KEY)) == ["SmolLM2-135M-Instruct"]


def test_it_answers_nobody_without_the_key(socket: Path) -> None:
    assert post(socket, question("Hello"), "another-key").status == 401
    with pytest.raises(ValueError, match="refuses the key"):
        ask(Probe("unix", "", None, str(socket), "another-key"))


def test_it_does_not_start_without_a_key(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "kaizen.local_model", str(tmp_path / "model.sock")],
        cwd=ROOT,
        env=environment(tmp_path),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1
    assert "KAIZEN_SECRET_LOCAL_MODEL is not set" in done.stderr
