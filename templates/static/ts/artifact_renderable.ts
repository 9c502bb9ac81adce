// A renderable version as the server shows it: a table or the words that stand for one, what it
// refers to, and where it comes from. The panel shows its markings above all of it.
import type { Renderable } from "./artifact_api.ts";
import { TableView } from "./artifact_table.ts";
import { words } from "./artifact_words.ts";
import { h } from "./dom.ts";
import { count } from "./measures.ts";

/** What stands over the whole; nothing is made up where only portions are marked. */
export function bannerOf({ banner, markings }: Renderable): string {
  if (banner.length > 0) return banner.join(" · ");
  return markings.length > 0 ? words.portions() : "";
}

export function renderable(shown: Renderable, title: string): HTMLElement {
  const { cluster, dataset, job } = shown.provenance;
  const marked = shown.markings.filter(({ portion }) => portion !== null && portion !== "banner");
  return h(
    "div",
    { class: "renderable" },
    shown.table ? table(shown.table, title) : h("p", { class: "plain-text", dir: "auto" }, shown.text),
    shown.result_ref !== null && reference(shown.result_ref),
    marked.length > 0 &&
      h(
        "dl",
        { class: "portions" },
        ...marked.map(({ portion, marking }) =>
          h("div", {}, h("dt", {}, portion), h("dd", {}, marking)),
        ),
      ),
    h(
      "p",
      { class: "provenance" },
      h("span", {}, words.provenance()),
      ...[cluster, dataset, job].map((each) => h("span", { class: "tag" }, each)),
    ),
  );
}

/** JSON as people read it. */
export function readable(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text;
  }
}

function table(sent: NonNullable<Renderable["table"]>, title: string): HTMLElement {
  const columns = sent.columns.map(({ label, type, order }) => ({
    label,
    order,
    numeric: type === "number",
    unbroken: type === "date" || type === "datetime" || type === "boolean",
  }));
  const note = sent.cut ? words.partOfRows(count(sent.rows.length), count(sent.total)) : "";
  return new TableView({ columns, rows: sent.rows }, title, note).root;
}

// Never followed: a reference says what the result is, not where it can be fetched.
function reference({ id, content_digest: digest, version }: NonNullable<Renderable["result_ref"]>): HTMLElement {
  return h(
    "div",
    { class: "reference" },
    h("p", {}, words.referenced()),
    h("code", {}, version === undefined ? id : `${id} @ ${version}`),
    h("code", {}, digest),
  );
}
