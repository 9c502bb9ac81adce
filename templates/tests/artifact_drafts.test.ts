import assert from "node:assert/strict";
import { test } from "node:test";
import { apply, applyDelta, empty, type Conversation } from "../static/ts/conversation.ts";
import type { Frame, FrameData } from "../static/ts/frames.ts";
import { awaitsPiece, buildings, type Turn } from "../static/ts/turn.ts";
import { delta, frame } from "./story.ts";

const opening = [
  frame(1, "input_accepted", { message: "Keep it" }),
  frame(2, "agent_run_started", { agent: { id: "a", name: "Guide" } }),
];

function read(...frames: Frame[]): Conversation {
  const conversation = empty();
  for (const each of [...opening, ...frames]) apply(conversation, each);
  return conversation;
}

function turn(conversation: Conversation): Turn {
  return conversation.turns[0]!;
}

function built(position: number, more: FrameData = {}): Frame {
  const data = { call_id: "x-1-0", title: "Plan", kind: "markdown", segment: 0, state: "building" };
  return frame(position, "artifact_building", { ...data, characters: 0, offset: 0, text: "", ...more });
}

function shown(conversation: Conversation): unknown {
  return buildings(turn(conversation)).map(({ building }) => [building.title, building.draft.text]);
}

const piece = (offset: number, text: string, segment = 0) =>
  delta(offset, text, { kind: "artifact", segment });

test("an artifact fills up as its pieces come, and is there once", () => {
  const conversation = read(built(3));
  applyDelta(conversation, piece(0, "# Pl"));
  applyDelta(conversation, piece(4, "an"));
  assert.deepEqual(shown(conversation), [["Plan", "# Plan"]]);
  apply(conversation, built(4, { offset: 0, text: "# Plan", characters: 6 }));
  assert.deepEqual(shown(conversation), [["Plan", "# Plan"]]);
});

test("a piece that got lost comes with the next durable frame, and nobody asks for it", () => {
  const conversation = read(built(3));
  applyDelta(conversation, piece(4, "an"));
  assert.deepEqual(shown(conversation), [["Plan", ""]]);
  assert.equal(awaitsPiece(turn(conversation)), false);
  apply(conversation, built(4, { offset: 0, text: "# Pl", characters: 4 }));
  assert.deepEqual(shown(conversation), [["Plan", "# Plan"]]);
});

test("pieces that overtake their first frame are not lost", () => {
  const conversation = read();
  applyDelta(conversation, piece(0, "early"));
  apply(conversation, built(3));
  assert.deepEqual(shown(conversation), [["Plan", "early"]]);
});

test("two that are written side by side keep apart and end each for itself", () => {
  const conversation = read(
    built(3, { text: "one", characters: 3 }),
    built(4, { call_id: "x-1-1", title: "List", segment: 1, text: "two", characters: 3 }),
  );
  assert.deepEqual(shown(conversation), [["Plan", "one"], ["List", "two"]]);
  apply(conversation, frame(5, "artifact_saved", { artifact_id: "a", title: "Plan", version: 1 }));
  assert.deepEqual(shown(conversation), [["List", "two"]]);
  apply(conversation, frame(6, "tool_ended", { call_id: "x-1-1", outcome: "error" }));
  assert.deepEqual(shown(conversation), []);
});

test("what is written again under another number starts anew", () => {
  const conversation = read(built(3, { text: "wrong", characters: 5 }));
  apply(conversation, built(4, { segment: 1, text: "right", characters: 5 }));
  assert.deepEqual(shown(conversation), [["Plan", "right"]]);
});

test("nothing is left of what was dropped, or of a turn that ended", () => {
  assert.deepEqual(shown(read(built(3), built(4, { state: "dropped" }))), []);
  assert.deepEqual(shown(read(built(3), frame(4, "agent_run_failed", { message: "No." }))), []);
});

test("after a take-over only what a call was made of goes on", () => {
  const conversation = read(
    built(3, { text: "made" }),
    frame(4, "tool_started", { call_id: "x-1-0", name: "create_artifact", state: "queued" }),
    built(5, { call_id: "x-1-1", title: "List", segment: 1, text: "lost" }),
    frame(6, "agent_run_resumed", { reason: "taken_over" }),
  );
  assert.deepEqual(shown(conversation), [["Plan", "made"]]);
});
