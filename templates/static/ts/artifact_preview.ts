// What a version looks like: prose, coloured code, a drawn graph, a sortable table, or a document
// of its own in a sealed frame. Everything drawn here is built from text, never from markup.
import { previewAddress, type Artifact, type Version } from "./artifact_api.ts";
import { GraphView } from "./artifact_graph_view.ts";
import { parseGraph } from "./artifact_graph.ts";
import { renderable } from "./artifact_renderable.ts";
import { parseTable } from "./artifact_rows.ts";
import { TableView } from "./artifact_table.ts";
import { words } from "./artifact_words.ts";
import { h } from "./dom.ts";
import { fenced } from "./markdown_code.ts";
import { ProseView } from "./prose_view.ts";

const PIECE_CHARACTERS = 8_000; // drawn in less than a tenth of a second
const FRAMED: ReadonlySet<string> = new Set(["html", "htm", "xhtml", "svg"]);
const SEPARATORS: Readonly<Record<string, string | undefined>> = { csv: undefined, tsv: "\t" };

/** `draft` is unsaved text that is shown in place of the version's. */
export function preview(artifact: Artifact, version: Version, draft: string | null): HTMLElement {
  const framed = artifact.kind === "code" && FRAMED.has(version.language);
  const body = framed
    ? frame(artifact, version)
    : drawn(artifact, version, draft ?? version.content);
  const note = framed ? words.previewSaved() : words.previewDraft();
  return h(
    "div",
    { class: framed ? "preview framed" : "preview" },
    draft !== null && h("p", { class: "preview-note" }, note),
    body,
  );
}

function drawn(artifact: Artifact, version: Version, text: string): HTMLElement {
  switch (artifact.kind) {
    case "markdown":
      return prose(text);
    case "graph":
      return graph(text, artifact.title);
    case "renderable":
      return version.renderable ? renderable(version.renderable, artifact.title) : code(text, "json", artifact.title);
    case "text":
      return h("div", { class: "plain-text", dir: "auto" }, text);
    case "code":
      return code(text, version.language, artifact.title);
  }
}

// A long text is drawn piece by piece, so that its beginning is there at once.
function prose(text: string): HTMLElement {
  const view = new ProseView();
  const draw = (from: number): void => {
    if (from > 0 && !view.root.isConnected) return;
    const end = text.indexOf("\n\n", from + PIECE_CHARACTERS);
    if (end === -1) return view.update(text, true);
    view.update(text.slice(0, end), false);
    setTimeout(() => draw(end));
  };
  draw(0);
  return view.root;
}

function graph(text: string, title: string): HTMLElement {
  const parsed = parseGraph(text);
  if (parsed) return new GraphView(parsed, title).root;
  return h("div", {}, h("p", { class: "empty" }, words.notADrawing()), code(text, "json", title));
}

function code(text: string, language: string, title: string): HTMLElement {
  const table = language in SEPARATORS ? parseTable(text, SEPARATORS[language]) : null;
  if (table) return new TableView(table, title).root;
  return prose(fenced(text, language.replace(/[^\w+#.-]/g, "")));
}

// Scripts of the document run without an origin: no cookies, no storage, no way to this page.
function frame(artifact: Artifact, version: Version): HTMLElement {
  return h("iframe", {
    class: "preview-frame",
    sandbox: "allow-scripts",
    referrerpolicy: "no-referrer",
    title: words.previewOf(artifact.title),
    src: previewAddress(artifact.id, version.number),
  });
}
