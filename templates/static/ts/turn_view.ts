// One turn on the page: what was asked, what the agent did, what it answered, how it ended.
import alertIcon from "../icons/alert.svg";
import chevronIcon from "../icons/chevron.svg";
import copyIcon from "../icons/copy.svg";
import retryIcon from "../icons/retry.svg";
import steerIcon from "../icons/steer.svg";
import stopIcon from "../icons/stop.svg";
import thoughtIcon from "../icons/thought.svg";
import { BuildingCard, type ArtifactActions } from "./artifact_card.ts";
import type { ApprovalActions } from "./approval_view.ts";
import { AskedView } from "./asked_view.ts";
import type { Node, Siblings } from "./branches.ts";
import { dataCard } from "./cards.ts";
import { copy } from "./clipboard.ts";
import { drawing, h, iconButton } from "./dom.ts";
import { count } from "./measures.ts";
import { ProseView } from "./prose_view.ts";
import { say } from "./strings.ts";
import { ToolsView } from "./tools_view.ts";
import {
  answerText,
  isOpen,
  isSettled,
  proseText,
  type Part,
  type ProsePart,
  type SteerPart,
  type Turn,
  type Usage,
} from "./turn.ts";

export interface TurnActions extends ApprovalActions, ArtifactActions {
  /** Sends an unsent message again, or asks the same once more beside the first time. */
  readonly retry: (turn: Turn) => void;
  /** Takes an unsent message off the page and back into the composer. */
  readonly takeBack: (turn: Turn) => void;
  /** Asks something else in place of the question, beside it. */
  readonly edit: (turn: Turn, text: string) => void;
  /** Shows the branch of a sibling. */
  readonly choose: (sibling: Node) => void;
  /** Asks the agent to go on where it was stopped. */
  readonly goOn: () => void;
  /** Sends what a turn did not read any more as a message of its own. */
  readonly say: (text: string) => void;
  readonly focusComposer: () => void;
}

interface PartView {
  readonly root: HTMLElement;
  version: number;
  update: (part: Part, open: boolean) => void;
}

export class TurnView {
  readonly root = h("article", { class: "turn" });
  readonly asked: AskedView;
  readonly #answer = h("div", { class: "answer" });
  readonly #byline = h("h3", { class: "byline" });
  readonly #parts = h("div", { class: "answer" });
  readonly #activity = h("p", { class: "activity" });
  readonly #ending = h("div", { class: "ending", hidden: true });
  readonly #tools = h("div", { class: "turn-actions", hidden: true });
  readonly #again = iconButton(retryIcon, say.askAgain(), () => this.#actions.retry(this.#turn));
  readonly #usage = h("span", { class: "usage" });
  readonly #views = new Map<string, PartView>();
  readonly #actions: TurnActions;
  #turn: Turn;
  #endingShown = "";

