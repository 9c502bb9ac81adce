// What differs between two versions, line by line; long stretches without change are folded.
import type { DiffLine } from "./artifact_api.ts";
import { words } from "./artifact_words.ts";
import { h } from "./dom.ts";

const AROUND = 3; // unchanged lines that are shown beside a change
const LEAST_FOLDED = 4;

export function differenceView(lines: readonly DiffLine[]): HTMLElement {
  const added = lines.filter(([op]) => op === "+").length;
  const removed = lines.filter(([op]) => op === "-").length;
  if (added + removed === 0) return h("p", { class: "empty" }, words.noDifference());
  const body = h("div", { class: "difference", tabindex: "0", role: "region", "aria-label": words.compare() });
  for (const [from, to] of stretches(lines)) {
    const part = lines.slice(from, to);
    body.append(...(isFolded(lines, from, to) ? folded(part, from === 0, to === lines.length) : part.map(line)));
  }
  return h(
    "div",
    {},
    h(
      "p",
      { class: "difference-count" },
      h("ins", {}, `+${added}`),
      " ",
      h("del", {}, `−${removed}`),
    ),
    body,
  );
}

// Runs of the same kind of line: changed ones, and unchanged ones.
function stretches(lines: readonly DiffLine[]): [number, number][] {
  const found: [number, number][] = [];
  let from = 0;
  for (let at = 1; at <= lines.length; at += 1) {
    const same = (lines[at]?.[0] === "=") === (lines[from]?.[0] === "=");
    if (at < lines.length && same) continue;
    found.push([from, at]);
    from = at;
  }
  return found;
}

function isFolded(lines: readonly DiffLine[], from: number, to: number): boolean {
  return lines[from]?.[0] === "=" && to - from >= 2 * AROUND + LEAST_FOLDED;
}

function folded(part: readonly DiffLine[], first: boolean, last: boolean): HTMLElement[] {
  const start = first ? 0 : AROUND;
  const end = part.length - (last ? 0 : AROUND);
  const hidden = part.slice(start, end);
  const button = h("button", { type: "button", class: "difference-fold" }, words.unchanged(hidden.length));
  button.addEventListener("click", () => button.replaceWith(...hidden.map(line)));
  return [...part.slice(0, start).map(line), button, ...part.slice(end).map(line)];
}

function line([op, text]: DiffLine): HTMLElement {
  const spoken = op === "+" ? words.added() : op === "-" ? words.removed() : "";
  return h(
    "div",
    { class: "difference-line", "data-op": op },
    spoken !== "" && h("span", { class: "visually-hidden" }, `${spoken}: `),
    h("span", { dir: "auto" }, text === "" ? "\u200b" : text),
  );
}
