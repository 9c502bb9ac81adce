// One turn on the page: what was asked, what the agent did, what it answered, how it ended.
import alertIcon from "../icons/alert.svg";
import chevronIcon from "../icons/chevron.svg";
import copyIcon from "../icons/copy.svg";
import stopIcon from "../icons/stop.svg";
import thoughtIcon from "../icons/thought.svg";
import { dataCard, drawTools } from "./cards.ts";
import { copy } from "./clipboard.ts";
import {
  answerText,
  isOpen,
  isSettled,
  proseText,
  type Part,
  type ProsePart,
  type Turn,
} from "./conversation.ts";
import { drawing, h, iconButton } from "./dom.ts";
import { ProseView } from "./prose_view.ts";
import { say } from "./strings.ts";

export interface TurnActions {
  /** Sends an unsent message again, or asks the same once more after a failure. */
  readonly retry: (turn: Turn) => void;
  /** Takes an unsent message off the page and back into the composer. */
  readonly takeBack: (turn: Turn) => void;
}

interface PartView {
  readonly root: HTMLElement;
  version: number;
  update: (part: Part, open: boolean) => void;
}

export class TurnView {
  readonly root = h("article", { class: "turn" });
  readonly #asked = h("div", { class: "asked", hidden: true });
  readonly #answer = h("div", { class: "answer" });
  readonly #byline = h("h3", { class: "byline" });
  readonly #parts = h("div", { class: "answer" });
  readonly #activity = h("p", { class: "activity" });
  readonly #ending = h("div", { class: "ending", hidden: true });
  readonly #tools = h("div", { class: "turn-actions", hidden: true });
  readonly #views = new Map<string, PartView>();
  readonly #actions: TurnActions;
  readonly #me: string;
  #turn: Turn;
  #askedShown = "";
  #endingShown = "";

  constructor(turn: Turn, me: string, actions: TurnActions) {
    this.#turn = turn;
    this.#me = me;
    this.#actions = actions;
    this.#tools.append(
      iconButton(copyIcon, say.copyAnswer(), () =>
        void copy(answerText(this.#turn), say.answerCopied()),
      ),
    );
    this.#activity.append(
      h("span", { class: "pulse", "aria-hidden": "true" }, h("i"), h("i"), h("i")),
      h("span"),
    );
    this.#answer.append(this.#byline, this.#parts, this.#activity, this.#ending, this.#tools);
    this.root.append(this.#asked, this.#answer);
  }

  /** Where the answer begins on the page. */
  get answer(): HTMLElement {
    return this.#answer;
  }

  /** `behind` is true while an earlier turn of the conversation still runs. */
  update(turn: Turn, behind: boolean): void {
    this.#turn = turn;
    if (Number.isFinite(turn.order)) this.root.id = `m-${turn.order}`;
    this.#drawAsked(turn);
    this.#answer.hidden = turn.state === "unsent";
    this.#drawByline(turn.agent || say.agent());
    this.#drawParts(turn);
    const open = isOpen(turn);
    this.root.setAttribute("aria-busy", String(open));
    this.#activity.hidden = !open;
    if (open) this.#activity.lastElementChild!.textContent = activityWords(turn, behind);
    this.#drawEnding(turn);
    this.#tools.hidden = open || answerText(turn) === "";
  }

  #drawAsked(turn: Turn): void {
    const state = `${turn.state === "unsent"}|${turn.message}|${turn.ask?.text ?? ""}`;
    if (!turn.ask || state === this.#askedShown) return;
    this.#askedShown = state;
    const { author, text } = turn.ask;
    const who = author === "" || author === this.#me ? say.youAsked() : say.someoneAsked(author);
    this.#asked.hidden = false;
    this.#asked.replaceChildren(
      h("h3", { class: "visually-hidden" }, who),
      h("div", { class: "bubble", dir: "auto" }, text),
    );
    if (turn.state !== "unsent") return this.#asked.removeAttribute("data-state");
    this.#asked.dataset.state = "failed";
    this.#asked.append(
      h(
        "div",
        { class: "asked-note bad", role: "alert" },
        h("span", {}, `${say.notSent()} ${turn.message}`.trim()),
        linkButton(say.retry(), () => this.#actions.retry(this.#turn)),
        linkButton(say.backToWriting(), () => this.#actions.takeBack(this.#turn)),
      ),
    );
  }

  #drawByline(name: string): void {
    if (this.#byline.lastChild?.textContent === name) return;
    this.#byline.replaceChildren(
      h("span", { class: "agent-mark", "aria-hidden": "true" }, initial(name)),
      h("span", {}, name),
    );
  }

