// What an agent does besides writing its answer.
import alertIcon from "../icons/alert.svg";
import checkIcon from "../icons/check.svg";
import chevronIcon from "../icons/chevron.svg";
import clockIcon from "../icons/clock.svg";
import deniedIcon from "../icons/denied.svg";
import documentIcon from "../icons/document.svg";
import infoIcon from "../icons/info.svg";
import spinnerIcon from "../icons/spinner.svg";
import type { Call, CallState, DataPart, ToolsPart } from "./conversation.ts";
import { drawing, h } from "./dom.ts";
import { numberOf, textOf, type FrameData } from "./frames.ts";
import { ProseView } from "./prose_view.ts";
import { say } from "./strings.ts";

const SIGNS: Readonly<Record<CallState, { icon: string; words: () => string }>> = {
  queued: { icon: clockIcon, words: say.queuedTool },
  running: { icon: spinnerIcon, words: say.runningTool },
  waiting: { icon: clockIcon, words: say.waitingTool },
  done: { icon: checkIcon, words: say.doneTool },
  failed: { icon: alertIcon, words: say.failedTool },
  denied: { icon: deniedIcon, words: say.deniedTool },
};
// The state of a group is that of its most pressing call.
const PRESSING: readonly CallState[] = ["waiting", "running", "queued", "failed", "denied", "done"];

/** Draws the calls into `root`, keeping what the reader has opened. */
export function drawTools(root: HTMLElement, part: ToolsPart): void {
  const open = new Set<string>();
  for (const details of root.querySelectorAll<HTMLDetailsElement>("details[open]")) {
    open.add(details.dataset.id ?? "");
  }
  const focused = root.contains(document.activeElement)
    ? document.activeElement?.parentElement?.dataset.id
    : undefined;
  const cards = part.calls.map((call) => callCard(call, open.has(call.id)));
  root.className = "tools";
  root.replaceChildren(...(cards.length > 1 ? [group(part, cards, open.has("group"))] : cards));
  if (focused) {
    root.querySelector<HTMLElement>(`[data-id="${CSS.escape(focused)}"] > summary`)?.focus();
  }
}

function group(part: ToolsPart, cards: HTMLElement[], open: boolean): HTMLElement {
  const state = PRESSING.find((each) => part.calls.some((call) => call.state === each)) ?? "done";
  return h(
    "details",
    { class: "tool", "data-id": "group", "data-state": state, open },
    h(
      "summary",
      {},
      h("span", { class: "tool-sign" }, drawing(SIGNS[state].icon)),
      h("span", { class: "label" }, say.tools(part.calls.length)),
      h("span", { class: "state" }, SIGNS[state].words()),
      drawChevron(),
    ),
    h("div", { class: "tools-list" }, ...cards),
  );
}

function callCard(call: Call, open: boolean): HTMLElement {
  const took = call.durationMs === null ? "" : ` · ${duration(call.durationMs)}`;
  return h(
    "details",
    { class: "tool", "data-id": call.id, "data-state": call.state, open },
    h(
      "summary",
      {},
      h("span", { class: "tool-sign" }, drawing(SIGNS[call.state].icon)),
      h("span", { class: "label", title: call.name }, call.label),
      h("span", { class: "state" }, SIGNS[call.state].words() + took),
      drawChevron(),
    ),
    h(
      "div",
      { class: "tool-detail" },
      detail(say.arguments(), call.arguments),
      call.state === "queued" || call.state === "running"
        ? null
        : detail(say.result(), call.result),
    ),
  );
}

function drawChevron(): Element {
  const icon = drawing(chevronIcon);
  icon.classList.add("chevron");
  return icon;
}

function detail(title: string, value: unknown): HTMLElement {
  const shown = plainly(value);
  const empty = shown === null || shown === undefined || shown === "";
  const text = typeof shown === "string" ? shown : JSON.stringify(shown, null, 2);
  return h(
    "div",
    {},
    h("h4", {}, title),
    h("pre", { tabindex: "0" }, empty ? say.noResult() : text),
  );
}

// A value that is nothing but one sentence is shown as that sentence.
function plainly(value: unknown): unknown {
  if (typeof value !== "object" || value === null) return value;
  const entries = Object.entries(value);
  const [only] = entries;
  const isSentence = entries.length === 1 && (only?.[0] === "message" || only?.[0] === "text");
  return isSentence ? only?.[1] : value;
}

function duration(milliseconds: number): string {
  if (milliseconds < 1_000) return say.milliseconds(Math.round(milliseconds));
  return say.seconds((milliseconds / 1_000).toFixed(1));
}

/** A card for something other than prose or tools. */
export function dataCard(part: DataPart): HTMLElement {
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
    case "building":
      return h("p", { class: "note" }, drawing(documentIcon), say.building(buildingNames(part.data)));
    case "saved":
      return savedCard(part.data);
    case "canvas":
      return canvasCard(part.data);
  }
}

function buildingNames(data: FrameData): string {
  const names = Array.isArray(data.names) ? data.names : [data.title ?? data.name];
  return names.filter((name) => typeof name === "string").join(", ");
}

function savedCard(data: FrameData): HTMLElement {
  const version = numberOf(data, "version");
  const id = textOf(data, "artifact_id") || textOf(data, "id");
  return h(
    "div",
    { class: "saved" },
    drawing(documentIcon),
    h(
      "div",
      { class: "what" },
      h("strong", {}, textOf(data, "title") || textOf(data, "name")),
      h("span", {}, version === null ? say.savedPlain() : say.saved(version)),
    ),
    id !== "" &&
      h(
        "a",
        { class: "button", href: `/api/artifacts/${encodeURIComponent(id)}/download`, download: true },
        say.download(),
      ),
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

function fenced(code: string, language: string): string {
  const longest = Math.max(2, ...[...code.matchAll(/`+/g)].map((run) => run[0].length));
  const fence = "`".repeat(longest + 1);
  return `${fence}${language}\n${code}\n${fence}`;
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
