import assert from "node:assert/strict";
import { test } from "node:test";
import { JSDOM } from "jsdom";
import { ALLOWED_TAGS, blocks, sanitiser } from "../static/ts/markdown.ts";

const { window } = new JSDOM("<!doctype html><body></body>");
const clean = sanitiser(window as unknown as Window & typeof globalThis);

function render(source: string): HTMLElement {
  const root = window.document.createElement("div");
  for (const block of blocks(source, {})) root.append(clean(block.html));
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
        assert.match(attribute, /^(class|href|start|dir|target|rel)$/);
      }
      const href = element.getAttribute("href");
      if (href !== null) assert.match(href, /^(https?:\/\/|mailto:)/);
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

test("it shows an image as a link with its description", () => {
  const link = render("![A chart](https://example.org/c.png)").querySelector("a");
  assert.equal(link?.textContent, "A chart");
  assert.equal(link?.getAttribute("href"), "https://example.org/c.png");
});

test("it says where each finished block ends, so that streaming parses only the last one", () => {
  const source = "# Title\n\nFirst para\nstill first\n\n```py\na = 1\n\nb = 2\n```\n- x\n\n- y";
  const found = blocks(source, {});
  const parts = found.map((block, index) =>
    source.slice(found[index - 1]?.end ?? 0, block.end).trim(),
  );
  assert.deepEqual(parts, [
    "# Title",
    "First para\nstill first",
    "```py\na = 1\n\nb = 2\n```",
    "- x\n\n- y",
  ]);
});

test("it keeps where a list starts and lets every paragraph say its direction", () => {
  const root = render("7. seven\n8. eight\n\nשלום");
  assert.equal(root.querySelector("ol")?.getAttribute("start"), "7");
  assert.equal(root.querySelector("div > p")?.getAttribute("dir"), "auto");
});
