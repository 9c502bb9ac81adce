// What an agent shows besides prose and tool calls: notes, saved work, canvases, summaries.
import alertIcon from "../icons/alert.svg";
import infoIcon from "../icons/info.svg";
import { savedCard, type ArtifactActions } from "./artifact_card.ts";
import { drawing, h } from "./dom.ts";
import { numberOf, textOf, type FrameData } from "./frames.ts";
import { fenced } from "./markdown_code.ts";
import { ProseView } from "./prose_view.ts";
import { say } from "./strings.ts";
import type { DataPart } from "./turn.ts";

/** A card for something other than prose or tools. */
export function dataCard(part: DataPart, actions: ArtifactActions): HTMLElement {
  switch (part.type) {
    case "notice": {
      const warning = textOf(part.data, "level") === "warning";
      return h(
        "p",
        { class: warning ? "note warning" : "note" },
        drawing(warning ? alertIcon : infoIcon),
        textOf(part.data, "message") || textOf(part.data, "text"),
      );
    }
    case "saved":
      return savedCard(part.data, actions);
    case "canvas":
      return canvasCard(part.data);
    case "compaction":
      return compactionLine(part.data);
  }
}

function compactionLine(data: FrameData): HTMLElement {
  const before = numberOf(data, "before_tokens");
  const after = numberOf(data, "after_tokens");
  return h(
    "div",
    { class: "compaction" },
    h("span", {}, before !== null && after !== null ? say.compacted(before, after) : say.compactedPlain()),
  );
}

function canvasCard(data: FrameData): HTMLElement {
  const items = Array.isArray(data.items) ? (data.items as FrameData[]) : [data];
  const title = textOf(data, "title") || say.canvas();
  return h(
    "section",
    { class: "card", "aria-label": title },
    h("h3", {}, title),
    h("div", { class: "canvas-items" }, ...items.map((item) => canvasItem(item, item !== data))),
  );
}

function canvasItem(item: FrameData, titled: boolean): HTMLElement {
  const title = textOf(item, "title");
  return h(
    "div",
    {},
    titled && title !== "" && h("h4", {}, title),
    Array.isArray(item.rows) ? tableItem(item) : proseItem(item),
  );
}

function proseItem(item: FrameData): HTMLElement {
  const text = textOf(item, "markdown") || textOf(item, "text") || textOf(item, "content");
  const kind = textOf(item, "kind");
  if (kind === "text") return h("p", { class: "plain" }, text);
  const view = new ProseView();
  const language = textOf(item, "language").replace(/\W/g, "");
  view.update(kind === "code" ? fenced(text, language) : text, true);
  return view.root;
}

function tableItem(item: FrameData): HTMLElement {
  const columns = Array.isArray(item.columns) ? item.columns : [];
  const rows = item.rows as unknown[];
  return h(
    "div",
    { class: "table-frame", tabindex: "0" },
    h(
      "table",
      {},
      columns.length > 0 &&
        h("thead", {}, h("tr", {}, ...columns.map((name) => h("th", {}, String(name))))),
      h("tbody", {}, ...rows.map((row) => h("tr", {}, ...cells(row)))),
    ),
  );
}

function cells(row: unknown): HTMLElement[] {
  const values = Array.isArray(row) ? row : Object.values(row ?? {});
  return values.map((value) => h("td", {}, value === null ? "" : String(value)));
}
