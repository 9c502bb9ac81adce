"""Workers to break. The stack's own worker rests meanwhile, so that none but these do the work."""

from collections.abc import Iterator

import pytest

from agents.members.models import Member
from tests.faults.harness import Broker, Crowd, House
from tests.stack import Stack


@pytest.fixture(scope="package")
def broker() -> Iterator[Broker]:
    """The private broker."""
    running = Broker()
    running.start()
    yield running
    running.stop()


@pytest.fixture(scope="package")
def resting(stack: Stack) -> Iterator[Stack]:
    """The stack without its worker."""
    stack.kill("worker")
    yield stack
    stack.start_worker()


@pytest.fixture(scope="package")
def shared_house(
    resting: Stack, broker: Broker, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[House]:
    """One house for all tests of this folder."""
    house = House(resting.environment, broker, tmp_path_factory.mktemp("workers"))
    yield house
    house.clear()


@pytest.fixture
def house(committed_db: None, shared_house: House) -> House:
    """The house, with the database at hand."""
    return shared_house


@pytest.fixture
def crowd(committed_db: None, alice: Member) -> Crowd:
    """Alice's turns."""
    return Crowd(alice)
