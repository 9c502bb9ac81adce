"""Twenty named points of a turn, three kinds of harm at each: sixty ways to lose a process."""

import pytest

from tests.faults.harness import Crowd, House
from tests.faults.points import HARMS, POINTS, Point, Scene
from tests.stack import Stack

pytestmark = pytest.mark.stack


@pytest.mark.parametrize("harm", HARMS)
@pytest.mark.parametrize("point", POINTS, ids=lambda point: point.name)
def test_a_process_lost_there_loses_repeats_and_forks_nothing(
    point: Point, harm: str, house: House, crowd: Crowd, stack: Stack
) -> None:
    scene = Scene(house, crowd, stack)
    scene.lose(point, harm)
    print(f"{point.name}, {harm}: {scene.last().kind} {scene.last().data.get('reason')}")
    assert crowd.violations() == []
    assert scene.last().kind in point.ends
