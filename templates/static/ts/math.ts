// Loaded with the first formula. Nothing in a formula is trusted: no links, no pictures, no
// markup of its own, and bounds on how far it expands and how large it gets.
import katex from "katex";

const EXPANSIONS = 200;
const LARGEST_EM = 40;
const KEPT = 300;
const REFUSED = "a, img, iframe, [href], [src], [id], [onclick]";

const kept = new Map<string, Node>();

/** Resolves once formulas look right; also where their style cannot be loaded. */
export const styled = new Promise<void>((resolve) => {
  const link = document.createElement("link");
  link.rel = "stylesheet";
  link.href = new URL("../math.css", import.meta.url).href;
  link.addEventListener("load", () => resolve());
  link.addEventListener("error", () => resolve());
  document.head.append(link);
});

/** The formula as elements, or null if it cannot be read as one. */
export function set(tex: string, display: boolean): Node | null {
  const key = `${display ? "d" : "i"}${tex}`;
  const known = kept.get(key);
  if (known) return known.cloneNode(true);
  const holder = document.createElement("span");
  try {
    katex.render(tex, holder, {
      displayMode: display,
      throwOnError: true,
      trust: false,
      strict: "ignore",
      maxExpand: EXPANSIONS,
      maxSize: LARGEST_EM,
      macros: {},
      output: "htmlAndMathml",
    });
  } catch {
    return null; // not mathematics, too deep or too far: it is shown as it was written
  }
  const drawn = holder.firstElementChild;
  if (!drawn || holder.querySelector(REFUSED)) return null;
  if (kept.size >= KEPT) kept.clear();
  kept.set(key, drawn);
  return drawn.cloneNode(true);
}
