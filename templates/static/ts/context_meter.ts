// How full the model's window is: a small ring beside the composer's buttons.
import { find } from "./dom.ts";
import { count } from "./measures.ts";
import { say } from "./strings.ts";

const NEARLY_FULL = 0.8;

/** Nothing is shown before the first answer says how much there is. */
export function drawMeter(fill: { readonly tokens: number; readonly window: number } | null): void {
  const button = find<HTMLButtonElement>("context");
  button.hidden = fill === null;
  if (!fill) return;
  const share = Math.min(1, fill.tokens / fill.window);
  const percent = Math.max(1, Math.round(share * 100));
  const label = say.contextFull(percent);
  if (button.getAttribute("aria-label") === label) return;
  button.setAttribute("aria-label", label);
  button.title = label;
  button.toggleAttribute("data-full", share >= NEARLY_FULL);
  button.style.setProperty("--fill", `${percent}%`);
  find("context-label").textContent = label;
  find("context-tokens").textContent = say.contextTokens(count(fill.tokens), count(fill.window));
}
