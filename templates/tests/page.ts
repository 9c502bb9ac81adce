// The drawing of texts as the page has it, on a document without a browser.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { build } from "esbuild";
import { JSDOM } from "jsdom";

type Prose = typeof import("../static/ts/prose_view.ts");

const { window } = new JSDOM("<!doctype html><head></head><body></body>", { url: "http://kaizen.test/" });
const GLOBALS = ["document", "DOMParser", "NodeFilter", "Text", "Node", "HTMLElement", "Element"] as const;
for (const name of GLOBALS) Object.assign(globalThis, { [name]: window[name] });
Object.assign(globalThis, { window });
// Nothing is loaded here; a style that is asked for counts as there.
new window.MutationObserver((records) => {
  for (const record of records) {
    for (const node of record.addedNodes) node.dispatchEvent(new window.Event("load"));
  }
}).observe(window.document.head, { childList: true });

/** The module as it is bundled for browsers. */
export async function load(): Promise<Prose> {
  const folder = mkdtempSync(join(tmpdir(), "kaizen-prose-"));
  process.on("exit", () => rmSync(folder, { recursive: true, force: true }));
  await build({
    entryPoints: [join(import.meta.dirname, "../static/ts/prose_view.ts")],
    outdir: folder,
    bundle: true,
    splitting: true,
    format: "esm",
    outExtension: { ".js": ".mjs" },
    loader: { ".svg": "text" },
    logLevel: "error",
  });
  return (await import(pathToFileURL(join(folder, "prose_view.mjs")).href)) as Prose;
}
