"""How long the answer takes for an object of somebody else and for one that does not exist.

    pytest tests/access/timed_pairs.py -s

Prints medians of pairs and asserts nothing: whoever could tell the two apart by their times would
know which ids exist.
"""

import random
import statistics
import time
import uuid
from collections.abc import Callable

from tests.access import entries
from tests.access.conftest import Objects, Person, Seen

PAIRS = 200


def test_times_of_foreign_and_missing_objects(
    everybody: dict[str, Person], objects: Objects, ask: Callable[..., Seen]
) -> None:
    chance = random.Random(25)
    print(f"\n{'route':<80}{'foreign':>9}{'missing':>9}{'apart':>8}")
    for route, methods in entries.REST.items():
        for method, probe in methods.items():
            missing = {
                name: str(uuid.uuid4()) if name.endswith("_id") else value
                for name, value in objects.ids.items()
            }
            took: dict[str, list[float]] = {"foreign": [], "missing": []}
            for _ in range(PAIRS):
                pair = [("foreign", objects.ids), ("missing", missing)]
                chance.shuffle(pair)
                for kind, ids in pair:
                    began = time.perf_counter()
                    ask(everybody["stranger"], route, method, probe, ids)
                    took[kind].append(time.perf_counter() - began)
            foreign, gone = (statistics.median(took[kind]) * 1_000 for kind in took)
            apart = abs(foreign - gone) / max(foreign, gone)
            print(f"{method + ' ' + route:<80}{foreign:>7.2f}ms{gone:>7.2f}ms{apart:>8.1%}")
