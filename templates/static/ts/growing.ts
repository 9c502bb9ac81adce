// A Markdown text that grows. Finished blocks are read once; of an open list or table only the
// last part is read again, and plain words at the end are not read at all. However the text is
// cut into pieces, the blocks at the end are those of the whole text. Pure.
import { define, definitions, labelsIn, read, type Block, type Reading } from "./markdown.ts";
import { heldFrom } from "./unfinished.ts";

// What may be read in all: a multiple of the text, and something to begin with. Past that, an open
// part that is long is read less often; what its reading costs is what others have left.
const READ_TIMES = 12;
const READ_BEFORE = 8_000;
const LONG_PART = 300;
const PLAIN = /^[\p{L}\p{N}\p{M} ,;]+$/u;
const PLAIN_END = /[\p{L}\p{N},;]$/u;
const OPEN_WORD = /[:/@&\\<]\S*$/; // a word at the end that may still become something else
const LOOK_BACK = 200;

/** A block as it is to be drawn. Its parts never change again below `fixed`, and those below
 *  `from` are as they were in the version before. */
export interface Drawn {
  kind: Block["kind"];
  shell: string;
  parts: string[];
  fixed: number;
  from: number;
  start: number;
  end: number;
  version: number;
  labels: Set<string> | null;
}

export class Growing {
  readonly blocks: Drawn[] = [];
  /** Characters given to the parser so far. */
  parsed = 0;
  #source = "";
  #settled = false;
  /** Where reading begins, in which block, and the head of the table it belongs to. */
  #from = 0;
  #open = 0;
  #head = "";
  /** Definitions of finished text, and those that the open end makes. */
  #known = definitions();
  #found = definitions();
  #told = new Map<string, string>();
  #shown = 0; // how much of the source the blocks show
  #end: "text" | "code" | "" = "";
  #inCode = false;

  /** How many blocks are finished. */
  get done(): number {
    return this.#settled ? this.blocks.length : this.#open;
  }

  /** True while the end stands in a fenced block. */
  get inCode(): boolean {
    return this.#inCode;
  }

