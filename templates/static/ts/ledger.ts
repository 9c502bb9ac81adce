// Which positions of the journal this page has applied. Replay and live delivery overlap and
// arrive in any order; what leaves here is each frame once, in order.
import type { Frame } from "./frames.ts";

export interface Ledger {
  /** Every frame up to and including this position has been released. */
  applied: number;
  /** Frames above a gap, by position. */
  readonly held: Map<number, Frame>;
}

export function open(applied: number): Ledger {
  return { applied, held: new Map() };
}

/** Takes one frame and releases what is now in order; repeats release nothing. */
export function offer(ledger: Ledger, frame: Frame): Frame[] {
  if (frame.position <= ledger.applied) return [];
  ledger.held.set(frame.position, frame);
  return release(ledger);
}

/** True while a later frame waits for an earlier one. */
export function hasGap(ledger: Ledger): boolean {
  return ledger.held.size > 0;
}

/**
 * Takes the journal's own answer for everything after `applied`. The answer is complete up to
 * its last item, so positions missing from it do not exist and are stepped over.
 */
export function fill(ledger: Ledger, items: readonly Frame[]): Frame[] {
  const released: Frame[] = [];
  const ordered = [...items].sort((a, b) => a.position - b.position);
  for (const frame of ordered) {
    if (frame.position <= ledger.applied) continue;
    ledger.held.delete(frame.position);
    ledger.applied = frame.position;
    released.push(frame);
  }
  for (const position of ledger.held.keys()) {
    if (position <= ledger.applied) ledger.held.delete(position);
  }
  return [...released, ...release(ledger)];
}

function release(ledger: Ledger): Frame[] {
  const released: Frame[] = [];
  for (;;) {
    const next = ledger.held.get(ledger.applied + 1);
    if (!next) return released;
    ledger.held.delete(next.position);
    ledger.applied = next.position;
    released.push(next);
  }
}
