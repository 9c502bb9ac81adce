// What a member asked: the bubble, its siblings, and editing it in place.
import backIcon from "../icons/back.svg";
import chevronIcon from "../icons/chevron.svg";
import copyIcon from "../icons/copy.svg";
import pencilIcon from "../icons/pencil.svg";
import type { Siblings } from "./branches.ts";
import { copy } from "./clipboard.ts";
import { h, iconButton } from "./dom.ts";
import { say } from "./strings.ts";
import type { Turn } from "./turn.ts";
import type { TurnActions } from "./turn_view.ts";

export class AskedView {
  readonly root = h("div", { class: "asked", hidden: true });
  readonly #actions: TurnActions;
  readonly #me: string;
  #turn: Turn;
  #siblings: Siblings | null = null;
  #drawn = "";
  #editor: HTMLTextAreaElement | null = null;

  constructor(turn: Turn, me: string, actions: TurnActions) {
    this.#turn = turn;
    this.#me = me;
    this.#actions = actions;
  }

  update(turn: Turn, siblings: Siblings | null): void {
    this.#turn = turn;
    this.#siblings = siblings;
    const place = siblings ? `${siblings.number}/${siblings.count}` : "";
    const drawn = `${turn.state === "unsent"}|${turn.inputId !== null}|${place}|${turn.message}|${turn.ask?.text ?? ""}`;
    if (!turn.ask || drawn === this.#drawn || this.#editor) return;
    this.#drawn = drawn;
    this.root.hidden = false;
    this.#draw(siblings);
  }

  /** Opens the field in place of the words; Ctrl or Cmd with Enter asks anew, Escape leaves. */
  edit(): void {
    if (this.#editor || !this.#turn.ask || this.#turn.inputId === null) return;
    const field = h("textarea", {
      class: "input",
      "aria-label": say.editQuestion(),
      dir: "auto",
      rows: "3",
      maxlength: "32000",
    });
    field.value = this.#turn.ask.text;
    field.addEventListener("keydown", (event) => this.#onKey(event));
    this.#editor = field;
    this.root.replaceChildren(
      h(
        "div",
        { class: "edit" },
        field,
        h(
          "div",
          { class: "edit-foot" },
          h("span", { class: "help" }, say.editHint()),
          textButton(say.cancel(), "button quiet", () => this.#leave()),
          textButton(say.send(), "button primary", () => this.#save()),
        ),
      ),
    );
    field.focus();
    field.setSelectionRange(field.value.length, field.value.length);
  }

  #onKey(event: KeyboardEvent): void {
    if (event.isComposing || event.keyCode === 229) return;
    if (event.key === "Escape") {
      event.preventDefault();
      this.#leave();
    } else if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) {
      event.preventDefault();
      this.#save();
    }
  }

  #save(): void {
    const text = this.#editor?.value.trim() ?? "";
    if (text === "") return;
    this.#close();
    this.#actions.edit(this.#turn, text);
    this.#actions.focusComposer();
  }

  #leave(): void {
    this.#close();
    this.root.querySelector<HTMLElement>("[data-edit]")?.focus();
  }

  #close(): void {
    this.#editor = null;
    this.#drawn = "";
    this.update(this.#turn, this.#siblings);
  }

  #draw(siblings: Siblings | null): void {
    const { ask, state, message } = this.#turn;
    const author = ask?.author ?? "";
    const mine = author === "" || author === this.#me;
    this.root.replaceChildren(
      h("h3", { class: "visually-hidden" }, mine ? say.youAsked() : say.someoneAsked(author)),
      h("div", { class: "bubble", dir: "auto" }, ask?.text ?? ""),
    );
    this.root.toggleAttribute("data-unsent", state === "unsent");
    if (state === "unsent") return void this.root.append(this.#trouble(message));
    const tools = h(
      "div",
      { class: "turn-actions" },
      iconButton(copyIcon, say.copyMessage(), () =>
        void copy(this.#turn.ask?.text ?? "", say.messageCopied()),
      ),
    );
    if (mine && this.#turn.inputId !== null) {
      const pencil = iconButton(pencilIcon, say.editMessage(), () => this.edit());
      pencil.classList.add("when-idle");
      pencil.dataset.edit = "";
      tools.append(pencil);
    }
    if (siblings) tools.append(this.#pager(siblings));
    this.root.append(tools);
  }

  #pager({ number, count, before, after }: Siblings): HTMLElement {
    const step = (icon: string, label: string, to: Siblings["before"]) => {
      const button = iconButton(icon, label, () => to && this.#actions.choose(to));
      button.disabled = to === null;
      return button;
    };
    return h(
      "div",
      { class: "pager-small when-idle", role: "group", "aria-label": say.versions(number, count) },
      step(backIcon, say.versionBefore(), before),
      h("span", {}, `${number}/${count}`),
      step(chevronIcon, say.versionAfter(), after),
    );
  }

  #trouble(message: string): HTMLElement {
    return h(
      "div",
      { class: "asked-note bad", role: "alert" },
      h("span", {}, `${say.notSent()} ${message}`.trim()),
      textButton(say.retry(), "link-button", () => this.#actions.retry(this.#turn)),
      textButton(say.backToWriting(), "link-button", () => this.#actions.takeBack(this.#turn)),
    );
  }
}

function textButton(label: string, kind: string, onclick: () => void): HTMLButtonElement {
  return h("button", { type: "button", class: kind, onclick }, label);
}