  /** Takes the whole text so far. The first block that may have changed, or -1. */
  update(source: string, settled: boolean): number {
    if (source === this.#source && (settled === this.#settled || this.#settled)) return -1;
    if (this.#settled || !goesOn(source, this.#source.slice(0, this.#from))) this.#restart(0);
    const isWaiting = !settled && this.#isEarly(source.length);
    this.#source = source;
    this.#settled = settled;
    this.#end = "";
    if (isWaiting) return -1;
    const changed = this.#open;
    this.#read();
    return Math.min(changed, this.#redraw(changed));
  }

  /** What `source` adds if it can be put after the last text as it is; null if it has to be read. */
  addition(source: string): string | null {
    if (this.#end === "" || this.#settled || this.#shown === 0) return null;
    if (source.length <= this.#source.length || !goesOn(source, this.#source)) return null;
    const added = source.slice(this.#source.length);
    if (this.#end === "code") {
      return this.#shown === this.#source.length && !/[`~\0]/.test(added) ? added : null;
    }
    const last = this.#source.slice(Math.max(0, this.#shown - LOOK_BACK), this.#shown);
    if (!PLAIN.test(added) || !PLAIN_END.test(last) || OPEN_WORD.test(last)) return null;
    return source.slice(this.#shown).trimEnd();
  }

  /** Takes `source` after its addition was put there. */
  accept(source: string): void {
    this.#source = source;
    this.#shown = this.#end === "text" ? source.trimEnd().length : source.length;
  }

  #isEarly(length: number): boolean {
    const open = length - this.#from;
    return open > LONG_PART && this.parsed + open > READ_TIMES * length + READ_BEFORE;
  }

  #restart(index: number): void {
    this.#from = this.blocks[index]?.start ?? 0;
    this.#open = index;
    this.#head = "";
    this.#inCode = false;
    const open = this.blocks[index];
    if (open) open.fixed = 0;
    if (index > 0) return;
    this.#from = 0;
    this.#known = definitions();
    this.#told.clear();
  }

  #read(): void {
    const source = this.#source;
    const kind = this.#inCode ? "code" : this.#head !== "" ? "table" : "";
    const held = this.#settled ? source.length : heldFrom(source, this.#from, kind);
    const tail = this.#head + source.slice(this.#from, held);
    const shift = this.#from - this.#head.length;
    const reading: Reading = { references: definitions(this.#known), growing: !this.#settled };
    const found = read(tail, reading);
    this.#found = reading.references;
    this.parsed += tail.length;
    if (!this.#continues(found)) {
      this.#restart(this.#open);
      return this.#read();
    }
    found.forEach((block, index) => this.#place(block, this.#open + index, shift));
    this.blocks.length = this.#open + found.length;
    this.#noteEnd(found.at(-1), reading.clean === true, held);
    this.#finish(found, shift);
  }

  /** False if what was read does not go on with the parts that are fixed already. */
  #continues(found: readonly Block[]): boolean {
    const open = this.blocks[this.#open];
    if (!open || open.fixed === 0) return true;
    return found[0]?.kind === open.kind;
  }

  #place(block: Block, index: number, shift: number): void {
    const known = this.blocks[index];
    const parts = block.parts.map((part) => part.html);
    const end = block.end + shift;
    if (known && index === this.#open && known.fixed > 0) {
      known.parts.splice(known.fixed, Infinity, ...parts);
      known.version += 1;
      Object.assign(known, { end, from: known.fixed, labels: null });
      return;
    }
    this.blocks[index] = {
      kind: block.kind,
      shell: block.shell,
      parts,
      fixed: 0,
      from: 0,
      start: block.start + shift,
      end,
      version: (known?.version ?? 0) + 1,
      labels: null,
    };
  }

  #noteEnd(last: Block | undefined, clean: boolean, held: number): void {
    const source = this.#source;
    this.#inCode = last?.fence === true && this.#isOpenFence(last);
    this.#end = "";
    this.#shown = held;
    if (!last || held !== source.length) return;
    if (this.#inCode) this.#end = /^(`|~)/.test(this.#opening(last)) ? "code" : "";
    else if (clean && !last.fence && !source.endsWith("\n")) {
      this.#end = "text";
      this.#shown = source.trimEnd().length;
    }
  }

  #opening(fence: Block): string {
    const start = this.#from - this.#head.length + fence.start;
    const end = this.#source.indexOf("\n", start);
    return this.#source.slice(start, end < 0 ? undefined : end);
  }

  #isOpenFence(fence: Block): boolean {
    if (this.#settled) return false;
    const opening = this.#opening(fence);
    const mark = /^\s*(`+|~+)/.exec(opening)?.[1] ?? "```";
    const start = this.#from - this.#head.length + fence.start;
    const rest = this.#source.slice(start + opening.length).trimEnd();
    const lastLine = rest.slice(rest.lastIndexOf("\n") + 1);
    const isClosed = new RegExp(`^ {0,3}\\${mark[0]}{${mark.length},}[ \\t]*$`).test(lastLine);
    return rest === "" || !isClosed;
  }

  /** Moves on past what cannot change any more. */
  #finish(found: readonly Block[], shift: number): void {
    const count = found.length;
    let done = this.#settled ? count : count - 1;
    const [before, last] = [found[count - 2], found[count - 1]];
    if (!this.#settled && last?.pending && before && before.end === last.start) done -= 1;
    if (done > 0) {
      this.#open += done;
      this.#moveTo((found[done - 1]?.end ?? 0) + shift);
      this.#head = "";
    }
    const open = this.blocks[this.#open];
    const parts = found[done]?.parts ?? [];
    if (open && done === count - 1 && parts.length > 1 && last) {
      const isTable = open.kind === "table" && this.#head === "";
      const head = isTable ? this.#source.slice(open.start, (parts[0]?.start ?? 0) + shift) : null;
      open.fixed += parts.length - 1;
      this.#moveTo((parts.at(-1)?.start ?? 0) + shift);
      if (head !== null) this.#head = head;
    }
  }

  #moveTo(end: number): void {
    define(this.#head + this.#source.slice(this.#from, end), this.#known);
    this.#from = end;
  }

  /** Draws finished blocks again that name what is defined, or defined otherwise, only now: those
   *  before `until`, and the open one. The first of them, or Infinity. */
  #redraw(until: number): number {
    const labels = this.#news();
    if (labels.length === 0) return Infinity;
    let first = Infinity;
    for (const [index, block] of this.blocks.slice(0, until + 1).entries()) {
      const source = this.#source.slice(block.start, block.end);
      block.labels ??= labelsIn(source);
      if (!labels.some((label) => block.labels?.has(label))) continue;
      first = Math.min(first, index);
      this.parsed += source.length;
      const again = read(source, { references: this.#found, growing: false })[0];
      if (index === until && index === this.#open) {
        if (block.fixed === 0) continue;
        this.#restart(index);
        this.#read();
      } else if (again) {
        block.shell = again.shell;
        block.from = 0;
        block.parts = again.parts.map((part) => part.html);
        block.version += 1;
      }
    }
    return first;
  }

  /** Labels that mean something else than at the last reading. */
  #news(): string[] {
    const now = new Map<string, string>();
    for (const [label, meant] of Object.entries(this.#found)) {
      now.set(label, meant.href);
    }
    const gone = [...this.#told.keys()].filter((label) => !now.has(label) && !(label in this.#known));
    const fresh = [...now].filter(([label, href]) => this.#told.get(label) !== href);
    this.#told = now;
    return [...gone, ...fresh.map(([label]) => label)];
  }
}

/** Like `startsWith`, which compares sign by sign: fifty times slower on a long text. */
function goesOn(source: string, known: string): boolean {
  return source.slice(0, known.length) === known;
}
