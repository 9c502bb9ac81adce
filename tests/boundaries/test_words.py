"""The project speaks of itself alone: no path or host of a machine it was written on."""

import json
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from tests.boundaries.source import ROOT, SKIPPED

TEXTS = {
    ".py",
    ".md",
    ".toml",
    ".txt",
    ".html",
    ".css",
    ".ts",
    ".mjs",
    ".js",
    ".json",
    ".cfg",
    ".ini",
    ".svg",
    "",
}
# Put together here, so that this file is no hit itself.
MACHINE = re.compile(
    "|".join(
        [
            r"(?<![\w.<>)])/" + "work/",
            r"(?<![\w.])/" + "root/",
            r"/opt/" + "(pypi|wheels)",
            r"\.\./" + "shared",
            "HELPERS" + r"\.md",
            "CONTRACTS" + r"\.md",
            r"\bissues?" + r" #?\d+\b",
        ]
    )
)
SECRET = re.compile(
    "|".join(
        [
            "-----BEGIN " + "[A-Z ]*PRIVATE KEY",
            r"\bgh[pousr]_" + "[A-Za-z0-9]{36}",
            r"\bAKIA" + "(?!IOSFODNN7EXAMPLE)[0-9A-Z]{16}",
            r"\bxox[abpr]-" + "[0-9A-Za-z-]{20,}",
        ]
    )
)
# Samples of what must be refused, in tests of the refusal.
SAMPLES = ("tests/",)
LOCK = "templates/package-lock.json"
REGISTRY = "registry.npmjs.org"


def word_faults(files: Iterable[tuple[str, str]]) -> list[str]:
    faults = []
    for path, text in files:
        for number, line in enumerate(text.splitlines(), start=1):
            if MACHINE.search(line):
                faults.append(f"{path}:{number} speaks of a machine or of how it was written")
            if SECRET.search(line) and not path.startswith(SAMPLES):
                faults.append(f"{path}:{number} holds what looks like a secret")
    return faults


def lock_faults(lock: str) -> list[str]:
    """The lock names the public registry or none, so that it installs everywhere."""
    packages = json.loads(lock)["packages"]
    return [
        f"{LOCK} takes {name} from {host}"
        for name, package in packages.items()
        if (host := urlsplit(package.get("resolved", "")).hostname or REGISTRY) != REGISTRY
    ]


def pin_faults(requirements: str) -> list[str]:
    """Every Python package is pinned with its hash, and no index is named."""
    faults = []
    lines = requirements.replace("\\\n", " ").splitlines()
    for line in lines:
        if line.startswith("-") or "://" in line.split("#")[0]:
            faults.append(f"requirements.txt names a place: {line[:60]}")
        elif (
            line.strip()
            and not line.lstrip().startswith("#")
            and ("==" not in line or "--hash=" not in line)
        ):
            faults.append(f"requirements.txt does not pin: {line[:60]}")
    return faults


def texts() -> Iterator[tuple[str, str]]:
    for path in sorted(ROOT.iterdir()):
        if path.name in {".git", ".venv", ".kaizen"} or path.name.endswith(
            ("_cache", ".hypothesis")
        ):
            continue
        for file in [path] if path.is_file() else sorted(path.rglob("*")):
            if file.is_file() and file.suffix in TEXTS and not SKIPPED.intersection(file.parts):
                yield file.relative_to(ROOT).as_posix(), read(file)


def read(file: Path) -> str:
    return file.read_text(encoding="utf-8", errors="replace")


def test_the_project_speaks_of_itself_alone() -> None:
    assert word_faults(texts()) == []


@pytest.mark.parametrize(
    "line",
    [
        "see /" + "work/notes",
        "cd /" + "root/x",
        "as in iss" + "ue #2",
        "-----BEGIN " + "RSA PRIVATE KEY-----",
    ],
)
def test_a_word_about_elsewhere_is_found(line: str) -> None:
    assert word_faults([("docs/x.md", line)])
    assert word_faults([("docs/x.md", "/home/otto/work/notes and teamwork/x")]) == []


def test_packages_are_pinned_and_come_from_public_places() -> None:
    assert lock_faults(read(ROOT / LOCK)) == []
    assert pin_faults(read(ROOT / "requirements.txt")) == []


def test_a_loose_package_is_found() -> None:
    assert lock_faults('{"packages": {"a": {"resolved": "https://mirror.example/a.tgz"}}}')
    assert pin_faults("django>=5\n")
    assert pin_faults("django==5.2 \\\n    --hash=sha256:00\n") == []
    assert pin_faults("--index-url https://mirror.example\n")
