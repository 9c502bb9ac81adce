"""A file taken from the audit proves its rows, and says plainly what it cannot prove."""

import json
import random
from collections.abc import Callable
from datetime import UTC, datetime
from io import StringIO
from pathlib import Path
from uuid import uuid4

import pytest
from django.core.management import CommandError, call_command

from audit import anchors, chains, explorer, exports, funnel
from audit.reasons import Action, Outcome
from audit.verification import Place

pytestmark = pytest.mark.django_db

SEED = 20_241
EDITS = 100
ROWS = 12


@pytest.fixture
def actor() -> str:
    """Somebody with a dozen rows in one chain."""
    actor = f"member:{uuid4()}"
    # All rows of a transaction go to one chain: this one stands before the dozen.
    funnel.record(action=Action.SIGN_IN, actor=f"member:{uuid4()}", outcome=Outcome.SUCCESS)
    for number in range(ROWS):
        funnel.record(
            action=Action.TOKEN_CREATED,
            actor=actor,
            outcome=Outcome.SUCCESS,
            subject=("token", str(number)),
            run_id=uuid4() if number % 3 == 0 else None,
            details={"count": number},
        )
    return actor


def write(path: Path, filters: dict[str, str], *, as_csv: bool = False) -> Path:
    heads = anchors.heads()
    heading = exports.Heading(heads.at, filters, tuple(Place(*place) for place in heads.places))
    rows = list(explorer.matching(filters).order_by("chain", "sequence"))
    path.write_text(exports.comma_separated(rows) if as_csv else exports.json_lines(heading, rows))
    return path


@pytest.fixture
def file(actor: str, tmp_path: Path) -> Path:
    return write(tmp_path / "audit.jsonl", {"actor": actor})


def said(path: Path, *options: str) -> str:
    out = StringIO()
    call_command("verify_audit", export=path, alone="alone" in options, stdout=out)
    return out.getvalue()


def refused(path: Path, *options: str) -> str:
    with pytest.raises(CommandError) as error:
        call_command("verify_audit", export=path, alone="alone" in options, stderr=StringIO())
    return str(error.value)


def test_a_filtered_file_is_verified_and_says_what_it_cannot_show(file: Path) -> None:
    told = said(file)
    assert f"as it was written: {ROWS} rows, {ROWS - 1} tied" in told
    assert "cannot show that no other rows would have fitted" in told
    assert "Nothing was compared with the database" in said(file, "alone")


@pytest.mark.parametrize("as_csv", [False, True])
def test_both_forms_carry_the_same_rows(actor: str, tmp_path: Path, as_csv: bool) -> None:
    path = write(tmp_path / "file", {"actor": actor}, as_csv=as_csv)
    checked = exports.check(path)
    assert (checked.rows, checked.linked, checked.broken) == (ROWS, ROWS - 1, [])
    assert checked.compared == ROWS


def test_a_file_of_everything_shows_missing_rows_too(actor: str, tmp_path: Path) -> None:
    path = write(tmp_path / "all.jsonl", {})
    assert exports.check(path).broken == []
    heading, *rows, _ = path.read_text().splitlines()
    index = next(n for n, row in enumerate(rows) if actor in row and n + 1 < len(rows))
    path.write_text(closed([heading, *rows[:index], *rows[index + 1 :]]))
    assert "missing" in refused(path)


def closed(lines: list[str]) -> str:
    """The lines with a last line that fits them: what somebody would write who cheats."""
    closing = {"rows": len(lines) - 1, "digest": exports._digest(lines)}
    return "".join(f"{line}\n" for line in (*lines, json.dumps(closing)))


def change(lines: list[str], chance: random.Random) -> int:
    """Change one value of one row; answers the number of its line."""
    number = chance.randrange(1, len(lines))
    row = json.loads(lines[number])
    name = chance.choice(exports.COLUMNS)
    if name == "details":
        row[name] = {"count": 1_000}
    elif name == "run_id":
        row[name] = str(uuid4())
    elif name == "at":
        row[name] = datetime(2000, 1, 1, tzinfo=UTC).isoformat()
    elif isinstance(row[name], int):
        row[name] = (row[name] + chance.randrange(1, 5)) % (16 if name == "chain" else 10**6)
    else:
        row[name] = f"{row[name]}x"
    lines[number] = json.dumps(row)
    return number + 1


def rehash(lines: list[str], chance: random.Random) -> int:
    """Change a row and give it the hash that fits."""
    number = chance.randrange(1, len(lines))
    (line,) = exports._read_json(closed([lines[0], lines[number]])).rows
    row = chains.Row(**{**line.row.__dict__, "actor": "member:somebody"})
    value = json.loads(lines[number])
    value |= {"actor": row.actor, "hash": chains.row_hash(line.previous_hash, row)}
    lines[number] = json.dumps(value)
    return number + 1


def swap(lines: list[str], chance: random.Random) -> int:
    number = chance.randrange(1, len(lines) - 1)
    lines[number], lines[number + 1] = lines[number + 1], lines[number]
    return number + 2


def double(lines: list[str], chance: random.Random) -> int:
    number = chance.randrange(1, len(lines))
    lines.insert(number, lines[number])
    return number + 2


@pytest.mark.parametrize("edit", [change, rehash, swap, double])
def test_the_first_broken_row_of_a_forged_file_is_named(
    file: Path, edit: Callable[[list[str], random.Random], int]
) -> None:
    chance = random.Random(SEED)
    honest = file.read_text().splitlines()[:-1]
    found = 0
    for _ in range(EDITS):
        lines = list(honest)
        line = edit(lines, chance)
        file.write_text(closed(lines))
        found += f"The first is line {line}:" in refused(file)
    assert found == EDITS


def test_a_line_taken_away_shows_in_the_last_line(file: Path) -> None:
    lines = file.read_text().splitlines()
    file.write_text("\n".join([*lines[:-2], lines[-1]]) + "\n")
    assert "The first is the file: changed" in refused(file)


def test_a_chain_rewritten_to_its_end_is_found_beside_the_database_only(file: Path) -> None:
    lines = file.read_text().splitlines()[:-1]
    previous = ""
    for number in range(3, len(lines)):
        (line,) = exports._read_json(closed([lines[0], lines[number]])).rows
        row = chains.Row(**{**line.row.__dict__, "details": {"count": 99}})
        previous = previous or line.previous_hash
        hash_ = chains.row_hash(previous, row)
        value = json.loads(lines[number])
        value |= {"details": {"count": 99}, "previous_hash": previous, "hash": hash_}
        lines[number] = json.dumps(value)
        previous = hash_
    file.write_text(closed(lines))
    assert "as it was written" in said(file, "alone")
    assert "The first is line 4: changed" in refused(file)


@pytest.mark.parametrize(
    "text",
    ["", "{}\n{}\n", "[]\n", "chain,sequence\n1,2\n", "\0\n\0\n", '{"format":1}\n', "chain"],
)
def test_a_file_that_is_no_export_is_refused_in_words(tmp_path: Path, text: str) -> None:
    path = tmp_path / "file"
    path.write_text(text)
    assert refused(path)


def test_a_file_that_is_not_there_is_refused_in_words(tmp_path: Path) -> None:
    assert "cannot be read" in refused(tmp_path / "none")
