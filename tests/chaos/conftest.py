"""Only collected when asked for: `pytest tests/chaos`, or `make chaos`."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from agents.members.models import Member
from tests.faults.harness import Broker, Crowd, House
from tests.stack import Stack

HERE = Path(__file__).parent


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Leave this folder out of a run over all tests."""
    asked_for = any("chaos" in argument for argument in config.args)
    return None if asked_for or HERE not in (collection_path, *collection_path.parents) else True


@pytest.fixture(scope="package")
def shared_house(stack: Stack, tmp_path_factory: pytest.TempPathFactory) -> Iterator[House]:
    """Workers to break on a broker of their own; the stack lends its model."""
    if "worker" in stack.processes:
        stack.kill("worker")
    broker = Broker()
    broker.start()
    house = House(stack.environment, broker, tmp_path_factory.mktemp("workers"))
    yield house
    house.clear()
    broker.stop()


@pytest.fixture
def house(committed_db: None, shared_house: House) -> House:
    """The house, with the database at hand."""
    return shared_house


@pytest.fixture
def crowd(committed_db: None, alice: Member) -> Crowd:
    """Alice's turns."""
    return Crowd(alice)
