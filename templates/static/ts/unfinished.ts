// While a text grows: what of its end is not shown yet because the next characters may still
// decide what it is, and how an open construct looks before it is closed. Pure.
import type { MarkdownIt, StateCore, StateInline, Token } from "markdown-it";
import { formulaAt, TEX_CHARACTERS } from "./markdown_syntax.ts";

const LONGEST_MARK = 200; // a line that is longer than this says already what it is
const LABEL_CHARACTERS = 300;
const ADDRESS_CHARACTERS = 4_000;
const CONTAINERS = /^[ \t>]*(?:(?:[-*+]|\d{1,9}[.)])[ \t]+)*(?:[ \t>]*>)?[ \t]*/;
// Marks alone, a number that may begin a list, a label that may be a definition.
const UNDECIDED = /^(?:[-=*_+#`~|:.!<$&\\)\]>[(\s]*|\d{1,9}[.)]?|\[[^\]]{0,40}\]?|\[[ xX]\]\s*|\[\^[^\]]*\]:?\s*|\\\[\s*)$/;
const DEFINITION = /^\[(?!\^)[^\]]{1,200}\]:/;
const FENCE = /^(?:`{3,}|~{3,})/;
const OPEN_CODE = /^ {0,3}[`~]+[ \t]*$/;
const OPEN_ADDRESS = /(?:^|[\s(<])https?(?::(?:\/(?:\/\S*)?)?)?$/i;
const OPEN_TAG = /^<\/?[a-z][^\s<>]*$/i;
const OPEN_ENTITY = /&#?[a-z0-9]{0,31}$/i;
const OPEN_PICTURE = /(?:^|\s)!$/;

/** Where the part of `source` begins that is not shown yet: its length if all of it is. `from` is
 *  where the open block begins, which may be fenced code or a table whose head is known. */
export function heldFrom(source: string, from: number, kind: "code" | "table" | ""): number {
  const start = Math.max(from, source.lastIndexOf("\n") + 1);
  const line = source.slice(start);
  if (kind === "code") return OPEN_CODE.test(line) ? start : source.length;
  const held = line !== "" && isUndecided(line) ? start : source.length;
  return kind === "table" ? held : (tableFrom(source, from, held) ?? held);
}

function isUndecided(line: string): boolean {
  const text = line.slice((CONTAINERS.exec(line.slice(0, LONGEST_MARK)) ?? [""])[0].length);
  if (DEFINITION.test(text) || FENCE.test(text)) return true;
  return line.length <= LONGEST_MARK && UNDECIDED.test(text);
}

/** Where the head of a table begins whose second line is not complete yet. */
function tableFrom(source: string, from: number, end: number): number | null {
  const rows: number[] = [];
  let start = source.lastIndexOf("\n", end - 2) + 1;
  while (rows.length < 3 && start >= from && /^ {0,3}\|/.test(source.slice(start, start + 4))) {
    rows.push(start);
    start = start > from ? source.lastIndexOf("\n", start - 2) + 1 : -1;
  }
  const [second, head] = rows;
  if (rows.length === 1) return second ?? null;
  return rows.length === 2 && source[end - 1] !== "\n" ? (head ?? null) : null;
}

/** The text of an open paragraph without what is still undecided at its end. */
export function cutUnfinished(text: string): string {
  let closed = 0; // what stands before it cannot be an open end
  const cutBefore = (end: number) => text.slice(0, closed) + cutEnd(text.slice(closed, end));
  for (let at = 0; at < text.length; ) {
    const step = STEPS[text[at] ?? ""];
    if (step === undefined) {
      at += 1;
      continue;
    }
    const next = step(text, at);
    if (typeof next === "string") return next === "" ? cutBefore(at) : text.slice(0, at) + next;
    if (next > at + 2) closed = next;
    at = next;
  }
  return cutBefore(text.length);
}

// From an opening mark: where reading goes on, or what is shown from there while it is open.
type Step = (text: string, at: number) => number | string;
const STEPS: Readonly<Record<string, Step>> = {
  "\\": (text, at) => {
    if (at + 1 === text.length) return "";
    return "([".includes(text[at + 1] ?? "") ? openFormula(text, at) : at + 2;
  },
  "`": openCode,
  $: openFormula,
  "<": (text, at) => (OPEN_TAG.test(text.slice(at, at + ADDRESS_CHARACTERS)) ? "" : at + 1),
  "!": (text, at) => (text[at + 1] === "[" ? openImage(text, at) : at + 1),
  "[": openLink,
};

function openCode(text: string, at: number): number | string {
  const ticks = /^`+/.exec(text.slice(at, at + LONGEST_MARK))?.[0] ?? "`";
  const inside = at + ticks.length;
  for (let close = inside; (close = text.indexOf(ticks, close)) >= 0; ) {
    let end = close;
    while (text[end] === "`") end += 1;
    if (end - close === ticks.length) return end;
    close = end;
  }
  const code = text.slice(inside).replace(/`+$/, "");
  return code.trim() === "" ? "" : ticks + code + ticks;
}

function openFormula(text: string, at: number): number | string {
  const formula = formulaAt(text, at, text.length);
  if (formula) return formula.end;
  const mark = text.startsWith("$$", at) || text[at] === "\\" ? 2 : 1;
  const rest = text.slice(at + mark);
  if (rest.length >= TEX_CHARACTERS) return at + mark;
  const isShort = rest.length < LONGEST_MARK && /^(?:$|[^\s\d$])/.test(rest) && !rest.includes("$");
  return mark === 2 || isShort ? "" : at + mark;
}

function openImage(text: string, at: number): number | string {
  const { end } = link(text, at + 1);
  return end < 0 ? "" : end;
}

function openLink(text: string, at: number): number | string {
  const { labelEnd, end } = link(text, at);
  if (end >= 0) return end;
  if (labelEnd >= 0) return text.slice(at + 1, labelEnd);
  const label = text.slice(at + 1);
  return label.startsWith("^") ? "" : cutUnfinished(label);
}

/** Where the label of a link ends, and where the link does; below 0 while that is open. */
function link(text: string, at: number): { labelEnd: number; end: number } {
  const labelEnd = matching(text, at, "[", "]", LABEL_CHARACTERS);
  if (labelEnd < 0) return { labelEnd, end: text.length - at > LABEL_CHARACTERS ? at + 1 : -1 };
  const after = text[labelEnd + 1];
  if (after === undefined) return { labelEnd, end: -1 };
  if (after !== "(" && after !== "[") return { labelEnd, end: labelEnd + 1 };
  const close = after === "(" ? ")" : "]";
  const far = text.length - labelEnd > ADDRESS_CHARACTERS;
  const end = matching(text, labelEnd + 1, after, close, ADDRESS_CHARACTERS);
  return { labelEnd, end: end < 0 ? (far ? labelEnd + 1 : -1) : end + 1 };
}

function matching(text: string, at: number, open: string, close: string, reach: number): number {
  let depth = 0;
  for (let index = at; index < text.length && index - at <= reach; index += 1) {
    const character = text[index];
    if (character === "\\") index += 1;
    else if (character === open) depth += 1;
    else if (character === close) {
      depth -= 1;
      if (depth === 0) return index;
    }
  }
  return -1;
}

function cutEnd(text: string): string {
  const known = text
    .replace(OPEN_ADDRESS, (found) => (/^[\s(<]/.test(found) ? (found[0] ?? "") : ""))
    .replace(OPEN_ENTITY, "");
  let end = known.length;
  while (end > 0 && "*_~".includes(known[end - 1] ?? "")) end -= 1;
  if (OPEN_PICTURE.test(known.slice(Math.max(0, end - 2), end))) end -= 1;
  return known.slice(0, end);
}

/** Makes the parser show the last text of a growing source as if its open marks were closed.
 *  Says in `env.clean` whether that text stands in the source as it is shown. */
export function showUnfinished(parser: MarkdownIt): void {
  parser.inline.ruler2.push("open_marks", (state: StateInline) => {
    if (state.env.growing !== true) return false;
    state.env.openMarks = state.delimiters
      .filter((mark) => mark.open && mark.end === -1)
      .map((mark) => (mark.marker === 0x7e ? "~~" : String.fromCharCode(mark.marker)));
    return false;
  });
  parser.core.ruler.before("inline", "unfinished", (state: StateCore) => {
    if (state.env.growing !== true) return;
    const token = lastText(state.tokens);
    const text = token ? cutUnfinished(token.content) : "";
    state.env.clean = text === token?.content;
    if (token) token.content = text;
  });
  parser.core.ruler.after("inline", "closed_marks", (state: StateCore) => {
    const token = state.env.growing === true ? lastText(state.tokens) : undefined;
    const open = token ? (state.env.openMarks as string[]).reverse().join("") : "";
    if (!token || open === "") return;
    token.children = [];
    parser.inline.parse(token.content.trimEnd() + open, parser, state.env, token.children);
  });
}

/** The text that the source ends with: in the last block, and there in the last item or row. */
function lastText(tokens: readonly Token[]): Token | undefined {
  for (let index = tokens.length - 1; index >= 0; index -= 1) {
    const token = tokens[index] as Token;
    if (token.type === "inline" && token.content !== "") return token;
    if (token.nesting === 0 && token.type !== "inline") return undefined;
    const isPart = token.type === "list_item_open" || token.type === "tr_open";
    if (token.nesting === 1 && (isPart || token.level === 0)) return undefined;
  }
  return undefined;
}
