import assert from "node:assert/strict";
import { test } from "node:test";
import { Growing } from "../static/ts/growing.ts";
import growing from "./growing_texts.json" with { type: "json" };
import { load } from "./page.ts";

const { prose, ProseView } = await load();
type View = InstanceType<typeof ProseView>;

// The same texts are drawn in a browser by the journeys.
const { fences: FENCES, late: LATE, texts: TEXTS } = growing as {
  fences: string[];
  late: string;
  texts: string[];
};

function html(view: View): string {
  view.root.normalize();
  return view.root.innerHTML;
}

/** What a reader can read, without what only screen readers are told. */
function words(root: HTMLElement): string {
  const copy = root.cloneNode(true) as HTMLElement;
  for (const hidden of copy.querySelectorAll(".visually-hidden, .code-head, .math")) hidden.remove();
  return copy.textContent ?? "";
}

function whole(text: string): string {
  const view = new ProseView();
  view.update(text, true);
  return html(view);
}

function grown(text: string, ends: Iterable<number>, seen?: (root: HTMLElement) => void): View {
  const view = new ProseView();
  for (const end of ends) {
    view.update(text.slice(0, end), false);
    seen?.(view.root);
  }
  view.update(text, true);
  return view;
}

/** How many characters are read for a text that comes in pieces of `size`. */
function reading(text: string, size: number): number {
  const growing = new Growing();
  for (const end of steps(text.length, size)) {
    const source = text.slice(0, end);
    if (growing.addition(source) === null) growing.update(source, false);
    else growing.accept(source);
  }
  growing.update(text, true);
  return growing.parsed;
}

function* steps(length: number, size: number): Iterable<number> {
  for (let end = size; end < length + size; end += size) yield Math.min(end, length);
}

test("a text ends the same wherever it is cut in two", () => {
  const drawn = (text: string, cuts: number[]) => {
    const growing = new Growing();
    for (const cut of cuts) growing.update(text.slice(0, cut), false);
    growing.update(text, true);
    return growing.blocks.map(({ kind, shell, parts }) => ({ kind, shell, parts }));
  };
  for (const text of TEXTS) {
    const expected = drawn(text, []);
    for (let cut = 0; cut <= text.length; cut += 1) {
      assert.deepEqual(drawn(text, [cut, text.length]), expected, `cut at ${cut}: ${text}`);
    }
  }
});

test("a text ends the same in pieces of any size", () => {
  for (const text of TEXTS) {
    const expected = whole(text);
    for (const size of [1, 2, 3, 5, 8, 21]) {
      assert.equal(html(grown(text, steps(text.length, size))), expected, `by ${size}: ${text}`);
    }
  }
});

test("mixed constructs end the same in random pieces", () => {
  const marks = ["**", "*", "_", "`", "```", "\n", "\n\n", "- ", "1. ", "> ", "| ", " | ", "|-|-|\n", "[", "](https://x.test)",
    "[r]", "[r]: https://r.test\n", "[^n]", "[^n]: note\n", "$", "$$", "\\[", "\\]", "#", "# ", "  ", "    ", "word", "two words ",
    "a.b", "https://y.test/z", "![", "<br>", "&amp;", "\\", "~~", "---\n", "===\n", "- [x] ", "é", "😀", "!", ":"];
  let seed = 7;
  const next = (below: number) => {
    seed = (seed * 1_103_515_245 + 12_345) % 2_147_483_648;
    return Math.floor((seed / 2_147_483_648) * below);
  };
  for (let round = 0; round < 250; round += 1) {
    let text = "";
    for (let count = 6 + next(30); count > 0; count -= 1) text += marks[next(marks.length)];
    const ends: number[] = [];
    for (let end = 0; end < text.length; end += 1 + next(6)) ends.push(end);
    assert.equal(html(grown(text, [...ends, text.length])), whole(text), JSON.stringify([text, ends]));
  }
});

