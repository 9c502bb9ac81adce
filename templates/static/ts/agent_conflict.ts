// What somebody else saved meanwhile, beside the form: shown word by word, taken or overwritten.
import type { Change, Content } from "./agent_page.ts";
import type { Meeting, Met, Outcome } from "./agent_merging.ts";
import { words } from "./agent_words.ts";
import { h } from "./dom.ts";

export interface ConflictActions {
  /** Puts a value into the form. */
  readonly put: (field: string, value: unknown) => void;
  /** Puts the whole of one's own definition back. */
  readonly putMine: () => void;
}

const OUTCOMES: Readonly<Record<Outcome, () => string>> = {
  theirs: words.theirsTaken,
  merged: words.merged,
  both: words.bothChanged,
  same: words.theirsTaken,
};

// Fields that people write in their own words: shown word by word.
const TEXTS = new Set(["name", "description", "persona"]);

/** Fills the section and puts the focus there. */
export function showConflict(
  holder: HTMLElement,
  number: number,
  mine: Content,
  meeting: Meeting,
  actions: ConflictActions,
): void {
  holder.replaceChildren(
    h("h3", { id: "conflict-heading" }, words.conflictTitle(number)),
    h("p", {}, words.conflictHelp()),
    ...meeting.fields.map((met) => fieldView(met, mine, actions)),
    h("button", { type: "button", class: "button", onclick: actions.putMine }, words.keepAllMine()),
  );
  holder.hidden = false;
  holder.focus();
}

function fieldView(met: Met, mine: Content, actions: ConflictActions): HTMLElement {
  const { change, outcome } = met;
  const state = h("span", { class: "tag", role: "status" }, OUTCOMES[outcome]());
  const choose = (value: unknown, said: string) => () => {
    actions.put(change.field, value);
    state.textContent = said;
  };
  const label = words.fields[change.field]?.() ?? change.field;
  const choices = outcome === "both" || outcome === "merged";
  return h(
    "div",
    { class: "change" },
    h("div", { class: "change-head" }, h("h4", {}, label), state),
    differenceView(met),
    choices &&
      h(
        "div",
        { class: "change-choices" },
        h(
          "button",
          { type: "button", class: "button", onclick: choose(change.after, words.theirsTaken()) },
          words.takeTheirs(),
          h("span", { class: "visually-hidden" }, `: ${label}`),
        ),
        h(
          "button",
          { type: "button", class: "button", onclick: choose(mine[change.field], words.mineKept()) },
          words.keepMine(),
          h("span", { class: "visually-hidden" }, `: ${label}`),
        ),
      ),
  );
}

function differenceView({ change }: Met): HTMLElement {
  const stretches: Change["words"] = TEXTS.has(change.field)
    ? change.words
    : [
        ["-", shown(change.field, change.before)],
        ["=", " "],
        ["+", shown(change.field, change.after)],
      ];
  const label = words.fields[change.field]?.() ?? change.field;
  const view = h("div", { class: "word-diff", tabindex: "0", role: "region", "aria-label": label, dir: "auto" });
  for (const [op, text] of stretches) {
    if (op === "=") view.append(text);
    else {
      const spoken = op === "+" ? words.wordAdded() : words.wordRemoved();
      view.append(
        h(op === "+" ? "ins" : "del", {}, h("span", { class: "visually-hidden" }, `${spoken}: `), text),
      );
    }
  }
  return view;
}

// Values of a choice are called what their control calls them.
function shown(field: string, value: unknown): string {
  if (typeof value !== "string") return JSON.stringify(value, null, 1);
  const named = `#agent-form [name="${CSS.escape(field)}"]`;
  const held = `[value="${CSS.escape(value)}"]`;
  const choice = document.querySelector(named + held);
  const option = document.querySelector(`${named} option${held}`);
  return (choice?.closest("label") ?? option)?.textContent ?? value;
}
