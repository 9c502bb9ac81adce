// Which turns of a conversation are on the page. Editing or retrying makes a sibling; nothing is
// overwritten, and one path from the first question to a tip is shown.

/** What a path needs to know of a turn. */
export interface Node {
  readonly key: string;
  inputId: string | null;
  /** Input this one follows: its id, or the key of a turn not sent yet; undefined: the one before. */
  parent: string | null | undefined;
  /** Input this one stands beside. */
  replaces: string | null;
}

export interface Siblings {
  /** From 1. */
  readonly number: number;
  readonly count: number;
  readonly before: Node | null;
  readonly after: Node | null;
}

/** Turns from the first question to `tip`, oldest first. `turns` are in order of acceptance. */
export function pathTo<Turn extends Node>(turns: readonly Turn[], tip: Turn | null): Turn[] {
  const known = byName(turns);
  const path: Turn[] = [];
  const seen = new Set<Turn>();
  for (let each = tip; each && !seen.has(each); each = parentOf(turns, known, each)) {
    seen.add(each);
    path.push(each);
  }
  return path.reverse();
}

/** The newest of all that follows on `turn`, where its branch is gone on with. */
export function tipBelow<Turn extends Node>(turns: readonly Turn[], turn: Turn): Turn {
  const known = byName(turns);
  const below = new Set([turn]);
  let tip = turn;
  for (const each of turns) {
    const parent = parentOf(turns, known, each);
    if (!parent || !below.has(parent)) continue;
    below.add(each);
    tip = each;
  }
  return tip;
}

/** Every turn that has siblings, with its place among them. */
export function siblingsOf<Turn extends Node>(turns: readonly Turn[]): Map<Turn, Siblings> {
  const known = byName(turns);
  const families = new Map<Turn | null, Turn[]>();
  const roots: Turn[] = [];
  for (const each of turns) {
    const parent = parentOf(turns, known, each);
    if (parent) families.set(parent, [...(families.get(parent) ?? []), each]);
    else roots.push(each);
  }
  const found = new Map<Turn, Siblings>();
  const place = (family: readonly Turn[]) => {
    if (family.length < 2) return;
    family.forEach((each, index) =>
      found.set(each, {
        number: index + 1,
        count: family.length,
        before: family[index - 1] ?? null,
        after: family[index + 1] ?? null,
      }),
    );
  };
  for (const [, family] of families) place(family);
  for (const family of rootFamilies(roots)) place(family);
  return found;
}

// Roots may stand at the upper edge of a page whose parents are not loaded: only those that name
// the same parent, or none, belong together.
function rootFamilies<Turn extends Node>(roots: readonly Turn[]): Turn[][] {
  const families = new Map<string, Turn[]>();
  for (const each of roots) {
    const name = each.parent ?? "";
    families.set(name, [...(families.get(name) ?? []), each]);
  }
  return [...families.values()];
}

function byName<Turn extends Node>(turns: readonly Turn[]): Map<string, [Turn, number]> {
  const known = new Map<string, [Turn, number]>();
  turns.forEach((turn, index) => {
    known.set(turn.key, [turn, index]);
    if (turn.inputId !== null) known.set(turn.inputId, [turn, index]);
  });
  return known;
}

function parentOf<Turn extends Node>(
  turns: readonly Turn[],
  known: ReadonlyMap<string, [Turn, number]>,
  turn: Turn,
): Turn | null {
  if (turn.parent === null) return null;
  if (turn.parent !== undefined) return known.get(turn.parent)?.[0] ?? null;
  return turns[(known.get(turn.key)?.[1] ?? 0) - 1] ?? null;
}