test("a fence that is still being written is not shown as ticks", () => {
  const view = new ProseView();
  let text = "";
  for (const piece of FENCES) {
    text += piece;
    view.update(text, false);
    assert.doesNotMatch(words(view.root), /`/);
  }
  view.update(text, true);
  const blocks = [...view.root.children].map((block) => {
    const code = block.querySelector("code");
    return code ? `${block.querySelector(".code-head span")?.textContent}:${code.textContent}` : block.textContent;
  });
  assert.deepEqual(blocks.map((text) => text?.trim()), ["Look:", "ruby:puts 1", "End.", "text:z"]);
});

test("no construct is shown as marks while it is being written", () => {
  const written: [string, RegExp][] = [
    ["A **bold** and *light* ~~old~~ `code` word, ***all*** of it.", /[*~`]/],
    ["See [the docs](https://docs.example.org/a(b)/c_d) and ![a picture](https://x.example.org/y.png) here.", /[[\]]|\]\(|https/],
    ["Sum $a_1 + b$, \\(c\\) and\n\n$$\nx = \\frac{1}{2}\n$$\n\nthen\n\n\\[ y \\]\n\nend", /[$\\]|\( *c/],
    ["Rows:\n\n| name | **size** |\n|:-----|------|\n| a | *1* |\n| b | `2` |\n\nend", /[|*`]|--/],
    ["Text\n- one\n- **two**\n1. three\n> four\n## five\n---\n~~~\nsix\n~~~\n", /[-*#>~]|\d/],
    ["Some [link][d].\n\n[d]: https://docs.example.org/a \"title\"\n", /\]:|docs|title/],
    ["- [ ] open\n- [x] done\n", /[[\]x]/],
  ];
  for (const [text, marks] of written) {
    const isShown = (root: HTMLElement) => assert.doesNotMatch(words(root).trim(), marks, text);
    if (!text.includes("][")) grown(text, steps(text.length, 1), isShown);
    else grown(text, steps(text.length, 1), (root) => assert.doesNotMatch(words(root), marks));
  }
});

test("a block never turns into another kind while it grows", () => {
  for (const text of TEXTS.slice(0, 6)) {
    const kinds: string[] = [];
    grown(text, steps(text.length, 1), (root) => {
      [...root.children].forEach((block, index) => {
        const kind = block.firstElementChild?.localName;
        if (kind === undefined) return;
        kinds[index] ??= kind;
        // A line of text that a rule of marks below it makes a title is the one exception.
        if (!text.includes("===")) assert.equal(kind, kinds[index], text);
      });
    });
  }
});

test("words that are defined at the end become links in what was drawn long before", () => {
  const filler = "word word word word word word word word.\n\n".repeat(500);
  const text = `${LATE}${filler}[d]: https://docs.example.org/a\n[^n]: Said once.\n`;
  const view = grown(text, steps(text.length, 43));
  assert.equal(html(view), whole(text));
  assert.equal(view.root.querySelector("a")?.getAttribute("href"), "https://docs.example.org/a");
  assert.equal(view.root.querySelectorAll("a[href]").length, 4);
  assert.equal(view.root.querySelector(".note-mark")?.textContent, "n");
});

test("what is read stays a small multiple of the text, whatever grows", () => {
  const line = "plain words and **some** that are `marked`, ";
  const written: Record<string, string> = {
    paragraphs: "word word word word word word word word.\n\n".repeat(500),
    items: `- ${line}\n`.repeat(300),
    rows: `| a | b |\n|---|---|\n${`| ${line} | 2 |\n`.repeat(300)}`,
    code: `\`\`\`py\n${"value = compute(1, 2)  # why\n".repeat(700)}\`\`\`\n`,
    paragraph: line.repeat(400),
    quote: `> ${line}\n`.repeat(300),
    references: `${"[a] ".repeat(50)}\n\n${"[x]: https://x.test/path\n".repeat(300)}`,
  };
  for (const [name, text] of Object.entries(written)) {
    const parsed = reading(text, 4);
    assert.ok(parsed < 20 * text.length, `${name}: ${(parsed / text.length).toFixed(1)}`);
  }
});

test("a text that turns out to be another one is drawn anew", () => {
  const view = new ProseView();
  view.update("First *words*\n\nand more", false);
  view.update("Other words\n\n- here", false);
  view.update("Other words\n\n- here", true);
  assert.equal(html(view), whole("Other words\n\n- here"));
  view.update("Other words\n\n- here\n- and on", true);
  assert.equal(html(view), whole("Other words\n\n- here\n- and on"));
});

test("an open block keeps its elements while words are added", () => {
  const view = new ProseView();
  view.update("Some words", false);
  const paragraph = view.root.querySelector("p");
  view.update("Some words and more of them", false);
  assert.equal(view.root.querySelector("p"), paragraph);
  assert.equal(paragraph?.textContent, "Some words and more of them");
});

test("links say where they lead when their text says something else", () => {
  const shown = (text: string) => words(prose(text)).trim();
  assert.equal(shown("[docs](https://docs.example.org/a)"), "docs");
  assert.equal(shown("[package.json](https://code.example.org/a)"), "package.json");
  assert.equal(shown("[example.org](https://docs.example.org)"), "example.org");
  assert.equal(shown("[bank.example](https://thief.example/a)"), "bank.example (thief.example)");
  assert.equal(shown("[ok](https://bank.example@thief.example)"), "ok (thief.example)");
  assert.equal(shown("[x](https://аpple.com)"), "x (xn--pple-43d.com)");
  assert.equal(shown("https://аpple.com"), "https://аpple.com (xn--pple-43d.com)");
  assert.equal(shown("[\u202egro.elpmaxe](https://thief.example)"), "\\u202egro.elpmaxe (thief.example)");
});

test("an image from outside is a note of where it is, with a button", () => {
  const root = prose("![A chart](https://pixel.example.org/p.png)");
  assert.equal(root.querySelector("img"), null);
  assert.equal(root.querySelector(".host")?.textContent, "pixel.example.org");
  assert.equal(root.querySelector("a.button")?.getAttribute("rel"), "noopener noreferrer nofollow");
});

test("mathematics is set, and what cannot be is shown as it was written", async () => {
  const root = prose("$x^2$ and $\\href{https://x.test}{y}$ and $\\frac{1$ and\n\n$$\\def\\a{\\a\\a}\\a$$");
  await new Promise((resolve) => setTimeout(resolve, 500));
  const states = [...root.querySelectorAll<HTMLElement>(".math")].map((each) => each.dataset.state);
  assert.deepEqual(states, ["set", "set", "plain", "plain"]);
  assert.equal(root.querySelectorAll("a, img").length, 0);
  assert.ok(root.querySelector("math"));
});

test("texts made to be slow are read as quickly as others", () => {
  const many = 4_000;
  const made: string[] = [
    "[".repeat(many), "![".repeat(many), "*".repeat(many) + "x", "`a``b```".repeat(many / 8), "$".repeat(many),
    "<sub>".repeat(many / 5), "<".repeat(many), "> ".repeat(many / 2), `[${"a".repeat(many)}](https://x.test)`,
    "\\".repeat(many) + "(", " ".repeat(many) + "x", "| ".repeat(many / 2), "[a](".repeat(many / 4), "&".repeat(many),
    "- ".repeat(many / 2), "$$\n".repeat(many / 3), "[^a]".repeat(many / 4), "~~a".repeat(many / 3),
  ];
  for (const text of made) {
    const growing = new Growing();
    // One that is searched again from each of its marks would not end within the test.
    for (const end of steps(text.length, 1_000)) growing.update(text.slice(0, end), false);
    growing.update(text, true);
    assert.ok(growing.parsed <= 20 * text.length, text.slice(0, 8));
  }
  assert.ok(words(prose(made[8] ?? "")).startsWith("aaa"));
});
