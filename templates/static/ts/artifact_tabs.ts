// The three tabs of the panel: arrows walk them, each names the part it shows.
import { words } from "./artifact_words.ts";
import { h } from "./dom.ts";

const NAMES = ["preview", "source", "history"] as const;
const LABELS: Readonly<Record<string, () => string>> = {
  preview: words.preview,
  source: words.source,
  history: words.history,
};

export class Tabs {
  readonly root = h("div", { class: "panel-tabs", role: "tablist", "aria-label": words.panel() });
  readonly #chosen: (name: string) => void;
  readonly #buttons = new Map<string, HTMLButtonElement>();
  chosen = "preview";

  constructor(chosen: (name: string) => void) {
    this.#chosen = chosen;
    for (const name of NAMES) {
      const button = h(
        "button",
        {
          type: "button",
          role: "tab",
          id: `panel-tab-${name}`,
          "aria-controls": `panel-part-${name}`,
          onclick: () => this.#press(name),
        },
        h("span", {}, LABELS[name]?.() ?? name),
      );
      this.#buttons.set(name, button);
      this.root.append(button);
    }
    this.root.addEventListener("keydown", (event) => this.#walk(event));
    this.choose("preview");
  }

  /** Attributes that tie a part to its tab. */
  labels(name: string): Readonly<Record<string, string>> {
    return { role: "tabpanel", id: `panel-part-${name}`, "aria-labelledby": `panel-tab-${name}` };
  }

  hide(hidden: boolean): void {
    this.root.hidden = hidden;
    if (hidden) this.choose("preview");
  }

  choose(name: string): void {
    this.chosen = name;
    for (const [each, button] of this.#buttons) {
      button.setAttribute("aria-selected", String(each === name));
      button.tabIndex = each === name ? 0 : -1;
    }
  }

  name(name: string, label: string): void {
    const text = this.#buttons.get(name)?.firstElementChild;
    if (text) text.textContent = label;
  }

  /** Marks a tab, with words for those who do not see it; empty takes the mark off. */
  mark(name: string, spoken: string): void {
    const button = this.#buttons.get(name);
    if (!button || button.hasAttribute("data-marked") === (spoken !== "")) return;
    button.toggleAttribute("data-marked", spoken !== "");
    button.querySelector(".visually-hidden")?.remove();
    if (spoken !== "") button.append(h("span", { class: "visually-hidden" }, `, ${spoken}`));
  }

  focus(): void {
    this.#buttons.get(this.chosen)?.focus();
  }

  #press(name: string): void {
    this.choose(name);
    this.#chosen(name);
  }

  #walk(event: KeyboardEvent): void {
    const at = NAMES.indexOf(this.chosen as (typeof NAMES)[number]);
    const rightToLeft = getComputedStyle(this.root).direction === "rtl";
    const step = { ArrowRight: rightToLeft ? -1 : 1, ArrowLeft: rightToLeft ? 1 : -1 }[event.key];
    const to = event.key === "Home" ? 0 : event.key === "End" ? NAMES.length - 1 : null;
    const next = to ?? (step === undefined ? null : (at + step + NAMES.length) % NAMES.length);
    if (next === null) return;
    event.preventDefault();
    this.#press(NAMES[next] ?? "preview");
    this.focus();
  }
}
