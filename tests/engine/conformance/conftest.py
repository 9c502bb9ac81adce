"""The controllers that are held to the contract."""

from collections.abc import Callable

import pytest

from agents.engine.controllers.host import Controller
from agents.engine.controllers.tomo import Tomo

CONTROLLERS: tuple[type[Controller], ...] = (Tomo,)
# Where a controller puts input that came in while a tool ran: at once, or behind all of its work.
LATE: frozenset[str] = frozenset()
# Controllers that hear the first input to its end before they look for more.
FRESH_FIRST: frozenset[str] = frozenset()


@pytest.fixture(params=CONTROLLERS, ids=lambda controller: controller.id)
def controller(request: pytest.FixtureRequest) -> Callable[[], Controller]:
    """Makes a controller, anew for every turn."""
    made: Callable[[], Controller] = request.param
    return made
