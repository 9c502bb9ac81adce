// The scrolling column of turns: draws what changed once a frame, follows new text only while
// the reader is at the end, and speaks settled answers to the live region.
import type { Siblings } from "./branches.ts";
import { openTurn, shownTurns, siblings, type Conversation } from "./conversation.ts";
import { find } from "./dom.ts";
import type { Turn } from "./turn.ts";
import { TurnView, type TurnActions } from "./turn_view.ts";

const NEAR_END_PX = 64;
const SPOKEN_CHARACTERS = 1_500; // a screen reader user opens the answer itself for more
const FOUND_MARGIN_PX = 32;
const SPOKEN_MS = 5_000; // then it is gone, or reading on would meet the answer twice
const FOUND_MS = 2_500;

export class ThreadView {
  readonly #scroller = find("thread");
  readonly #column = find("turns");
  readonly #jump = find<HTMLButtonElement>("jump");
  readonly #speaker = find("live");
  readonly #views = new Map<string, TurnView>();
  readonly #drawn = new Map<string, string>();
  readonly #conversation: Conversation;
  readonly #me: string;
  readonly #actions: TurnActions;
  #following = true;
  #lastTop = 0;
  #scheduled = false;
  #spoken: ReturnType<typeof setTimeout> | undefined;

  constructor(conversation: Conversation, me: string, actions: TurnActions) {
    this.#conversation = conversation;
    this.#me = me;
    this.#actions = actions;
    this.#scroller.addEventListener("scroll", () => this.#onScroll(), { passive: true });
    this.#jump.addEventListener("click", () => this.follow());
    new ResizeObserver(() => this.#keepEnd()).observe(this.#column);
    new ResizeObserver(() => this.#keepEnd()).observe(this.#scroller);
  }

  /** Draws soon: at most once per displayed frame, and also while the tab is hidden. */
  schedule(): void {
    if (this.#scheduled) return;
    this.#scheduled = true;
    const run = () => {
      this.#scheduled = false;
      this.draw();
    };
    if (document.hidden) setTimeout(run, 250);
    else requestAnimationFrame(run);
  }

  draw(): void {
    const turns = shownTurns(this.#conversation);
    const places = siblings(this.#conversation);
    this.#column.querySelector(".loading")?.remove();
    this.#column.toggleAttribute("data-busy", openTurn(this.#conversation) !== null);
    const keys = new Set(turns.map((turn) => turn.key));
    for (const [key, view] of this.#views) {
      if (keys.has(key)) continue;
      view.root.remove();
      this.#views.delete(key);
      this.#drawn.delete(key);
    }
    turns.forEach((turn, index) => this.#drawTurn(turn, index, places.get(turn) ?? null));
    this.#keepEnd();
  }

  /** Opens the question of a turn for editing. */
  edit(turn: Turn): void {
    const view = this.#views.get(turn.key);
    view?.asked.edit();
    view?.root.scrollIntoView({ block: "nearest" });
  }

  /** Goes to the end and stays there. */
  follow(): void {
    this.#following = true;
    this.#keepEnd();
  }

  /** Runs `change`, which adds turns above, without moving what is being read. */
  holding(change: () => void): void {
    const before = this.#scroller.scrollHeight - this.#scroller.scrollTop;
    change();
    this.draw();
    this.#scroller.scrollTop = this.#scroller.scrollHeight - before;
  }

  /** Scrolls to the turn whose question or answer has this position; false if it is not here. */
  reveal(position: number): boolean {
    const turn = shownTurns(this.#conversation).findLast((each) => each.order <= position);
    const view = turn && this.#views.get(turn.key);
    if (!turn || !view) return false;
    this.#following = false;
    const mark = turn.order === position ? "data-found" : "data-found-answer";
    view.root.setAttribute(mark, "");
    const place = turn.order === position ? view.root : view.answer;
    const offset = place.getBoundingClientRect().top - this.#scroller.getBoundingClientRect().top;
    this.#scroller.scrollTop += offset - FOUND_MARGIN_PX;
    setTimeout(() => view.root.removeAttribute(mark), FOUND_MS);
    return true;
  }

  /** Speaks politely, once. */
  speak(text: string): void {
    clearTimeout(this.#spoken);
    this.#speaker.textContent = text.slice(0, SPOKEN_CHARACTERS);
    this.#spoken = setTimeout(() => this.#speaker.replaceChildren(), SPOKEN_MS);
  }

  #drawTurn(turn: Turn, index: number, siblings: Siblings | null): void {
    let view = this.#views.get(turn.key);
    if (!view) {
      view = new TurnView(turn, this.#me, this.#actions);
      this.#views.set(turn.key, view);
    }
    if (this.#column.children[index] !== view.root) {
      this.#column.insertBefore(view.root, this.#column.children[index] ?? null);
    }
    const place = siblings ? `${siblings.number}/${siblings.count}` : "";
    const stamp = `${turn.version}|${place}`;
    if (this.#drawn.get(turn.key) === stamp) return;
    this.#drawn.set(turn.key, stamp);
    view.update(turn, siblings);
  }

  #distance(): number {
    const { scrollHeight, scrollTop, clientHeight } = this.#scroller;
    return scrollHeight - scrollTop - clientHeight;
  }

  #onScroll(): void {
    const top = this.#scroller.scrollTop;
    const near = this.#distance() < NEAR_END_PX;
    if (near) this.#following = true;
    else if (top < this.#lastTop) this.#following = false;
    this.#lastTop = top;
    this.#jump.hidden = near || this.#following;
  }

  #keepEnd(): void {
    if (this.#following) {
      this.#scroller.scrollTop = this.#scroller.scrollHeight;
      this.#lastTop = this.#scroller.scrollTop;
    }
    this.#jump.hidden = this.#following || this.#distance() < NEAR_END_PX;
  }
}
