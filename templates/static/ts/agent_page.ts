// What the pages of one agent start from, and what its definition holds.

/** A definition as the server keeps it; fields without a control are handed back as they came. */
export interface Content {
  readonly name: string;
  readonly description: string;
  readonly persona: string;
  readonly mode: string;
  readonly capability_ceiling: string;
  readonly posture: Readonly<Record<string, unknown>>;
  readonly [field: string]: unknown;
}

export interface AgentPage {
  readonly agent: string | null;
  readonly version: number;
  readonly content: Content | null;
  readonly owned?: boolean;
  readonly may_publish?: boolean;
  readonly audience?: "private" | "everyone";
}

/** One field that differs, as the server tells it. */
export interface Change {
  readonly field: string;
  readonly before: unknown;
  readonly after: unknown;
  readonly words: readonly (readonly ["=" | "-" | "+", string])[];
}

/** True for equal JSON values; the order of an object's fields does not matter. */
export function same(one: unknown, other: unknown): boolean {
  return stable(one) === stable(other);
}

function stable(value: unknown): string {
  return JSON.stringify(value, (_key, held: unknown) =>
    held !== null && typeof held === "object" && !Array.isArray(held)
      ? Object.fromEntries(Object.entries(held).sort(([one], [other]) => (one < other ? -1 : 1)))
      : held,
  );
}
