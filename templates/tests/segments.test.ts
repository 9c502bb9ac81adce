import assert from "node:assert/strict";
import { test } from "node:test";
import { blank, countPoints, extend, hasHole, settle } from "../static/ts/segments.ts";

function after(pieces: [number, string][]): string {
  const segment = blank();
  for (const [offset, piece] of pieces) extend(segment, offset, piece);
  return segment.text;
}

test("it joins pieces exactly and adds no space of its own", () => {
  assert.equal(after([[0, "Hel"], [3, "lo"], [5, ", wor"], [10, "ld ."]]), "Hello, world .");
});

test("it ignores a piece it has seen", () => {
  assert.equal(after([[0, "The "], [4, "cat "], [4, "cat "], [0, "The "]]), "The cat ");
});

test("it takes only the new end of a piece that overlaps", () => {
  assert.equal(after([[0, "The cat"], [0, "The cat lay"], [4, "cat lay down."]]), "The cat lay down.");
});

test("it keeps a piece that came too early until the one before it arrives", () => {
  const segment = blank();
  extend(segment, 0, "The ");
  assert.equal(extend(segment, 8, "down."), false);
  assert.equal(hasHole(segment), true);
  extend(segment, 4, "cat ");
  assert.equal(segment.text, "The cat down.");
  assert.equal(hasHole(segment), false);
});

test("it counts offsets in code points, not in surrogates", () => {
  assert.equal(countPoints("a😀b"), 3);
  assert.equal(after([[0, "a😀"], [2, "b"], [1, "😀b"], [3, "🎉"], [4, "!"]]), "a😀b🎉!");
});

test("it starts over when another worker writes the segment anew", () => {
  assert.equal(after([[0, "First try of"], [0, "Second"], [6, " go"]]), "Second go");
});

test("it takes nothing after the journal gave the whole text", () => {
  const segment = blank();
  extend(segment, 0, "Draft");
  settle(segment, "Final text");
  assert.equal(extend(segment, 10, " and more"), false);
  assert.equal(segment.text, "Final text");
});
