"""Which requirement rows the last full test run showed.

As a pytest plugin it collects `@pytest.mark.req` of passed tests and writes them down after a run
of the whole suite. `python -m tests.requirements` prints `<id> shown <test>` or `<id> open` for
every row of docs/requirements.md, then totals per area.
"""

import json
import re
import sys
from collections import Counter, defaultdict
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parent.parent
LIST = ROOT / "docs" / "requirements.md"
RESULT = ROOT / ".kaizen" / "requirements.json"
ROW = re.compile(r"^- \*\*([A-Z]+-\d{3})\*\*", re.MULTILINE)
MAX_ROWS_A_TEST = 3


class Collector:
    """Remembers the rows of every test that passed and whether the run was the whole suite."""

    def __init__(self) -> None:
        self.shown: defaultdict[str, list[str]] = defaultdict(list)
        self.failed: set[str] = set()

    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        known = set(ids())
        for item in items:
            rows = rows_of(item)
            if len(rows) > MAX_ROWS_A_TEST or set(rows) - known:
                raise pytest.UsageError(f"{item.nodeid} marks {rows}: unknown or more than three")

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(self, item: pytest.Item, call: Any) -> Any:
        report = yield
        for row in rows_of(item):
            if report.failed:
                self.failed.add(row)
            elif report.when == "call" and report.passed:
                self.shown[row].append(item.nodeid)
        return report

    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        options = session.config.option
        if (
            options.keyword
            or options.markexpr
            or options.collectonly
            or session.config.args != [str(path) for path in session.config.getini("testpaths")]
        ):
            return
        RESULT.parent.mkdir(exist_ok=True)
        passed = {row: tests for row, tests in self.shown.items() if row not in self.failed}
        RESULT.write_text(json.dumps(passed, indent=1, sort_keys=True))


def rows_of(item: pytest.Item) -> list[str]:
    """The requirement ids a test is marked with."""
    return [row for mark in item.iter_markers("req") for row in mark.args]


def ids() -> list[str]:
    """Every row of the requirement list, in its order."""
    return ROW.findall(LIST.read_text())


def main() -> int:
    """Print the list; 1 when no full run has been recorded."""
    if not RESULT.exists():
        print("No full test run is recorded here. Run `make test` first.", file=sys.stderr)
        return 1
    shown = json.loads(RESULT.read_text())
    totals: Counter[str] = Counter()
    areas: Counter[str] = Counter()
    for row in ids():
        area = row.partition("-")[0]
        areas[area] += 1
        tests = shown.get(row, [])
        totals[area] += bool(tests)
        print(f"{row} shown {tests[0]}" if tests else f"{row} open")
    for area, count in areas.items():
        print(f"{area}: {totals[area]} of {count}")
    print(f"all: {sum(totals.values())} of {sum(areas.values())}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
