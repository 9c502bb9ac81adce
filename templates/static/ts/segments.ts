// One segment of text under construction. Pieces are joined exactly, by code-point offset:
// nothing is inferred from spacing or punctuation, and a piece seen twice changes nothing.

export interface Segment {
  text: string;
  /** Code points in `text`; differs from its length once a character needs a surrogate pair. */
  points: number;
  /** Pieces that start beyond the end, by offset, until the missing one arrives. */
  readonly ahead: Map<number, string>;
  /** True once the journal has given the whole text. */
  settled: boolean;
}

export function blank(): Segment {
  return { text: "", points: 0, ahead: new Map(), settled: false };
}

export function settled(text: string): Segment {
  return { text, points: countPoints(text), ahead: new Map(), settled: true };
}

/** Applies one piece. True if the text changed. A settled segment takes nothing more. */
export function extend(segment: Segment, offset: number, piece: string): boolean {
  if (segment.settled || piece === "") return false;
  if (offset > segment.points) {
    segment.ahead.set(offset, piece);
    return false;
  }
  let changed = place(segment, offset, piece);
  for (;;) {
    const next = nextAhead(segment);
    if (next === null) return changed;
    segment.ahead.delete(next.offset);
    changed = place(segment, next.offset, next.piece) || changed;
  }
}

/** True while a piece is missing in the middle. */
export function hasHole(segment: Segment): boolean {
  return segment.ahead.size > 0;
}

export function settle(segment: Segment, text: string): void {
  segment.text = text;
  segment.points = countPoints(text);
  segment.ahead.clear();
  segment.settled = true;
}

export function countPoints(text: string): number {
  let points = text.length;
  for (let index = 0; index < text.length - 1; index += 1) {
    if (isPair(text, index)) {
      points -= 1;
      index += 1;
    }
  }
  return points;
}

function place(segment: Segment, offset: number, piece: string): boolean {
  const length = countPoints(piece);
  if (offset === segment.points) {
    segment.text += piece;
    segment.points += length;
    return true;
  }
  const from = indexOfPoint(segment.text, offset, segment.points);
  const known = segment.text.slice(from);
  if (known.startsWith(piece)) return false;
  // A piece that continues what is known extends it; one that differs comes from a run that was
  // taken over by another worker and begins the segment again.
  segment.text = segment.text.slice(0, from) + piece;
  segment.points = offset + length;
  return true;
}

function nextAhead(segment: Segment): { offset: number; piece: string } | null {
  for (const [offset, piece] of segment.ahead) {
    if (offset <= segment.points) return { offset, piece };
  }
  return null;
}

function indexOfPoint(text: string, point: number, points: number): number {
  if (points === text.length) return point;
  let index = 0;
  for (let seen = 0; seen < point; seen += 1) index += isPair(text, index) ? 2 : 1;
  return index;
}

function isPair(text: string, index: number): boolean {
  const high = text.charCodeAt(index);
  if (high < 0xd800 || high > 0xdbff) return false;
  const low = text.charCodeAt(index + 1);
  return low >= 0xdc00 && low <= 0xdfff;
}
