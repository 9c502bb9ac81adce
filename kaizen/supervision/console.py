"""Readable lines from many processes on one terminal."""

import os
import sys
from collections.abc import Iterable

NAME_WIDTH = 8
COLOURS = ("36", "33", "32", "35", "34", "96", "93", "92")
OWN_NAME = "kaizen"


class Console:
    """Prints `name | line`, in a colour per name where the terminal has colours."""

    def __init__(self) -> None:
        self._coloured = sys.stdout.isatty() and not os.environ.get("NO_COLOR")
        self._colours: dict[str, str] = {}

    def say(self, line: str) -> None:
        """A line of the supervisor's own."""
        self.line(OWN_NAME, line)

    def line(self, name: str, line: str) -> None:
        """One line of the named process; blank lines are left out."""
        if not line.strip():
            return
        prefix = f"{name:<{NAME_WIDTH}} | "
        if self._coloured:
            colour = self._colours.setdefault(name, COLOURS[len(self._colours) % len(COLOURS)])
            prefix = f"\x1b[{colour}m{prefix}\x1b[0m"
        self._write(f"{prefix}{line}\n")

    def block(self, lines: Iterable[str]) -> None:
        """Lines that stand apart, for what a person looks for."""
        self._write("\n" + "".join(f"    {line}\n" if line else "\n" for line in lines) + "\n")

    @staticmethod
    def _write(text: str) -> None:
        try:
            sys.stdout.write(text)
            sys.stdout.flush()
        except (BrokenPipeError, OSError):
            # The reader of our output went away or its disk is full; the product goes on.
            sys.stdout = open(os.devnull, "w")  # noqa: SIM115 - lives as long as the process
