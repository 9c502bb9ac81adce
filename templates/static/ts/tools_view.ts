// The tool calls of one part: cards that fold, one group where there are several, and the
// requests for approval, which never fold away.
import alertIcon from "../icons/alert.svg";
import checkIcon from "../icons/check.svg";
import chevronIcon from "../icons/chevron.svg";
import clockIcon from "../icons/clock.svg";
import deniedIcon from "../icons/denied.svg";
import handIcon from "../icons/hand.svg";
import spinnerIcon from "../icons/spinner.svg";
import stopIcon from "../icons/stop.svg";
import { ApprovalView, type ApprovalActions } from "./approval_view.ts";
import { needsReasons, type Call, type CallState } from "./calls.ts";
import { drawing, h } from "./dom.ts";
import { duration } from "./measures.ts";
import { say } from "./strings.ts";
import type { ToolsPart } from "./turn.ts";
import { whyFold } from "./why_view.ts";

const SIGNS: Readonly<Record<CallState, { icon: string; words: () => string }>> = {
  queued: { icon: clockIcon, words: say.queuedTool },
  running: { icon: spinnerIcon, words: say.runningTool },
  waiting: { icon: handIcon, words: say.waitingTool },
  done: { icon: checkIcon, words: say.doneTool },
  failed: { icon: alertIcon, words: say.failedTool },
  denied: { icon: deniedIcon, words: say.deniedTool },
  stopped: { icon: stopIcon, words: say.stopped },
};
/** Where an agent searches, what it found stands open beside its answer: that is its sources. */
const showsSources = () => document.getElementById("main")?.dataset.surface === "search";
// The state of a group is that of its most pressing call.
const PRESSING: readonly CallState[] = ["running", "queued", "failed", "denied", "stopped", "done"];

export class ToolsView {
  readonly root = h("div", { class: "tool-parts" });
  readonly #frame = h("div", { class: "tools" });
  readonly #fold = h("details", { class: "tool group" });
  readonly #list = h("div", { class: "tools-list" });
  readonly #summary = h("summary");
  readonly #cards = new Map<string, CallCard>();
  readonly #approvals = new Map<string, ApprovalView>();
  readonly #actions: ApprovalActions;

