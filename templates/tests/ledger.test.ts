import assert from "node:assert/strict";
import { test } from "node:test";
import { fill, hasGap, offer, open } from "../static/ts/ledger.ts";
import { frame } from "./story.ts";

const positions = (frames: { position: number }[]) => frames.map((each) => each.position);

test("it releases overlapping and swapped arrivals once each and in order", () => {
  const ledger = open(0);
  const released = [1, 2, 4, 2, 3, 4].flatMap((at) => positions(offer(ledger, frame(at, "notice"))));
  assert.deepEqual(released, [1, 2, 3, 4]);
  assert.equal(hasGap(ledger), false);
});

test("it holds a frame behind a gap until the missing one comes", () => {
  const ledger = open(10);
  assert.deepEqual(positions(offer(ledger, frame(12, "notice"))), []);
  assert.equal(hasGap(ledger), true);
  assert.deepEqual(positions(offer(ledger, frame(11, "notice"))), [11, 12]);
});

test("it takes the journal's answer as complete and steps over what does not exist", () => {
  const ledger = open(2);
  offer(ledger, frame(6, "notice"));
  const items = [frame(5, "notice"), frame(3, "notice"), frame(2, "notice")];
  assert.deepEqual(positions(fill(ledger, items)), [3, 5, 6]);
  assert.equal(ledger.applied, 6);
  assert.equal(hasGap(ledger), false);
});
