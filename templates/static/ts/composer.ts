// The message field: sends on Enter, keeps drafts, and turns its button into Stop.
import sendIcon from "../icons/send.svg";
import stopIcon from "../icons/stop.svg";
import { drawing, find } from "./dom.ts";
import type { Drafts } from "./drafts.ts";
import { say } from "./strings.ts";

export interface ComposerActions {
  readonly send: (text: string) => void;
  readonly stop: () => void;
  /** The member's last message, for the up arrow; empty if there is none. */
  readonly lastMessage: () => string;
}

const SAVE_DELAY_MS = 250;

export class Composer {
  readonly #form = find<HTMLFormElement>("composer");
  readonly #field = find<HTMLTextAreaElement>("message");
  readonly #button = find<HTMLButtonElement>("send");
  readonly #drafts: Drafts;
  readonly #actions: ComposerActions;
  #conversation: string | null;
  #running = false;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(conversation: string | null, drafts: Drafts, actions: ComposerActions) {
    this.#conversation = conversation;
    this.#drafts = drafts;
    this.#actions = actions;
    // What was typed before this code ran is newer than any stored draft.
    this.write(this.#field.value || drafts.load(conversation));
    this.#form.addEventListener("submit", (event) => {
      event.preventDefault();
      if (this.#running) actions.stop();
      else this.#send();
    });
    this.#field.addEventListener("keydown", (event) => this.#onKey(event));
    this.#field.addEventListener("input", () => this.#changed());
    window.addEventListener("pagehide", () => this.#saveNow());
    this.#drawButton();
  }

  focus(): void {
    this.#field.focus();
  }

  /** Puts text into the field, cursor at its end. */
  write(text: string): void {
    this.#field.value = text;
    this.#field.setSelectionRange(text.length, text.length);
    this.#fit();
    this.#drawButton();
  }

  get text(): string {
    return this.#field.value;
  }

  set running(running: boolean) {
    if (running === this.#running) return;
    this.#running = running;
    this.#drawButton();
  }

  /** The conversation got its id; what is written from now on belongs to it. */
  moveTo(conversation: string): void {
    this.#conversation = conversation;
  }

  #send(): void {
    const text = this.#field.value.trim();
    if (text === "") return;
    clearTimeout(this.#timer);
    this.#timer = undefined;
    // The stored draft stays until the server has the message: a reload in between loses nothing.
    this.write("");
    this.#actions.send(text);
  }

  #onKey(event: KeyboardEvent): void {
    // 229 is what browsers report for keys that an input method is using.
    if (event.isComposing || event.keyCode === 229) return;
    if (event.key === "Enter" && !event.shiftKey && !event.altKey) {
      event.preventDefault();
      this.#send();
    } else if (event.key === "Escape" && !event.shiftKey && this.#running) {
      event.preventDefault();
      this.#actions.stop();
    } else if (event.key === "ArrowUp" && this.#field.value === "") {
      const last = this.#actions.lastMessage();
      if (last === "") return;
      event.preventDefault();
      this.write(last);
      this.#changed();
    }
  }

  #changed(): void {
    this.#fit();
    this.#drawButton();
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

  #drawButton(): void {
    const label = this.#running ? say.stop() : say.send();
    this.#button.disabled = !this.#running && this.#field.value.trim() === "";
    if (this.#button.getAttribute("aria-label") === label) return;
    this.#button.setAttribute("aria-label", label);
    this.#button.title = label;
    this.#button.toggleAttribute("data-stop", this.#running);
    this.#button.replaceChildren(drawing(this.#running ? stopIcon : sendIcon));
  }
}
