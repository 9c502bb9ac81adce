// Search over one's own conversations. htmx fetches the hits; the arrow keys walk them while
// the cursor stays in the field.
import { find } from "./dom.ts";

const dialog = () => find<HTMLDialogElement>("search-dialog");

export function openSearch(): void {
  if (dialog().open) return;
  dialog().showModal();
  const field = find<HTMLInputElement>("search-field");
  field.select();
  if (field.value === "") field.dispatchEvent(new Event("input", { bubbles: true }));
}

export function wireSearch(): void {
  const field = document.getElementById("search-field");
  if (!field) return;
  const results = find("search-results");
  results.addEventListener("htmx:afterSwap", () => select(0));
  field.addEventListener("keydown", (event) => {
    const hits = hitsOf();
    const at = hits.findIndex((hit) => hit.getAttribute("aria-selected") === "true");
    if (event.key === "ArrowDown" || event.key === "ArrowUp") {
      event.preventDefault();
      const step = event.key === "ArrowDown" ? 1 : -1;
      if (hits.length > 0) select((at + step + hits.length) % hits.length);
    } else if (event.key === "Enter" && !event.isComposing) {
      event.preventDefault();
      hits[Math.max(at, 0)]?.click();
    }
  });
}

function hitsOf(): HTMLElement[] {
  return [...find("search-results").querySelectorAll<HTMLElement>("[role=option]")];
}

function select(index: number): void {
  const field = find("search-field");
  field.removeAttribute("aria-activedescendant");
  hitsOf().forEach((hit, at) => {
    hit.setAttribute("aria-selected", String(at === index));
    if (at !== index) return;
    field.setAttribute("aria-activedescendant", hit.id);
    hit.scrollIntoView({ block: "nearest" });
  });
}