  constructor(turn: Turn, me: string, actions: TurnActions) {
    this.#turn = turn;
    this.#actions = actions;
    this.asked = new AskedView(turn, me, actions);
    this.#again.classList.add("when-idle");
    this.#tools.append(
      iconButton(copyIcon, say.copyAnswer(), () =>
        void copy(answerText(this.#turn), say.answerCopied()),
      ),
      this.#again,
      this.#usage,
    );
    this.#activity.append(
      h("span", { class: "pulse", "aria-hidden": "true" }, h("i"), h("i"), h("i")),
      h("span"),
    );
    this.#answer.append(this.#byline, this.#parts, this.#activity, this.#ending, this.#tools);
    this.root.append(this.asked.root, this.#answer);
  }

  /** Where the answer begins on the page. */
  get answer(): HTMLElement {
    return this.#answer;
  }

  update(turn: Turn, siblings: Siblings | null): void {
    this.#turn = turn;
    if (Number.isFinite(turn.order)) this.root.id = `m-${turn.order}`;
    this.asked.update(turn, siblings);
    this.#answer.hidden = turn.state === "unsent";
    this.#byline.hidden = turn.kind === "compaction";
    this.#drawByline(turn.agent || say.agent());
    this.#drawParts(turn);
    const open = isOpen(turn);
    this.root.setAttribute("aria-busy", String(open && turn.state !== "waiting"));
    this.#activity.hidden = !open;
    this.#activity.toggleAttribute("data-still", turn.state === "waiting");
    if (open) this.#activity.lastElementChild!.textContent = activityWords(turn);
    this.#drawEnding(turn);
    this.#tools.hidden = open || answerText(turn) === "";
    // How it ended offers the same there.
    this.#again.hidden = turn.state === "failed" || turn.state === "cancelled";
    this.#drawUsage(turn.usage);
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
        view = this.#partView(part);
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

  #partView(part: Part): PartView {
    switch (part.type) {
      case "text":
        return proseView();
      case "thinking":
        return thinkingView();
      case "tools": {
        const view = new ToolsView(this.#actions);
        const update = (next: Part) => next.type === "tools" && view.update(next);
        return { root: view.root, version: -1, update };
      }
      case "building": {
        const view = new BuildingCard(part.building, this.#actions);
        const update = (next: Part) => next.type === "building" && view.update(next.building);
        return { root: view.root, version: -1, update };
      }
      case "steer":
        return still(steerNote(part, this.#actions), part);
      default:
        return still(dataCard(part, this.#actions), part);
    }
  }

  #drawEnding(turn: Turn): void {
    const shown = `${turn.state}|${turn.message}`;
    if (shown === this.#endingShown) return;
    this.#endingShown = shown;
    const cut = turn.state === "salvaged" && turn.message !== "";
    this.#ending.hidden = turn.state !== "cancelled" && turn.state !== "failed" && !cut;
    this.#ending.className = turn.state === "failed" ? "ending bad" : "ending";
    const retry = () => this.#actions.retry(this.#turn);
    if (cut) this.#ending.replaceChildren(drawing(alertIcon), h("span", {}, turn.message));
    if (turn.state === "cancelled") {
      this.#ending.replaceChildren(
        drawing(stopIcon),
        h("span", {}, turn.reason === "" || turn.reason === "stopped" ? say.stopped() : turn.message),
        turn.kind === "message" ? linkButton(say.goOn(), this.#actions.goOn) : "",
        linkButton(say.retry(), retry),
      );
    }
    if (turn.state === "failed") {
      this.#ending.replaceChildren(
        drawing(alertIcon),
        h("span", {}, turn.message || say.failure()),
        h("button", { type: "button", class: "button when-idle", onclick: retry }, say.retry()),
      );
    }
  }

  #drawUsage(usage: Usage | null): void {
    if (!usage) return this.#usage.replaceChildren();
    this.#usage.textContent = say.tokens(count(usage.input + usage.output));
    const cost = usage.cost === "" ? "" : ` · ${usage.cost}`;
    this.#usage.title = say.tokensInOut(count(usage.input), count(usage.output)) + cost;
  }
}

export function initial(name: string): string {
  return [...name.trim()][0]?.toUpperCase() ?? "·";
}

// For what would start another answer: out of the way while one is being written.
function linkButton(label: string, onclick: () => void): HTMLButtonElement {
  return h("button", { type: "button", class: "link-button when-idle", onclick }, label);
}

function activityWords(turn: Turn): string {
  if (turn.state === "sending") return say.sending();
  if (turn.kind === "compaction") return say.summingUp();
  if (turn.state === "waiting") return say.waiting();
  const last = turn.parts.at(-1);
  if (last?.type === "thinking" && !isSettled(last)) return say.thinking();
  if (last?.type === "text" && !isSettled(last)) return say.writing();
  return say.working();
}

function still(root: HTMLElement, part: Part): PartView {
  return { root, version: part.version, update: () => undefined };
}

function proseView(): PartView {
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

// What was said to the agent while it worked, where it was read, or that it was not.
function steerNote({ steer }: SteerPart, actions: TurnActions): HTMLElement {
  const read = steer.state === "applied";
  return h(
    "div",
    { class: "steered", "data-state": steer.state },
    drawing(steerIcon),
    h(
      "div",
      {},
      h("span", { class: "steered-note" }, read ? say.steerRead() : say.steerUnread()),
      h("p", { dir: "auto" }, steer.text),
    ),
    !read && linkButton(say.sendAsMessage(), () => actions.say(steer.text)),
  );
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
