// Brings two changes of one text together, line by line. Pure.
import { diff } from "@codemirror/merge";

export interface Merged {
  readonly text: string;
  /** Places that both changed differently; the text has mine there. */
  readonly conflicts: number;
}

interface Change {
  readonly from: number;
  readonly to: number;
  readonly lines: readonly string[];
}

// Bounds of one comparison; beyond them the result is coarser, never wrong.
const EFFORT = { scanLimit: 2_000, timeout: 500 };

/** `mine` and `theirs` as changes of `base`. What only one of them changed is taken from it. */
export function merge(base: string, mine: string, theirs: string): Merged {
  const start = linesOf(base);
  const ours = changes(start, linesOf(mine));
  const others = changes(start, linesOf(theirs));
  const merged: string[] = [];
  let conflicts = 0;
  let at = 0;
  while (ours.length > 0 || others.length > 0) {
    const region = nextRegion(ours, others);
    merged.push(...start.slice(at, region.from));
    const mineHere = applied(start, region, region.ours);
    const theirsHere = applied(start, region, region.others);
    if (region.ours.length === 0) merged.push(...theirsHere);
    else merged.push(...mineHere);
    const both = region.ours.length > 0 && region.others.length > 0;
    if (both && mineHere.join("") !== theirsHere.join("")) conflicts += 1;
    at = region.to;
  }
  merged.push(...start.slice(at));
  return { text: merged.join(""), conflicts };
}

interface Region {
  readonly from: number;
  readonly to: number;
  readonly ours: readonly Change[];
  readonly others: readonly Change[];
}

// Takes the next changes off both lists: those that overlap belong together.
function nextRegion(ours: Change[], others: Change[]): Region {
  const from = Math.min(ours[0]?.from ?? Infinity, others[0]?.from ?? Infinity);
  const region = { from, to: from, ours: [] as Change[], others: [] as Change[] };
  for (let grew = true; grew; ) {
    grew = false;
    for (const [waiting, taken] of [
      [ours, region.ours],
      [others, region.others],
    ] as const) {
      while (waiting[0] && touches(region, waiting[0])) {
        region.to = Math.max(region.to, waiting[0].to);
        taken.push(waiting.shift() as Change);
        grew = true;
      }
    }
  }
  return region;
}

// Neighbouring lines are changed apart; what is put between two lines belongs to both.
function touches(region: { from: number; to: number }, change: Change): boolean {
  const inserts = change.from === change.to || region.from === region.to;
  return change.from < region.to || (change.from === region.to && inserts);
}

function applied(
  start: readonly string[],
  region: Region,
  changes: readonly Change[],
): readonly string[] {
  const lines: string[] = [];
  let at = region.from;
  for (const change of changes) {
    lines.push(...start.slice(at, change.from), ...change.lines);
    at = change.to;
  }
  lines.push(...start.slice(at, region.to));
  return lines;
}

function changes(start: readonly string[], end: readonly string[]): Change[] {
  const signs = new Map<string, string>();
  const [before, after] = [start, end].map((lines) => lines.map((line) => sign(signs, line)).join(""));
  return diff(before ?? "", after ?? "", EFFORT).map((change) => ({
    from: change.fromA,
    to: change.toA,
    lines: end.slice(change.fromB, change.toB),
  }));
}

// Every different line gets a character of its own, so that lines are compared whole.
function sign(signs: Map<string, string>, line: string): string {
  const known = signs.get(line);
  if (known !== undefined) return known;
  const made = String.fromCharCode(signs.size + 1);
  signs.set(line, made);
  return made;
}

// With their ends: a missing newline at the end is a difference too.
function linesOf(text: string): string[] {
  return text.match(/[^\n]*\n|[^\n]+$/g) ?? [];
}
