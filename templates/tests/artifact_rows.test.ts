import assert from "node:assert/strict";
import { test } from "node:test";
import { parseTable, sorted } from "../static/ts/artifact_rows.ts";

test("quoted cells keep separators, quotes and line ends", () => {
  const table = parseTable('name,note\r\n"Ann, B","say ""hi""\nthen go"\r\nBo,\r\n');
  assert.deepEqual(table?.rows, [
    ["Ann, B", 'say "hi"\nthen go'],
    ["Bo", ""],
  ]);
});

test("the separator is seen from the first line", () => {
  assert.deepEqual(parseTable('"a;b",c\n1,2')?.columns.map((each) => each.label), ["a;b", "c"]);
  assert.equal(parseTable("a;b\n1;2")?.columns.length, 2);
  assert.equal(parseTable("a\tb\n1\t2")?.columns.length, 2);
  assert.equal(parseTable("")?.columns.length, undefined);
});

test("numbers are ordered as numbers, texts as texts, empty cells last", () => {
  const table = parseTable("place,fare\nb,10\na,9.5\nc,\nB,\"1,200\"");
  assert.ok(table);
  assert.deepEqual(table.columns.map((each) => each.numeric), [false, true]);
  assert.deepEqual(sorted(table, 1, false), [1, 0, 3, 2]);
  assert.deepEqual(sorted(table, 1, true), [3, 0, 1, 2]);
  assert.deepEqual(sorted(table, 0, false), [1, 0, 3, 2]);
});

test("a row that is too short or too long keeps its cells", () => {
  const table = parseTable("a,b\n1\n1,2,3");
  assert.equal(table?.columns.length, 3);
  assert.deepEqual(table?.rows, [["1"], ["1", "2", "3"]]);
});

test("an open quote ends with the text", () => {
  assert.deepEqual(parseTable('a\n"never closed')?.rows, [["never closed"]]);
});
