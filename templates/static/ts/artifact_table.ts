// A table whose columns can be sorted, by mouse and keyboard.
import sortIcon from "../icons/sort.svg";
import { sorted, type Cell, type Column, type Table } from "./artifact_rows.ts";
import { words } from "./artifact_words.ts";
import { drawing, h } from "./dom.ts";
import { count } from "./measures.ts";

const SHOWN_ROWS = 500; // more are drawn when asked for: browsers slow down with ten thousand

export class TableView {
  readonly root: HTMLElement;
  readonly #table: Table;
  readonly #body = h("tbody");
  readonly #heads: HTMLTableCellElement[];
  readonly #more: HTMLButtonElement;
  #order: readonly number[];
  #shown = 0;
  #column = -1;
  #descending = false;

  /** `note` stands below, such as what was left out. */
  constructor(table: Table, label: string, note = "") {
    this.#table = table;
    this.#order = table.rows.map((_, index) => index);
    this.#heads = table.columns.map((column, index) => this.#head(column.label, index));
    this.#more = h("button", { type: "button", class: "button more-rows", onclick: () => this.#draw() });
    this.root = h(
      "div",
      { class: "sheet" },
      h(
        "div",
        { class: "sheet-frame", tabindex: "0", role: "region", "aria-label": label },
        h("table", {}, h("thead", {}, h("tr", {}, ...this.#heads)), this.#body),
      ),
      h(
        "p",
        { class: "sheet-foot" },
        h("span", {}, note || words.rows(count(table.rows.length))),
        this.#more,
      ),
    );
    this.#draw();
  }

  #head(label: string, index: number): HTMLTableCellElement {
    const numeric = this.#table.columns[index]?.numeric ?? false;
    const button = h(
      "button",
      { type: "button", onclick: () => this.#sort(index) },
      h("span", { dir: "auto" }, label),
      drawing(sortIcon),
    );
    return h("th", { scope: "col", "aria-sort": "none", class: numeric ? "align-end" : null }, button);
  }

  #sort(index: number): void {
    this.#descending = this.#column === index && !this.#descending;
    this.#column = index;
    this.#order = sorted(this.#table, index, this.#descending);
    this.#heads.forEach((head, at) => {
      const order = this.#descending ? "descending" : "ascending";
      head.setAttribute("aria-sort", at === index ? order : "none");
    });
    this.#shown = 0;
    this.#body.replaceChildren();
    this.#draw();
  }

  #draw(): void {
    const { rows, columns } = this.#table;
    const until = Math.min(rows.length, this.#shown + SHOWN_ROWS);
    for (const number of this.#order.slice(this.#shown, until)) {
      const row = rows[number] ?? [];
      this.#body.append(
        h("tr", {}, ...columns.map((column, at) => cell(row[at] ?? null, column))),
      );
    }
    this.#shown = until;
    this.#more.hidden = until === rows.length;
    this.#more.textContent = words.moreRows(count(Math.min(SHOWN_ROWS, rows.length - until)));
  }
}

function cell(value: Cell, { numeric, unbroken }: Column): HTMLTableCellElement {
  const text = value === null ? "" : String(value);
  const look = numeric ? "align-end" : unbroken ? "unbroken" : null;
  return h("td", { class: look, dir: numeric ? null : "auto" }, text);
}
