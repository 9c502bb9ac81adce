// From a model's text to safe elements. Raw HTML is off in the parser, and what it writes goes
// through an allowlist without style or script: reading an answer fetches nothing from outside.
import createDOMPurify, { type Config } from "dompurify";
import MarkdownIt, { type Env, type Token } from "markdown-it";
import { extend } from "./markdown_syntax.ts";
import { showUnfinished } from "./unfinished.ts";

export const ALLOWED_TAGS = [
  "a", "blockquote", "br", "code", "del", "div", "em", "h1", "h2", "h3", "h4", "h5", "h6", "hr",
  "img", "kbd", "li", "mark", "ol", "p", "pre", "s", "span", "strong", "sub", "sup", "table",
  "tbody", "td", "th", "thead", "tr", "ul",
] as const;
export const ALLOWED_ATTRIBUTES = ["class", "href", "start", "dir", "src", "alt"] as const;
const LINK = /^(?:https?:\/\/|mailto:)/i;
// Files of this product, and pictures that are in the text itself: kinds that hold no script.
const OWN_IMAGE = /^\/files\/[\w-]+(?:\/[\w-]+(?:\.[\w-]+)*)*$/;
const DATA_IMAGE = /^data:image\/(?:png|jpeg|gif|webp|avif);base64,[a-z0-9+/]+={0,2}$/i;
const DATA_CHARACTERS = 200_000;

const parser = new MarkdownIt({ html: false, linkify: true, breaks: false, typographer: false });
// Only what says that it is an address becomes a link: `notes.md` is a file.
parser.linkify.set({ fuzzyLink: false, fuzzyEmail: false });
parser.validateLink = (url) => LINK.test(url.trim()) || isShown(url.trim());
extend(parser);
showUnfinished(parser);
writeOwnRules();

/** Link references and notes by label; what is known already may stand in the prototype. */
export type Definitions = NonNullable<Env["references"]>;

/** What other parts of the same text defined, and whether more of it is to come. */
export interface Reading extends Env {
  readonly references: Definitions;
  readonly growing: boolean;
  /** Told by the parser while the text grows: its end is shown exactly as it stands. */
  clean?: boolean;
}

export interface Part {
  readonly html: string;
  readonly start: number;
}

/** A top-level block. A list or table comes in parts: its items, or its rows below the head. */
export interface Block {
  readonly kind: "block" | "list" | "table";
  /** Markup around the parts; a block has none. */
  readonly shell: string;
  readonly parts: Part[];
  /** Where it stands in the text it was read from, in UTF-16 units. */
  readonly start: number;
  readonly end: number;
  /** A formula that is not closed yet: what stands before it may still change. */
  readonly pending: boolean;
  readonly fence: boolean;
}

/** No definitions yet, or those of `known` and what is found beyond them. */
export function definitions(known: Definitions | null = null): Definitions {
  return Object.create(known) as Definitions;
}

/** The top-level blocks of a text, in order. */
export function read(source: string, reading: Reading): Block[] {
  const tokens = parser.parse(source, reading);
  const offsets = lineOffsets(source);
  const found: Block[] = [];
  for (let index = 0; index < tokens.length; index += 1) {
    const first = tokens[index];
    if (!first?.map) continue;
    let last = index;
    if (first.nesting === 1) while (tokens[last]?.level !== 0 || tokens[last]?.nesting !== -1) last += 1;
    found.push(block(tokens.slice(index, last + 1), offsets, source.length, reading));
    index = last;
  }
  return found;
}

/** Adds what `source` defines to `known`. */
export function define(source: string, known: Definitions): void {
  if (source.includes("]:")) parser.block.parse(source, parser, { references: known }, []);
}

/** The labels that a text may look up, as definitions name them. */
export function labelsIn(source: string): Set<string> {
  const labels = source.matchAll(/\[((?:\\[^]|[^[\]\\])+)\]/g);
  const names = new Set<string>();
  for (const [, label = ""] of labels) {
    names.add(parser.utils.normalizeReference(label));
    if (label.startsWith("^")) names.add(`\0${parser.utils.normalizeReference(label.slice(1))}`);
  }
  return names;
}

type Purifier = ReturnType<typeof createDOMPurify>;
const RULES: Config = {
  ALLOWED_TAGS: [...ALLOWED_TAGS],
  ALLOWED_ATTR: [...ALLOWED_ATTRIBUTES],
  ALLOWED_URI_REGEXP: LINK,
  ADD_URI_SAFE_ATTR: ["start", "dir"], // else their values would have to look like links
  ALLOW_DATA_ATTR: false,
  ALLOW_ARIA_ATTR: false,
};

