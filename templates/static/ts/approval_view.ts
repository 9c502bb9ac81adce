// The card that asks for one exact call, and what became of it. Used in chats and in the inbox.
import checkIcon from "../icons/check.svg";
import clockIcon from "../icons/clock.svg";
import deniedIcon from "../icons/denied.svg";
import handIcon from "../icons/hand.svg";
import type { Approval, ApprovalState } from "./calls.ts";
import { drawing, h } from "./dom.ts";
import { timeLeft } from "./measures.ts";
import { say } from "./strings.ts";
import { whyFold } from "./why_view.ts";

export type Decision = "approve" | "deny" | "withdraw";

export interface ApprovalActions {
  /** Tells the server; answers "" once it took the decision, else why it did not. */
  readonly decide: (approval: Approval, decision: Decision, reason: string) => Promise<string>;
}

const REASON_CHARACTERS = 500;
const TICK_MS = 1_000;
const SOON_MS = 120_000; // then the time left stands out
// Characters that change how text looks without being seen: shown as what they are.
const UNSEEN = /[\u00ad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]/g;

const EFFECTS: Readonly<Record<string, () => string>> = {
  read: say.effectRead,
  write: say.effectWrite,
  sensitive: say.effectSensitive,
};
export const OUTCOMES: Readonly<Record<ApprovalState, { icon: string; words: () => string }>> = {
  pending: { icon: handIcon, words: say.approvalNeeded },
  approved: { icon: checkIcon, words: say.approvedOnce },
  denied: { icon: deniedIcon, words: say.deniedByYou },
  expired: { icon: clockIcon, words: say.approvalExpired },
  withdrawn: { icon: deniedIcon, words: say.approvalWithdrawn },
  superseded: { icon: clockIcon, words: say.approvalSuperseded },
};

const asking = new Set<ApprovalView>();
let ticker: ReturnType<typeof setInterval> | undefined;

export class ApprovalView {
  readonly root = h("section", { class: "approval" });
  readonly #actions: ApprovalActions;
  readonly #left = h("span", { class: "left", role: "timer" });
  readonly #trouble = h("p", { class: "approval-trouble", role: "alert" });
  readonly #foot = h("div", { class: "approval-foot" });
  #approval: Approval;
  #drawn = "";
  #busy = false;

  constructor(approval: Approval, actions: ApprovalActions) {
    this.#approval = approval;
    this.#actions = actions;
    this.root.tabIndex = -1;
  }

