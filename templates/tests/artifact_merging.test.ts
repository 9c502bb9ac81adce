import assert from "node:assert/strict";
import { test } from "node:test";
import { merge } from "../static/ts/artifact_merging.ts";

const BASE = "one\ntwo\nthree\nfour\nfive\n";

test("changes in different places come together", () => {
  const merged = merge(BASE, BASE.replace("two", "TWO"), BASE.replace("five", "FIVE"));
  assert.deepEqual(merged, { text: "one\nTWO\nthree\nfour\nFIVE\n", conflicts: 0 });
});

test("the same change made twice is one change", () => {
  const changed = BASE.replace("three", "3");
  assert.deepEqual(merge(BASE, changed, changed), { text: changed, conflicts: 0 });
});

test("a line that both changed keeps mine and is counted", () => {
  const merged = merge(BASE, BASE.replace("three", "mine"), BASE.replace("three", "theirs"));
  assert.deepEqual(merged, { text: BASE.replace("three", "mine"), conflicts: 1 });
});

test("lines that others added stay, whatever I removed elsewhere", () => {
  const merged = merge(BASE, "one\nfour\nfive\n", `${BASE}six\n`);
  assert.deepEqual(merged, { text: "one\nfour\nfive\nsix\n", conflicts: 0 });
});

test("a missing newline at the end is a difference", () => {
  assert.equal(merge("a\nb", "a\nb\n", "A\nb").text, "A\nb\n");
});

test("empty texts and texts without resemblance are merged too", () => {
  assert.equal(merge("", "mine\n", "").text, "mine\n");
  assert.equal(merge("a\n", "", "a\n").text, "");
  assert.equal(merge("x\n".repeat(500), "y\n".repeat(500), "x\n".repeat(500)).text, "y\n".repeat(500));
});
