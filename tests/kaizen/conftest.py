"""Homes and a running Kaizen for the tests of this folder."""

import shutil
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest

from kaizen.embedded.layout import locate
from tests.kaizen.running import STOP_TIMEOUT_S, Kaizen, wait_until_gone


def free_port() -> str:
    """A TCP port on loopback that nobody holds right now."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return str(probe.getsockname()[1])


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """An empty home; what root keeps elsewhere for it is removed as well."""
    folder = tmp_path_factory.mktemp("home")
    yield folder
    state = locate(folder).state
    assert wait_until_gone(folder, STOP_TIMEOUT_S) == []
    if state != folder:
        shutil.rmtree(state, ignore_errors=True)


@pytest.fixture(scope="module")
def port() -> str:
    return free_port()


@pytest.fixture(scope="module")
def kaizen(home: Path, port: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Kaizen]:
    """Kaizen started from nothing, ready."""
    log = tmp_path_factory.mktemp("words") / "first.log"
    with Kaizen(home, log, PORT=port) as running:
        running.wait_for("Kaizen is ready")
        yield running
