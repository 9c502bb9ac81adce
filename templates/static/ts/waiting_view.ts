// The messages above the composer that wait: said to the running answer, or queued behind it.
import closeIcon from "../icons/close.svg";
import pencilIcon from "../icons/pencil.svg";
import queueIcon from "../icons/queue.svg";
import steerIcon from "../icons/steer.svg";
import type { Waiting } from "./conversation.ts";
import { drawing, find, h, iconButton } from "./dom.ts";
import { say } from "./strings.ts";
import type { Steer, Turn } from "./turn.ts";

export interface WaitingActions {
  readonly change: (waiting: Waiting, text: string) => void;
  /** Makes a steer of a queued message, or the other way round. */
  readonly convert: (waiting: Waiting) => void;
  readonly remove: (waiting: Waiting) => void;
  readonly focusComposer: () => void;
}

export class WaitingView {
  readonly #root = find("waiting");
  readonly #actions: WaitingActions;
  #items: readonly Waiting[] = [];
  #live = false;
  #editing: Steer | Turn | null = null;
  #drawn = "";

  constructor(actions: WaitingActions) {
    this.#actions = actions;
  }

  /** `live` is true while a turn can be told something. */
  draw(items: readonly Waiting[], live: boolean): void {
    this.#items = items;
    this.#live = live;
    if (!items.some((each) => subject(each) === this.#editing)) this.#editing = null;
    const drawn = JSON.stringify([live, items.map((each) => [each.type, textOf(each), isSent(each)])]);
    if (drawn === this.#drawn) return;
    this.#drawn = drawn;
    this.#render();
  }

  /** Opens the last message that waits for editing; false where none can be. */
  editLast(): boolean {
    const last = this.#items.findLast(isSent);
    if (last) this.#edit(last);
    return last !== undefined;
  }

  #render(): void {
    // What is being written stays as it is, whatever else moves.
    const field = this.#root.querySelector("textarea");
    this.#root.hidden = this.#items.length === 0;
    this.#root.replaceChildren(
      ...this.#items.map((each) =>
        subject(each) === this.#editing
          ? this.#editor(each, field?.value ?? textOf(each))
          : this.#chip(each),
      ),
    );
    this.#root.querySelector("textarea")?.focus();
  }

  #edit(each: Waiting | null): void {
    this.#root.querySelector("textarea")?.remove();
    this.#editing = each && subject(each);
    this.#render();
    if (!each) this.#actions.focusComposer();
  }

  #chip(each: Waiting): HTMLElement {
    const text = textOf(each);
    const steers = each.type === "steer";
    const act = (icon: string, label: string, run: () => void) =>
      iconButton(icon, `${label}: ${text.slice(0, 40)}`, run);
    return h(
      "li",
      { class: "chip", "data-kind": each.type },
      drawing(steers ? steerIcon : queueIcon),
      h("span", { class: "chip-kind" }, steers ? say.steering() : say.queued()),
      h("span", { class: "chip-text", dir: "auto", title: text }, text),
      ...(isSent(each)
        ? [
            act(pencilIcon, say.editWaiting(), () => this.#edit(each)),
            steers || this.#live
              ? act(
                  steers ? queueIcon : steerIcon,
                  steers ? say.queueInstead() : say.steerInstead(),
                  () => this.#actions.convert(each),
                )
              : "",
            act(closeIcon, say.removeWaiting(), () => this.#actions.remove(each)),
          ]
        : []),
    );
  }

  #editor(each: Waiting, text: string): HTMLElement {
    const field = h("textarea", {
      class: "input",
      rows: "1",
      dir: "auto",
      maxlength: "32000",
      "aria-label": say.editWaiting(),
    });
    field.value = text;
    const save = () => {
      const changed = field.value.trim();
      this.#edit(null);
      if (changed !== "" && changed !== textOf(each)) this.#actions.change(each, changed);
    };
    field.addEventListener("keydown", (event) => {
      if (event.isComposing || event.keyCode === 229) return;
      if (event.key === "Enter" && !event.shiftKey) {
        event.preventDefault();
        save();
      } else if (event.key === "Escape") {
        event.preventDefault();
        this.#edit(null);
      }
    });
    return h(
      "li",
      { class: "chip editing" },
      field,
      h("button", { type: "button", class: "button", onclick: save }, say.save()),
    );
  }
}

function subject(each: Waiting): Steer | Turn {
  return each.type === "steer" ? each.steer : each.turn;
}

function textOf(each: Waiting): string {
  return each.type === "steer" ? each.steer.text : (each.turn.ask?.text ?? "");
}

function isSent(each: Waiting): boolean {
  return each.type === "steer" ? each.steer.id !== "" : each.turn.inputId !== null;
}
