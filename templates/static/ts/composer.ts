// The message field: sends on Enter, keeps drafts, turns its button into Stop, and while an
// answer is being written offers to steer it or to queue behind it.
import sendIcon from "../icons/send.svg";
import stopIcon from "../icons/stop.svg";
import { drawing, find } from "./dom.ts";
import type { Drafts } from "./drafts.ts";
import { say } from "./strings.ts";

/** What becomes of a message that is written while an answer is being written. */
export type During = "steer" | "queue";

export interface ComposerActions {
  readonly send: (text: string) => void;
  readonly steer: (text: string) => void;
  readonly stop: () => void;
  /** Opens the member's last message for editing; false where there is none. */
  readonly editLast: () => boolean;
}

const SAVE_DELAY_MS = 250;

export class Composer {
  readonly #form = find<HTMLFormElement>("composer");
  readonly #field = find<HTMLTextAreaElement>("message");
  readonly #button = find<HTMLButtonElement>("send");
  readonly #during = find("during");
  readonly #steer = find<HTMLButtonElement>("steer");
  readonly #queue = find<HTMLButtonElement>("queue");
  readonly #drafts: Drafts;
  readonly #actions: ComposerActions;
  readonly #usual: During | null;
  #conversation: string | null;
  #running = false;
  #live = false;
  #timer: ReturnType<typeof setTimeout> | undefined;

  /** Without a `usual` way nothing can be given while an answer is being written. */
  constructor(
    conversation: string | null,
    drafts: Drafts,
    usual: During | null,
    actions: ComposerActions,
  ) {
    this.#conversation = conversation;
    this.#drafts = drafts;
    this.#usual = usual;
    this.#actions = actions;
    // What was typed before this code ran is newer than any stored draft.
    this.write(this.#field.value || drafts.load(conversation));
    this.#form.addEventListener("submit", (event) => {
      event.preventDefault();
      if (this.#running) actions.stop();
      else this.#give(actions.send);
    });
    this.#steer.addEventListener("click", () => this.#give(actions.steer));
    this.#queue.addEventListener("click", () => this.#give(actions.send));
    this.#field.addEventListener("keydown", (event) => this.#onKey(event));
    this.#field.addEventListener("input", () => this.#changed());
    window.addEventListener("pagehide", () => this.#saveNow());
    this.#draw();
  }

  focus(): void {
    this.#field.focus();
  }

  /** Puts text into the field, cursor at its end. */
  write(text: string): void {
    this.#field.value = text;
    this.#field.setSelectionRange(text.length, text.length);
    this.#fit();
    this.#draw();
  }

  get text(): string {
    return this.#field.value;
  }

  /** `running` while an answer is on its way, `live` while it can be told something. */
  state(running: boolean, live: boolean): void {
    if (running === this.#running && live === this.#live) return;
    this.#running = running;
    this.#live = live;
    this.#draw();
  }

  /** The conversation got its id; what is written from now on belongs to it. */
  moveTo(conversation: string): void {
    this.#conversation = conversation;
  }

  #give(act: (text: string) => void): void {
    const text = this.#field.value.trim();
    if (text === "" || (this.#running && this.#usual === null)) return;
    clearTimeout(this.#timer);
    this.#timer = undefined;
    // The stored draft stays until the server has the message: a reload in between loses nothing.
    this.write("");
    this.#field.focus();
    act(text);
  }

  #onKey(event: KeyboardEvent): void {
    // 229 is what browsers report for keys that an input method is using.
    if (event.isComposing || event.keyCode === 229) return;
    const command = event.ctrlKey || event.metaKey;
    if (event.key === "Enter" && !event.shiftKey && !event.altKey) {
      event.preventDefault();
      this.#give(this.#way(command) === "steer" ? this.#actions.steer : this.#actions.send);
    } else if (event.key === "Escape" && !event.shiftKey && this.#running) {
      event.preventDefault();
      this.#actions.stop();
    } else if (event.key === "ArrowUp" && this.#field.value === "" && !command) {
      if (this.#actions.editLast()) event.preventDefault();
    }
  }

  // Enter goes the usual way, with Ctrl or Cmd the other one.
  #way(other: boolean): During {
    if (!this.#running || !this.#live || this.#usual === null) return "queue";
    if (!other) return this.#usual;
    return this.#usual === "steer" ? "queue" : "steer";
  }

  #changed(): void {
    this.#fit();
    this.#draw();
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#saveNow(), SAVE_DELAY_MS);
  }

  #saveNow(): void {
    clearTimeout(this.#timer);
    if (this.#field.value !== "") this.#drafts.save(this.#conversation, this.#field.value);
    else if (this.#timer !== undefined) this.#drafts.save(this.#conversation, "");
    this.#timer = undefined;
  }

  // For browsers that do not size fields by their content.
  #fit(): void {
    if (CSS.supports("field-sizing", "content")) return;
    this.#field.style.blockSize = "auto";
    this.#field.style.blockSize = `${this.#field.scrollHeight}px`;
  }

  #draw(): void {
    const written = this.#field.value.trim() !== "";
    this.#during.hidden = !this.#running || !written || this.#usual === null;
    this.#steer.hidden = !this.#live;
    const steers = this.#way(false) === "steer";
    this.#steer.classList.toggle("primary", steers);
    this.#queue.classList.toggle("primary", !steers);
    const label = this.#running ? say.stop() : say.send();
    this.#button.disabled = !this.#running && !written;
    if (this.#button.getAttribute("aria-label") === label) return;
    this.#button.setAttribute("aria-label", label);
    this.#button.title = label;
    this.#button.toggleAttribute("data-stop", this.#running);
    this.#button.replaceChildren(drawing(this.#running ? stopIcon : sendIcon));
  }
}