/** A sanitiser bound to a window; links leave it safe to follow. */
export function sanitiser(view: Window & typeof globalThis): (html: string) => DocumentFragment {
  const purifier: Purifier = createDOMPurify(view);
  purifier.addHook("uponSanitizeAttribute", (node, event) => {
    if (event.attrName !== "src") return;
    event.forceKeepAttr = node.nodeName === "IMG" && isShown(event.attrValue);
    if (!event.forceKeepAttr) event.keepAttr = false;
  });
  purifier.addHook("afterSanitizeAttributes", (node) => {
    if (node.nodeName === "IMG" && !node.hasAttribute("src")) return node.remove();
    if (node.nodeName !== "A") return;
    if (!LINK.test(node.getAttribute("href") ?? "")) return node.removeAttribute("href");
    node.setAttribute("target", "_blank");
    node.setAttribute("rel", "noopener noreferrer nofollow");
  });
  return (html) => purifier.sanitize(html, { ...RULES, RETURN_DOM_FRAGMENT: true });
}

/** True for an image that may be shown at once. */
export function isShown(address: string): boolean {
  return OWN_IMAGE.test(address) || (address.length <= DATA_CHARACTERS && DATA_IMAGE.test(address));
}

function block(tokens: Token[], offsets: number[], length: number, reading: Reading): Block {
  const [first, last] = [tokens[0] as Token, tokens.at(-1) as Token];
  const at = (line: number | undefined) => offsets[line ?? 0] ?? length;
  const draw = (part: Token[]) => parser.renderer.render(part, parser.options, reading);
  const place = {
    start: at(first.map?.[0]),
    end: at(first.map?.[1]),
    pending: first.type === "math_pending",
    fence: first.type === "fence",
  };
  if (first.type === "bullet_list_open" || first.type === "ordered_list_open") {
    const items = inside(tokens, "list_item_open", 1);
    const parts = items.map((item) => ({
      html: `<ul>${draw(item)}</ul>`,
      start: at(item[0]?.map?.[0]),
    }));
    return { ...place, kind: "list", shell: draw([first, last]), parts };
  }
  if (first.type === "table_open") {
    const body = tokens.findIndex((token) => token.type === "tbody_open");
    const rows = body < 0 ? [] : inside(tokens.slice(body), "tr_open", 2);
    const parts = rows.map((row) => ({
      html: `<table><tbody>${draw(row)}</tbody></table>`,
      start: at(row[0]?.map?.[0]),
    }));
    const head = tokens.slice(0, body < 0 ? -1 : body);
    return { ...place, kind: "table", shell: draw([...head, last]), parts };
  }
  return { ...place, kind: "block", shell: "", parts: [{ html: draw(tokens), start: place.start }] };
}

/** Runs of tokens from each `opening` of this level to its end. */
function inside(tokens: Token[], opening: string, level: number): Token[][] {
  const runs: Token[][] = [];
  for (const token of tokens) {
    if (token.type === opening && token.level === level) runs.push([]);
    if (token.level >= level && token.type !== "tbody_open") runs.at(-1)?.push(token);
  }
  return runs;
}

function lineOffsets(source: string): number[] {
  const offsets = [0];
  for (let at = source.indexOf("\n"); at !== -1; at = source.indexOf("\n", at + 1)) {
    offsets.push(at + 1);
  }
  return offsets;
}

function writeOwnRules(): void {
  const { rules } = parser.renderer;
  const { escapeHtml } = parser.utils;
  rules.image = (tokens, index, options, env, self) => {
    const token = tokens[index];
    const address = String(token?.attrGet("src") ?? "");
    const label = escapeHtml(self.renderInlineAsText(token?.children ?? [], options, env));
    if (isShown(address)) return `<img src="${escapeHtml(address)}" alt="${label}">`;
    return `<a class="outside-image" href="${escapeHtml(address)}">${label}</a>`;
  };
  rules.math_inline = (tokens, index) => formula("span", "math", tokens[index]);
  rules.math_display = (tokens, index) => formula("span", "math display", tokens[index]);
  rules.math_block = (tokens, index) => formula("div", "math display", tokens[index]);
  rules.math_pending = () => "";
  rules.note_mark = (tokens, index) =>
    `<sup class="note-mark">${escapeHtml(tokens[index]?.content ?? "")}</sup>`;
  rules.note_open = (tokens, index) =>
    `<p class="note-text" dir="auto"><span class="note-label">` +
    `${escapeHtml(tokens[index]?.content ?? "")}</span> `;
  // An ordinary paragraph says its own direction, so that mixed languages read right.
  for (const name of ["paragraph_open", "heading_open", "blockquote_open"]) {
    rules[name] = (tokens, index, options, _env, self) => {
      tokens[index]?.attrSet("dir", "auto");
      return self.renderToken(tokens, index, options);
    };
  }
  // Column alignment comes as a style attribute, which the sanitiser removes.
  for (const name of ["th_open", "td_open"]) {
    rules[name] = (tokens, index, options, _env, self) => {
      const token = tokens[index];
      const style = String(token?.attrGet("style") ?? "");
      if (style.includes("right")) token?.attrSet("class", "align-end");
      if (style.includes("center")) token?.attrSet("class", "align-center");
      return self.renderToken(tokens, index, options);
    };
  }
}

function formula(name: string, kind: string, token: Token | undefined): string {
  return `<${name} class="${kind}">${parser.utils.escapeHtml(token?.content ?? "")}</${name}>`;
}
