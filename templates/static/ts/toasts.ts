import { h } from "./dom.ts";

const PLAIN_MS = 2_500;
const ACTION_MS = 8_000; // long enough to read, decide and reach the button

interface Action {
  readonly label: string;
  readonly run: () => void;
}

/** A short message at the foot of the page, spoken politely, with one way back at most. */
export function toast(message: string, action: Action | null = null): void {
  const holder = document.getElementById("toasts");
  if (!holder) return;
  const note = h("div", { class: "toast" }, h("span", {}, message));
  if (action) {
    const onclick = () => {
      note.remove();
      action.run();
    };
    note.append(h("button", { type: "button", onclick }, action.label));
  }
  holder.replaceChildren(note);
  const timer = setInterval(() => {
    if (note.matches(":hover, :focus-within")) return;
    clearInterval(timer);
    note.remove();
  }, action ? ACTION_MS : PLAIN_MS);
}