  constructor(actions: ApprovalActions) {
    this.#actions = actions;
    this.#fold.append(this.#summary, this.#list);
    this.#fold.open = showsSources();
    this.root.append(this.#frame);
  }

  update(part: ToolsPart): void {
    const plain = part.calls.filter((call) => call.approval === null);
    this.#drawApprovals(part.calls);
    const cards = plain.map((call) => this.#card(call));
    this.#frame.hidden = cards.length === 0;
    if (cards.length > 1) {
      place(this.#frame, [this.#fold]);
      place(this.#list, cards);
      this.#drawSummary(plain);
    } else {
      place(this.#frame, cards);
    }
  }

  #card(call: Call): HTMLElement {
    const card = this.#cards.get(call.id) ?? new CallCard();
    this.#cards.set(call.id, card);
    card.update(call);
    return card.root;
  }

  #drawApprovals(calls: readonly Call[]): void {
    for (const call of calls) {
      if (!call.approval) continue;
      let view = this.#approvals.get(call.id);
      if (!view) {
        view = new ApprovalView(call.approval, this.#actions);
        this.#approvals.set(call.id, view);
        this.#cards.get(call.id)?.root.remove();
        this.root.append(view.root);
      }
      const card = this.#cards.get(call.id) ?? new CallCard();
      this.#cards.set(call.id, card);
      card.update(call);
      view.update(call.approval, call.approval.state === "pending" ? null : card.root);
    }
  }

  #drawSummary(calls: readonly Call[]): void {
    const state = PRESSING.find((each) => calls.some((call) => call.state === each)) ?? "done";
    const now = calls.find((call) => call.state === "running");
    this.#fold.dataset.state = state;
    this.#summary.replaceChildren(
      h("span", { class: "tool-sign" }, drawing(SIGNS[state].icon)),
      h("span", { class: "label" }, say.tools(calls.length)),
      h("span", { class: "now" }, now?.label ?? ""),
      h("span", { class: "state" }, tally(calls, state)),
      drawChevron(),
    );
  }
}

/** One call as a card that opens to what was sent and what came back. */
class CallCard {
  readonly root = h("div", { class: "tool" });
  readonly #fold = h("details", { class: "tool-fold" });
  readonly #summary = h("summary");
  readonly #detail = h("div", { class: "tool-detail" });
  #drawn = -1;
  #call: Call | null = null;

  constructor() {
    this.#fold.append(this.#summary, this.#detail);
    this.root.append(this.#fold);
    this.#fold.open = showsSources();
    // What nobody opens is not written: a long conversation holds hundreds of results.
    this.#fold.addEventListener("toggle", () => this.#drawDetail());
  }

  update(call: Call): void {
    this.#call = call;
    if (this.#drawn === call.version) return;
    this.#drawn = call.version;
    const ran = call.durationMs !== null && (call.state === "done" || call.state === "failed");
    const took = ran ? ` · ${duration(call.durationMs ?? 0)}` : "";
    this.root.dataset.state = call.state;
    this.root.dataset.call = call.id;
    this.#summary.replaceChildren(
      h("span", { class: "tool-sign" }, drawing(SIGNS[call.state].icon)),
      h("span", { class: "label", title: call.name }, call.label),
      h("span", { class: "state" }, SIGNS[call.state].words() + took),
      drawChevron(),
    );
    this.#drawDetail();
    const open = this.root.querySelector<HTMLDetailsElement>(":scope > .why")?.open ?? false;
    this.root.querySelector(":scope > .why")?.remove();
    if (needsReasons(call)) this.root.append(whyFold(call.why, call.label, open));
  }

  #drawDetail(): void {
    if (!this.#call || !this.#fold.open) return;
    const { state, arguments: sent, result } = this.#call;
    const over = state !== "queued" && state !== "running" && state !== "waiting";
    this.#detail.replaceChildren(
      ...(sent === null ? [] : [detail(say.arguments(), sent)]),
      ...(over ? [detail(say.result(), result)] : []),
    );
  }
}

function tally(calls: readonly Call[], state: CallState): string {
  const over = calls.filter((call) => call.state !== "queued" && call.state !== "running").length;
  if (over < calls.length) return say.ofCalls(over, calls.length);
  const odd = calls.filter((call) => call.state === state).length;
  const words = SIGNS[state].words();
  if (state !== "done") return `${odd} ${words.toLocaleLowerCase()}`;
  const total = calls.reduce((sum, call) => sum + (call.durationMs ?? 0), 0);
  return total > 0 ? `${words} · ${duration(total)}` : words;
}

function drawChevron(): Element {
  const icon = drawing(chevronIcon);
  icon.classList.add("chevron");
  return icon;
}

function detail(title: string, value: unknown): HTMLElement {
  const shown = plainly(value);
  const empty = shown === null || shown === undefined || shown === "";
  const text = typeof shown === "string" ? shown : JSON.stringify(shown, null, 2);
  return h(
    "div",
    {},
    h("h4", {}, title),
    h("pre", { tabindex: "0", role: "region", "aria-label": title }, empty ? say.noResult() : text),
  );
}

// A value that is nothing but one sentence is shown as that sentence.
function plainly(value: unknown): unknown {
  if (typeof value !== "object" || value === null) return value;
  const entries = Object.entries(value);
  const [only] = entries;
  const isSentence = entries.length === 1 && (only?.[0] === "message" || only?.[0] === "text");
  return isSentence ? only?.[1] : value;
}

// Puts the elements in order without touching those that stand right: focus and folds stay.
function place(parent: HTMLElement, children: readonly HTMLElement[]): void {
  children.forEach((child, index) => {
    if (parent.children[index] !== child) parent.insertBefore(child, parent.children[index] ?? null);
  });
  while (parent.children.length > children.length) parent.lastElementChild?.remove();
}
