// Brings somebody else's new version of a definition and one's own changes together. Pure.
import { same, type Change, type Content } from "./agent_page.ts";
import { merge } from "./artifact_merging.ts";

/** `theirs`: only they changed it; `merged`: both did, in different lines; `both`: mine stands. */
export type Outcome = "theirs" | "merged" | "both" | "same";

export interface Met {
  readonly change: Change;
  readonly outcome: Outcome;
}

export interface Meeting {
  readonly content: Content;
  readonly fields: readonly Met[];
}

/** `mine` and what the server says they changed since `base`. */
export function meet(base: Content, mine: Content, changes: readonly Change[]): Meeting {
  const content: Record<string, unknown> = { ...mine };
  const fields = changes.map((change): Met => {
    const [before, held] = [base[change.field], mine[change.field]];
    if (same(held, change.after)) return { change, outcome: "same" };
    if (same(held, before)) {
      content[change.field] = change.after;
      return { change, outcome: "theirs" };
    }
    const texts = [before, held, change.after];
    if (change.field === "persona" && texts.every((text) => typeof text === "string")) {
      const [start, ours, others] = texts as [string, string, string];
      const merged = merge(start, ours, others);
      content[change.field] = merged.text;
      if (merged.conflicts === 0) return { change, outcome: "merged" };
    }
    return { change, outcome: "both" };
  });
  return { content: content as Content, fields };
}
