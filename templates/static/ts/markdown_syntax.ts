// What our Markdown knows beyond the usual: mathematics, notes, ticked lists and a few harmless
// tags. Pure rules for the parser; what they write is drawn by markdown.ts.
import type { MarkdownIt, StateBlock, StateCore, StateInline, Token } from "markdown-it";

/** Longest formula that is set, in UTF-16 units; more is shown as the text it is. */
export const TEX_CHARACTERS = 2_000;
const BLOCK_MARKS: Readonly<Record<string, string>> = { $$: "$$", "\\[": "\\]" };
const NOTE_TEXT = /^\[\^([^\]\s[]{1,60})\]:[ \t]+(?=\S)/;
const NOTE_MARK = /\[\^([^\]\s[]{1,60})\](?![(:])/y;
const TAG = /<(br|sub|sup|kbd|mark)\s*\/?>/iy;
const TASK = /^\[([ xX])\][ \t]+(?=\S)/;
const WORD = /[\p{L}\p{N}$\\]/u;

export interface Formula {
  readonly tex: string;
  readonly display: boolean;
  readonly end: number;
}

export function extend(parser: MarkdownIt): void {
  const stops = ["paragraph", "reference", "blockquote", "list"];
  parser.block.ruler.before("fence", "math_block", mathBlock, { alt: stops });
  parser.block.ruler.before("reference", "note_text", noteText, { alt: ["paragraph", "reference"] });
  parser.inline.ruler.before("escape", "math", mathInline);
  parser.inline.ruler.before("link", "note_mark", noteMark);
  parser.inline.ruler.before("autolink", "tag", tag);
  parser.core.ruler.before("inline", "lists", lists);
}

/** The formula that opens at `from`, if it is closed before `end`. */
export function formulaAt(text: string, from: number, end: number): Formula | null {
  const two = text.slice(from, from + 2);
  const closer = two === "\\(" ? "\\)" : BLOCK_MARKS[two];
  if (closer !== undefined) {
    const close = closing(text, closer, from + 2, end);
    const tex = text.slice(from + 2, close);
    if (close < 0 || tex.trim() === "" || tex.length > TEX_CHARACTERS) return null;
    return { tex, display: two !== "\\(", end: close + closer.length };
  }
  if (text[from] !== "$" || WORD.test(text[from - 1] ?? " ")) return null;
  const close = closing(text, "$", from + 1, end);
  const tex = text.slice(from + 1, close);
  if (close < 0 || tex === "" || tex.length > TEX_CHARACTERS || tex !== tex.trim()) return null;
  if (/\d/.test(text[close + 1] ?? "") || isMoney(tex)) return null;
  return { tex, display: false, end: close + 1 };
}

/** Under which a note is kept beside link references; no label of a link can read so. */
export function noteKey(parser: MarkdownIt, label: string): string {
  return `\0${parser.utils.normalizeReference(label)}`;
}

function isMoney(tex: string): boolean {
  return /^\d[\d.,]*(?:\s|$)/.test(tex) && !/[\\^_=]/.test(tex) && /\s/.test(tex);
}

function closing(text: string, closer: string, from: number, end: number): number {
  for (let at = from; ; at += 1) {
    at = text.indexOf(closer, at);
    if (at < 0 || at + closer.length > end || at - from > TEX_CHARACTERS) return -1;
    if (!isEscaped(text, at)) return at;
  }
}

function isEscaped(text: string, at: number): boolean {
  let slashes = 0;
  while (text[at - 1 - slashes] === "\\") slashes += 1;
  return slashes % 2 === 1;
}

function mathInline(state: StateInline, silent: boolean): boolean {
  const formula = formulaAt(state.src, state.pos, state.posMax);
  if (!formula) return false;
  if (!silent) push(state, formula.display ? "math_display" : "math_inline", formula.tex);
  state.pos = formula.end;
  return true;
}

function push(state: StateInline | StateBlock, type: string, content: string): Token {
  const token = state.push(type, "", 0);
  token.content = content;
  return token;
}

/** A formula on lines of its own, closed before the next empty line. While a text grows, one
 *  that is not closed yet swallows the rest and shows nothing. */
function mathBlock(state: StateBlock, start: number, end: number, silent: boolean): boolean {
  if (indentation(state, start) > 3) return false;
  const opening = lineOf(state, start);
  const closer = BLOCK_MARKS[opening.slice(0, 2)];
  if (closer === undefined) return false;
  let tex = opening.slice(2).trimEnd();
  let line = start;
  while (!tex.endsWith(closer)) {
    if (tex.includes(closer) || tex.length > TEX_CHARACTERS) return false;
    line += 1;
    if (line >= end) return pending(state, start, end, silent);
    if (state.isEmpty(line) || indentation(state, line) < 0) return false;
    tex += `\n${lineOf(state, line).trimEnd()}`;
  }
  tex = tex.slice(0, -closer.length);
  if (tex.includes(closer) || tex.trim() === "" || tex.length > TEX_CHARACTERS) return false;
  if (silent) return true;
  state.line = line + 1;
  push(state, "math_block", tex).map = [start, line + 1];
  return true;
}

function pending(state: StateBlock, start: number, end: number, silent: boolean): boolean {
  if (state.env.growing !== true || state.level > 0 || state.blkIndent > 0) return false;
  if (silent) return true;
  state.line = end;
  push(state, "math_pending", "").map = [start, end];
  return true;
}

function indentation(state: StateBlock, line: number): number {
  return (state.sCount[line] ?? 0) - state.blkIndent;
}

function lineOf(state: StateBlock, line: number): string {
  const start = (state.bMarks[line] ?? 0) + (state.tShift[line] ?? 0);
  return state.src.slice(start, state.eMarks[line]);
}

function noteText(state: StateBlock, start: number, end: number, silent: boolean): boolean {
  if (indentation(state, start) > 3) return false;
  const found = NOTE_TEXT.exec(lineOf(state, start));
  if (!found) return false;
  if (silent) return true;
  const label = found[1] ?? "";
  let next = start + 1;
  while (next < end && !state.isEmpty(next) && !isStopped(state, next, end)) next += 1;
  const content = state.getLines(start, next, state.blkIndent, false).trim();
  state.line = next;
  state.env.references ??= {};
  const key = noteKey(state.md, label);
  state.env.references[key] ??= { title: "", href: "" };
  const open = state.push("note_open", "p", 1);
  open.map = [start, next];
  open.content = label;
  const inline = state.push("inline", "", 0);
  inline.content = content.slice(found[0].length);
  inline.map = [start, next];
  inline.children = [];
  state.push("note_close", "p", -1);
  return true;
}

function isStopped(state: StateBlock, line: number, end: number): boolean {
  if (indentation(state, line) > 3 || (state.sCount[line] ?? 0) < 0) return false;
  return state.md.block.ruler.getRules("paragraph").some((rule) => rule(state, line, end, true));
}

function noteMark(state: StateInline, silent: boolean): boolean {
  NOTE_MARK.lastIndex = state.pos;
  const found = NOTE_MARK.exec(state.src);
  if (!found || NOTE_MARK.lastIndex > state.posMax) return false;
  const label = found[1] ?? "";
  if (state.env.references?.[noteKey(state.md, label)] === undefined) return false;
  if (!silent) push(state, "note_mark", label);
  state.pos += found[0].length;
  return true;
}

/** `<br>`, and `<sub>`, `<sup>`, `<kbd>`, `<mark>` around text; without attributes. */
function tag(state: StateInline, silent: boolean): boolean {
  TAG.lastIndex = state.pos;
  const found = TAG.exec(state.src);
  if (!found || TAG.lastIndex > state.posMax) return false;
  const name = (found[1] ?? "").toLowerCase();
  const inside = state.pos + found[0].length;
  if (name === "br") {
    if (!silent) state.push("hardbreak", "br", 0);
    state.pos = inside;
    return true;
  }
  const close = state.src.indexOf(`</${name}>`, inside);
  if (close < 0 || close >= state.posMax) return false;
  if (!silent) {
    const max = state.posMax;
    state.push("tag_open", name, 1);
    state.pos = inside;
    state.posMax = close;
    state.md.inline.tokenize(state);
    state.posMax = max;
    state.push("tag_close", name, -1);
  }
  state.pos = close + name.length + 3;
  return true;
}

/** Ticked items, and paragraphs in every item: whether a list is set tight is known only at its
 *  end, and what has been drawn must not change then. */
function lists(state: StateCore): void {
  state.tokens.forEach((token, index) => {
    if (token.type === "paragraph_open" || token.type === "paragraph_close") token.hidden = false;
    if (token.type !== "list_item_open") return;
    const text = state.tokens[index + 2];
    const ticked = text?.type === "inline" ? TASK.exec(text.content) : null;
    if (!ticked || !text) return;
    text.content = text.content.slice(ticked[0].length);
    token.attrSet("class", ticked[1] === " " ? "task" : "task done");
  });
}
