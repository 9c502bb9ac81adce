// Tables as values: reading comma-separated text, and the order of cells. Pure.

export interface Table {
  readonly columns: readonly Column[];
  readonly rows: readonly (readonly Cell[])[];
}

export interface Column {
  readonly label: string;
  /** Numbers stand at the end of their cells and are compared as such. */
  readonly numeric: boolean;
  /** Cells too short to be broken into lines, such as dates. */
  readonly unbroken?: boolean;
  /** Row numbers in rising order, empty cells last, where whoever made the table knows them. */
  readonly order?: readonly number[];
}

export type Cell = string | number | boolean | null;

const SEPARATORS = [",", ";", "\t"] as const;
const NUMBER = /^[-+]?(?:\d{1,3}(?:[,  ]\d{3})+|\d+)?(?:\.\d+)?(?:e[-+]?\d+)?\s?%?$/i;

/** A table from text with separators; the first row names the columns. Null where there is none. */
export function parseTable(text: string, separator = separatorOf(text)): Table | null {
  const records = recordsOf(text, separator).filter((record) => record.some((cell) => cell !== ""));
  const [head, ...rows] = records;
  if (!head) return null;
  const width = Math.max(head.length, ...rows.slice(0, 1_000).map((row) => row.length));
  const columns = Array.from({ length: width }, (_, index) => ({
    label: head[index] ?? "",
    numeric: isNumeric(rows, index),
  }));
  return { columns, rows };
}

/** Row numbers in the order of a column; empty cells come last, equal ones stay as they were. */
export function sorted(table: Table, column: number, descending: boolean): readonly number[] {
  const known = table.columns[column]?.order;
  if (known) return descending ? reversed(table, column, known) : known;
  const collator = new Intl.Collator(undefined, { numeric: true, sensitivity: "base" });
  const numeric = table.columns[column]?.numeric ?? false;
  const keys = table.rows.map((row) => keyOf(row[column] ?? null, numeric));
  const turn = descending ? -1 : 1;
  return table.rows
    .map((_, index) => index)
    .sort((a, b) => {
      const [one, other] = [keys[a] ?? null, keys[b] ?? null];
      if (one === null || other === null) {
        return Number(one === null) - Number(other === null) || a - b;
      }
      const order =
        typeof one === "number" && typeof other === "number"
          ? one - other
          : collator.compare(String(one), String(other));
      return turn * order || a - b;
    });
}

function reversed(table: Table, column: number, order: readonly number[]): number[] {
  const isEmpty = (row: number) => (table.rows[row]?.[column] ?? null) === null;
  const filled = order.filter((row) => !isEmpty(row));
  return [...filled.reverse(), ...order.filter(isEmpty)];
}

function keyOf(cell: Cell, numeric: boolean): string | number | null {
  if (cell === null || cell === "") return null;
  if (typeof cell === "number") return cell;
  if (!numeric) return String(cell);
  const number = Number(String(cell).replace(/[,\s %]/g, ""));
  return Number.isNaN(number) ? String(cell) : number;
}

function isNumeric(rows: readonly (readonly string[])[], index: number): boolean {
  const cells = rows.map((row) => row[index]?.trim() ?? "").filter((cell) => cell !== "");
  return cells.length > 0 && cells.every((cell) => NUMBER.test(cell) && /\d/.test(cell));
}

function separatorOf(text: string): string {
  const line = /^(?:"(?:[^"]|"")*"|[^\n"])*/.exec(text)?.[0] ?? "";
  const plain = line.replace(/"(?:[^"]|"")*"/g, "");
  const counts = SEPARATORS.map((separator) => plain.split(separator).length);
  return SEPARATORS[counts.indexOf(Math.max(...counts))] ?? ",";
}

function recordsOf(text: string, separator: string): string[][] {
  const records: string[][] = [];
  let record: string[] = [];
  let at = 0;
  while (at < text.length) {
    const [cell, next] = text[at] === '"' ? quoted(text, at) : plain(text, at, separator);
    record.push(cell);
    at = next;
    if (text[at] === separator) {
      at += 1;
      if (at === text.length) record.push("");
      continue;
    }
    if (text[at] === "\r") at += 1;
    if (text[at] === "\n") at += 1;
    records.push(record);
    record = [];
  }
  if (record.length > 0) records.push(record);
  return records;
}

function quoted(text: string, start: number): [string, number] {
  let at = start + 1;
  let cell = "";
  for (;;) {
    const end = text.indexOf('"', at);
    if (end === -1) return [cell + text.slice(at), text.length];
    cell += text.slice(at, end);
    if (text[end + 1] !== '"') return [cell, end + 1];
    cell += '"';
    at = end + 2;
  }
}

function plain(text: string, start: number, separator: string): [string, number] {
  let at = start;
  while (at < text.length && text[at] !== separator && text[at] !== "\n" && text[at] !== "\r") at += 1;
  return [text.slice(start, at), at];
}
