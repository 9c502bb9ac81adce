"""A process lost at each named point of a turn: the small part that every run can afford.

`make chaos` loses one at every point in every way.
"""

import pytest

from tests.faults.harness import Crowd, House
from tests.faults.points import POINTS, Point, Scene
from tests.stack import Stack

pytestmark = pytest.mark.stack

SMALL = {
    "input accepted before commit": "kill",
    "approval recorded": "kill",
    "artifact append": "cut",
    "before terminal commit": "pause",
    "steer claim": "kill",
    "compaction": "kill",
}


def test_there_are_twenty_points_of_different_names() -> None:
    assert len({point.name for point in POINTS}) == 20


@pytest.mark.req("INP-019", "ENG-019")
@pytest.mark.parametrize(
    "point", [p for p in POINTS if p.name in SMALL], ids=lambda point: point.name
)
def test_a_process_lost_there_loses_repeats_and_forks_nothing(
    point: Point, house: House, crowd: Crowd, stack: Stack
) -> None:
    scene = Scene(house, crowd, stack)
    scene.lose(point, SMALL[point.name])
    assert crowd.violations() == []
    assert scene.last().kind in point.ends