  #drawParts(turn: Turn): void {
    const ids = new Set(turn.parts.map((part) => part.id));
    for (const [id, view] of this.#views) {
      if (ids.has(id)) continue;
      view.root.remove();
      this.#views.delete(id);
    }
    const open = isOpen(turn);
    turn.parts.forEach((part, index) => {
      let view = this.#views.get(part.id);
      if (!view) {
        view = partView(part);
        this.#views.set(part.id, view);
      }
      if (this.#parts.children[index] !== view.root) {
        this.#parts.insertBefore(view.root, this.#parts.children[index] ?? null);
      }
      if (view.version === part.version) return;
      view.version = part.version;
      view.update(part, open);
    });
    this.#parts.hidden = turn.parts.length === 0;
  }

  #drawEnding(turn: Turn): void {
    const shown = `${turn.state}|${turn.message}`;
    if (shown === this.#endingShown) return;
    this.#endingShown = shown;
    const cut = turn.state === "salvaged" && turn.message !== "";
    this.#ending.hidden = turn.state !== "cancelled" && turn.state !== "failed" && !cut;
    this.#ending.className = turn.state === "failed" ? "ending bad" : "ending";
    if (cut) this.#ending.replaceChildren(drawing(alertIcon), h("span", {}, turn.message));
    if (turn.state === "cancelled") {
      this.#ending.replaceChildren(drawing(stopIcon), h("span", {}, say.stopped()));
    }
    if (turn.state === "failed") {
      const onclick = () => this.#actions.retry(this.#turn);
      this.#ending.replaceChildren(
        drawing(alertIcon),
        h("span", {}, turn.message || say.failure()),
        h("button", { type: "button", class: "button", onclick }, say.retry()),
      );
    }
  }
}

export function initial(name: string): string {
  return [...name.trim()][0]?.toUpperCase() ?? "·";
}

function linkButton(label: string, onclick: () => void): HTMLButtonElement {
  return h("button", { type: "button", class: "link-button", onclick }, label);
}

function activityWords(turn: Turn, behind: boolean): string {
  if (turn.state === "sending") return say.sending();
  if (turn.state === "waiting") return say.waiting();
  if (behind) return say.queuedTool();
  const last = turn.parts.at(-1);
  if (last?.type === "thinking" && !isSettled(last)) return say.thinking();
  if (last?.type === "text" && !isSettled(last)) return say.writing();
  return say.working();
}

function partView(part: Part): PartView {
  if (part.type === "text") {
    const view = new ProseView();
    return {
      root: view.root,
      version: -1,
      update: (next, open) => {
        const prose = next as ProsePart;
        view.update(proseText(prose), !open || isSettled(prose));
      },
    };
  }
  if (part.type === "thinking") return thinkingView();
  if ("calls" in part) {
    const root = h("div", { class: "tools" });
    return {
      root,
      version: -1,
      update: (next) => next.type === "tools" && drawTools(root, next),
    };
  }
  const card = "data" in part ? dataCard(part) : h("div");
  return { root: card, version: part.version, update: () => undefined };
}

function thinkingView(): PartView {
  const label = h("span");
  const body = h("div", { class: "fold-body", dir: "auto" });
  const chevron = drawing(chevronIcon);
  chevron.classList.add("chevron");
  const root = h(
    "details",
    { class: "fold" },
    h("summary", {}, drawing(thoughtIcon), label, chevron),
    body,
  );
  return {
    root,
    version: -1,
    update: (next, open) => {
      const prose = next as ProsePart;
      label.textContent = open && !isSettled(prose) ? say.thinking() : say.thought();
      body.textContent = proseText(prose);
    },
  };
}
