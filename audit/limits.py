"""The bounds people meet, each declared once beside the code that enforces it.

A declared limit behaves as the plain integer it is and registers itself, so the "Limits & quotas"
page and the boundary tests read the same values the code obeys. Nothing here enforces anything.
"""

from dataclasses import dataclass
from typing import Literal, Self, get_args

Unit = Literal[
    "bytes",
    "characters",
    "count",
    "days",
    "levels",
    "lines",
    "milliseconds",
    "minutes",
    "per minute",
    "seconds",
]


class Limit(int):
    """An integer that knows its name, unit and meaning. Arithmetic gives plain integers."""

    name: str
    unit: Unit
    meaning: str

    def __new__(cls, value: int, declaration: "Declaration") -> Self:
        made = super().__new__(cls, value)
        made.name = declaration.name
        made.unit = declaration.unit
        made.meaning = declaration.meaning
        return made


@dataclass(frozen=True)
class Declaration:
    """What the registry keeps of one limit: dotted `name`, `value` in `unit`, one sentence for
    people.
    """

    name: str
    value: int
    unit: Unit
    meaning: str


_declared: dict[str, Declaration] = {}


def limit(name: str, value: int, unit: Unit, meaning: str) -> Limit:
    """Declare a limit and return it as an integer.

    `name` is `<area>.<what>` (`canvas.body`); `meaning` is one sentence a member can read and may
    end with the source of the number. Raises `ValueError` for a second declaration of a name, an
    unknown unit or no meaning.
    """
    if name in _declared:
        raise ValueError(f"limit {name} is declared twice")
    if unit not in get_args(Unit):
        raise ValueError(f"limit {name} has the unknown unit {unit}")
    if not meaning.strip():
        raise ValueError(f"limit {name} says nothing about its meaning")
    declaration = Declaration(name=name, value=value, unit=unit, meaning=meaning)
    _declared[name] = declaration
    return Limit(value, declaration)


def declared() -> list[Declaration]:
    """Every limit of the modules loaded so far, sorted by name."""
    return sorted(_declared.values(), key=lambda declaration: declaration.name)
