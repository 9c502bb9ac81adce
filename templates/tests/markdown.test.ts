import assert from "node:assert/strict";
import { test } from "node:test";
import { JSDOM } from "jsdom";
import { ALLOWED_TAGS, define, definitions, labelsIn, read, sanitiser } from "../static/ts/markdown.ts";

const { window } = new JSDOM("<!doctype html><body></body>");
const clean = sanitiser(window as unknown as Window & typeof globalThis);

function render(source: string): HTMLElement {
  const root = window.document.createElement("div");
  for (const block of read(source, { references: definitions(), growing: false })) {
    const holder = window.document.createElement("div");
    holder.append(clean(block.shell));
    for (const part of block.parts) holder.append(clean(part.html));
    root.append(holder);
  }
  return root;
}

const HOSTILE = [
  "<script>alert(1)</script>",
  "<img src=x onerror=alert(1)>",
  "<svg onload=alert(1)><use href='data:x'></svg>",
  "<iframe src=https://evil.example></iframe>",
  "<style>*{background:url(https://evil.example)}</style>",
  "<a href='javascript:alert(1)'>x</a>",
  "[x](javascript:alert(1))",
  "[x](JaVaScRiPt:alert(1))",
  "[x](data:text/html;base64,PHNjcmlwdD4=)",
  "[x](vbscript:msgbox)",
  "[x](file:///etc/passwd)",
  "[x](/admin/logout)",
  "[x](//evil.example/x)",
  "![x](https://evil.example/pixel.png)",
  "![x][r]\n\n[r]: https://evil.example/pixel.png",
  "[![x](https://evil.example/a.png)](https://evil.example)",
  "<https://evil.example/%22onmouseover=alert(1)>",
  '[x](https://evil.example "a\\" onmouseover=alert(1)")',
  "<form action=https://evil.example><input name=a></form>",
  "<base href=https://evil.example>",
  "<link rel=stylesheet href=https://evil.example/a.css>",
  "<meta http-equiv=refresh content='0;url=https://evil.example'>",
  "<math><mtext><table><mglyph><style><img src=x onerror=alert(1)>",
  "```html\n<script>alert(1)</script>\n```",
  "`<b onclick=alert(1)>`",
  "| a |\n|---|\n| <img src=x> |",
  "<video src=https://evil.example/v.mp4 autoplay></video>",
  "<object data=https://evil.example></object>",
  "<p style='background:url(https://evil.example)'>x</p>",
  "<div class=x id=composer>x</div>",
];

for (const source of HOSTILE) {
  test(`it renders harmlessly: ${source.slice(0, 48)}`, () => {
    const allowed = new Set<string>(ALLOWED_TAGS);
    for (const element of render(source).querySelectorAll("*")) {
      const name = element.localName;
      assert.ok(allowed.has(name), `<${name}> came through`);
      for (const attribute of element.getAttributeNames()) {
        assert.match(attribute, /^(class|href|start|dir|target|rel|src|alt)$/);
      }
      const href = element.getAttribute("href");
      if (href !== null) assert.match(href, /^(https?:\/\/|mailto:)/);
      assert.notEqual(name, "img", "an image came through");
    }
  });
}

test("it lets nothing but the allowlist through even if the parser wrote it", () => {
  const holder = window.document.createElement("div");
  holder.append(clean('<img src="x"><p style="color:red" onclick="x()" id="a">kept</p>'));
  assert.equal(holder.innerHTML, "<p>kept</p>");
});

test("it opens links elsewhere without telling where they were found", () => {
  const link = render("[docs](https://example.org/a)").querySelector("a");
  assert.equal(link?.getAttribute("rel"), "noopener noreferrer nofollow");
  assert.equal(link?.getAttribute("target"), "_blank");
});

test("it leaves an image from outside as a link for the page to frame", () => {
  const link = render("![A *chart*](https://example.org/c.png)").querySelector("a");
  assert.equal(link?.className, "outside-image");
  assert.equal(link?.textContent, "A chart");
  assert.equal(link?.getAttribute("href"), "https://example.org/c.png");
});

test("it shows files of this product and pictures in the text, and nothing like them", () => {
  const shown = (address: string) => render(`![a](${address})`).querySelector("img") !== null;
  assert.ok(shown("/files/7/chart.png"));
  assert.ok(shown("data:image/png;base64,iVBORw0KGgo="));
  for (const address of [
    "/files/../admin/logout",
    "/files/7/chart.png?x=1",
    "/admin/logout",
    "//files/7/a.png",
    "/\\\\files/7/a.png",
    "data:image/svg+xml;base64,PHN2Zz4=",
    "data:text/html;base64,PHA+",
    `data:image/png;base64,${"A".repeat(200_001)}`,
  ]) {
    assert.ok(!shown(address), address);
  }
});

test("it says where each block stands, and the parts of lists and tables", () => {
  const source =
    "# Title\n\nFirst para\nstill first\n\n```py\na = 1\n\nb = 2\n```\n- x\n\n- y\n\n|a|\n|-|\n|b|\n|c|";
  const found = read(source, { references: definitions(), growing: false });
  assert.deepEqual(
    found.map((block) => [block.kind, block.parts.length, source.slice(block.start, block.end).trim()]),
    [
      ["block", 1, "# Title"],
      ["block", 1, "First para\nstill first"],
      ["block", 1, "```py\na = 1\n\nb = 2\n```"],
      ["list", 2, "- x\n\n- y"],
      ["table", 2, "|a|\n|-|\n|b|\n|c|"],
    ],
  );
});

test("it names every label that a text may look up", () => {
  const known = definitions();
  define("> [One  two]: https://example.org\n\n[^n]: note", known);
  const labels = labelsIn("[x][one two] and [^n] and [a [nested]]");
  for (const label of Object.keys(known)) assert.ok(labels.has(label), label);
});

test("it reads mathematics but no prices", () => {
  const formulas = (source: string) =>
    [...render(source).querySelectorAll(".math")].map((each) => each.textContent?.trim());
  assert.deepEqual(formulas("$a+b$ and \\(c\\) and $$d$$"), ["a+b", "c", "d"]);
  assert.deepEqual(formulas("$$\na\n- b\n$$\n\n\\[\nx\n\\]"), ["a\n- b", "x"]);
  assert.deepEqual(formulas("from $5 to $6, US$7 and 8$, `$a$`, $ a $, $$open"), []);
});

test("it keeps where a list starts and lets every paragraph say its direction", () => {
  const root = render("7. seven\n8. eight\n\nשלום");
  assert.equal(root.querySelector("ol")?.getAttribute("start"), "7");
  assert.equal(root.querySelector("div > p")?.getAttribute("dir"), "auto");
});
