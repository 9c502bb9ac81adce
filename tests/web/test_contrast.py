"""Colours that are read against each other, in light and in dark (WCAG 2.2, AA)."""

import re
from pathlib import Path

import pytest

TOKENS = Path(__file__).resolve().parents[2] / "templates" / "static" / "css" / "tokens.css"
PAIR = re.compile(r"--([\w-]+): light-dark\((#[0-9a-f]{6}), (#[0-9a-f]{6})\)")
GROUNDS = ("paper", "paper-sunk", "paper-press", "surface", "bubble")
CODE = ("code-key", "code-text", "code-number", "code-name", "code-note")

# What is read on what.
READ = (
    [(text, ground) for text in ("ink", "ink-soft") for ground in GROUNDS]
    + [("ink-faint", ground) for ground in ("paper", "paper-sunk", "surface")]
    + [("accent", ground) for ground in ("paper", "surface", "accent-soft")]
    + [(sign, "surface") for sign in ("good", "warn", "bad")]
    + [(text, "code-ground") for text in CODE]
    + [("accent-ink", "accent"), ("accent-ink", "accent-press"), ("ink", "mark")]
    + [("warn", "warn-soft"), ("bad", "bad-soft")]
    + [("toast-ink", "toast"), ("toast-link", "toast")]
)


def tokens(theme: int) -> dict[str, str]:
    """Colours of one theme by name; 0 is light, 1 dark."""
    found = PAIR.findall(TOKENS.read_text(encoding="utf-8"))
    return {name: (light, dark)[theme] for name, light, dark in found}


def luminance(colour: str) -> float:
    """Relative luminance of #rrggbb."""
    channels = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one: str, other: str) -> float:
    """Contrast ratio of two colours, from 1 to 21."""
    high, low = sorted((luminance(one), luminance(other)), reverse=True)
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("theme", [0, 1], ids=["light", "dark"])
def test_text_can_be_read(theme: int) -> None:
    colours = tokens(theme)
    weak = {
        f"{text} on {ground}": round(contrast(colours[text], colours[ground]), 2)
        for text, ground in READ
        if contrast(colours[text], colours[ground]) < 4.5
    }
    assert weak == {}


@pytest.mark.parametrize("theme", [0, 1], ids=["light", "dark"])
def test_edges_of_fields_and_focus_can_be_seen(theme: int) -> None:
    colours = tokens(theme)
    for edge in ("edge", "accent"):
        for ground in ("paper", "surface"):
            assert contrast(colours[edge], colours[ground]) >= 3, f"{edge} on {ground}"