  /** `card` is the call's own card, shown once the decision is made. */
  update(approval: Approval, card: HTMLElement | null): void {
    this.#approval = approval;
    const drawn = `${approval.state}|${approval.reason}`;
    if (drawn === this.#drawn) return;
    const hadFocus = this.root.contains(document.activeElement);
    this.#drawn = drawn;
    this.root.dataset.state = approval.state;
    this.root.setAttribute("aria-label", `${OUTCOMES[approval.state].words()}: ${approval.label}`);
    if (approval.state === "pending") this.#drawRequest();
    else this.#drawOutcome(card);
    if (hadFocus) (card?.querySelector("summary") ?? this.root).focus({ preventScroll: true });
  }

  /** Decides by keyboard or button. A denial carries what stands in the reason field. */
  async settle(decision: Decision): Promise<void> {
    if (this.#busy || this.#approval.state !== "pending") return;
    const reason = this.#foot.querySelector("input")?.value.trim() ?? "";
    this.#busy = true;
    this.#trouble.textContent = "";
    this.#setBusy(true);
    const refusal = await this.#actions.decide(this.#approval, decision, reason);
    this.#busy = false;
    if (refusal === "" || this.#approval.state !== "pending") return;
    this.#trouble.textContent = refusal;
    this.#setBusy(false);
  }

  tick(now: number): void {
    if (!this.root.isConnected && this.#approval.state !== "pending") asking.delete(this);
    const until = Date.parse(this.#approval.expiresAt);
    const left = timeLeft(until, now);
    this.#left.textContent = left === null ? say.approvalOver() : say.expiresIn(left);
    this.#left.toggleAttribute("data-soon", until - now < SOON_MS);
    if (left === null) this.#setBusy(true);
  }

  #setBusy(busy: boolean): void {
    this.root.setAttribute("aria-busy", String(busy));
    for (const button of this.#foot.querySelectorAll("button")) button.disabled = busy;
  }

  #drawRequest(): void {
    const { label, effect, target, runsAs, agent, tool, why } = this.#approval;
    const row = (name: string, value: string) =>
      value === "" ? null : h("div", {}, h("dt", {}, name), h("dd", { dir: "auto" }, plain(value)));
    this.root.replaceChildren(
      h(
        "header",
        { class: "approval-head" },
        drawing(handIcon),
        h("span", {}, say.approvalNeeded()),
        this.#left,
      ),
      h(
        "div",
        { class: "approval-what" },
        h("h4", { title: tool }, label),
        h("span", { class: "tag", "data-effect": effect }, EFFECTS[effect]?.() ?? effect),
      ),
      h(
        "dl",
        { class: "approval-facts" },
        row(say.target(), target),
        row(say.runsAs(), runsAs),
        row(say.askedBy(), agent),
      ),
      h(
        "div",
        { class: "approval-sent" },
        h("h5", {}, say.exactArguments()),
        h(
          "pre",
          { tabindex: "0", role: "region", "aria-label": say.exactArguments() },
          ...exactly(this.#approval.arguments),
        ),
      ),
      ...(why.length > 0 ? [whyFold(why, label, false)] : []),
      this.#trouble,
      this.#foot,
    );
    this.#drawButtons();
    asking.add(this);
    ticker ??= setInterval(tickAll, TICK_MS);
    this.tick(Date.now());
  }

  #drawButtons(): void {
    const { label } = this.#approval;
    this.#foot.replaceChildren(
      button(say.withdraw(), label, "quiet", () => void this.settle("withdraw")),
      h("span", { class: "gap" }),
      button(say.deny(), label, "", () => this.#askReason()),
      button(say.approveOnce(), label, "primary", () => void this.settle("approve")),
    );
  }

  #askReason(): void {
    const field = h("input", {
      class: "input",
      maxlength: String(REASON_CHARACTERS),
      placeholder: say.denyReasonHint(),
      "aria-label": say.denyReason(),
      autocomplete: "off",
    });
    field.addEventListener("keydown", (event) => {
      if (event.isComposing) return;
      if (event.key === "Enter" && !event.altKey) void this.settle("deny");
      if (event.key === "Escape") {
        event.stopPropagation();
        this.#drawButtons();
        this.#foot.querySelector<HTMLElement>("button:nth-of-type(2)")?.focus();
      }
    });
    this.#foot.replaceChildren(
      field,
      button(say.cancel(), "", "quiet", () => this.#drawButtons()),
      button(say.deny(), this.#approval.label, "danger", () => void this.settle("deny")),
    );
    field.focus();
  }

  #drawOutcome(card: HTMLElement | null): void {
    asking.delete(this);
    const { state, reason, label } = this.#approval;
    const { icon, words } = OUTCOMES[state];
    this.root.removeAttribute("aria-busy");
    this.root.replaceChildren(
      card ? h("div", { class: "tools" }, card) : h("h4", {}, label),
      h(
        "p",
        { class: "approval-outcome" },
        drawing(icon),
        h("span", { dir: "auto" }, outcomeWords(words(), state, reason)),
      ),
    );
  }
}

/** Ctrl or Cmd with Alt and Enter approves, with Backspace denies, the card that has the focus or
 *  the only one there is; among several it moves the focus to the first and decides nothing. */
export function wireApprovalKeys(): void {
  if (document.body.dataset.shortcuts !== "on") return;
  document.addEventListener("keydown", (event) => {
    if (!(event.ctrlKey || event.metaKey) || !event.altKey || event.shiftKey) return;
    if (event.key !== "Enter" && event.key !== "Backspace") return;
    const views = [...asking].filter((view) => view.root.isConnected);
    if (views.length === 0) return;
    event.preventDefault();
    const focused = views.find((view) => view.root.contains(document.activeElement));
    const chosen = focused ?? (views.length === 1 ? views[0] : undefined);
    if (chosen) return void chosen.settle(event.key === "Enter" ? "approve" : "deny");
    views[0]?.root.focus();
    views[0]?.root.scrollIntoView({ block: "nearest" });
  });
}

function tickAll(): void {
  const now = Date.now();
  for (const view of asking) view.tick(now);
  if (asking.size > 0) return;
  clearInterval(ticker);
  ticker = undefined;
}

function outcomeWords(words: string, state: ApprovalState, reason: string): string {
  // The reason of a denial is the member's own sentence; those of other outcomes are codes.
  return state === "denied" && reason !== "" ? `${words} · ${plain(reason)}` : words;
}

function button(name: string, about: string, kind: string, onclick: () => void): HTMLButtonElement {
  return h(
    "button",
    { type: "button", class: `button ${kind}`.trim(), onclick },
    name,
    about !== "" && h("span", { class: "visually-hidden" }, ` ${about}`),
  );
}

/** Every character of the arguments, as JSON; line breaks in a text are seen besides being said. */
export function exactly(value: unknown): (Node | string)[] {
  const json = plain(JSON.stringify(value, null, 2) ?? "");
  const lines = json.split(/(?<=(?<!\\)(?:\\\\)*\\n)/);
  return lines.flatMap((line, index) => (index === 0 ? [line] : [h("br"), line]));
}

function plain(text: string): string {
  return text.replace(UNSEEN, (character) => {
    const code = character.charCodeAt(0).toString(16).padStart(4, "0");
    return `\\u${code}`;
  });
}
