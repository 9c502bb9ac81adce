import assert from "node:assert/strict";
import { test } from "node:test";
import { apply, empty, type Conversation } from "../static/ts/conversation.ts";
import { begin, callOf, needsReasons } from "../static/ts/calls.ts";
import { callsOf } from "../static/ts/turn.ts";
import type { Frame, FrameData } from "../static/ts/frames.ts";
import { frame } from "./story.ts";

const asked = frame(1, "input_accepted", { message: "Send it" });
const began = frame(2, "tool_started", { call_id: "x", name: "mail", label: "Sending mail" });
const wanted = frame(3, "approval_requested", {
  approval_id: "a",
  call_id: "x",
  tool: "mail",
  label: "Sending mail",
  effect: "sensitive",
  target: "bob@example.org",
  arguments: { to: "bob@example.org", body: "x".repeat(9_000) },
  runs_as: { id: "7", name: "Alice" },
  agent: { id: "g", name: "Guide", version: 3 },
  digest: "sha256:1",
  expires_at: "2026-05-01T09:15:00Z",
  why: [{ by: "policy", outcome: "needs_approval", code: "approval_required", text: "Ask first." }],
});

function settledAs(outcome: string, more: FrameData = {}): Frame {
  return frame(4, "approval_settled", { approval_id: "a", call_id: "x", outcome, ...more });
}

function read(frames: Frame[]): Conversation {
  const conversation = empty();
  for (const each of frames) apply(conversation, each);
  return conversation;
}

function call(frames: Frame[]) {
  const [only] = callsOf(read(frames).turns[0]!);
  assert.ok(only);
  return only;
}

test("it waits for a decision about one exact call, with nothing cut", () => {
  const parked = call([asked, began, wanted]);
  assert.equal(parked.state, "waiting");
  assert.equal(parked.approval?.state, "pending");
  assert.equal(parked.approval?.runsAs, "Alice");
  assert.equal((parked.approval?.arguments as { body: string }).body.length, 9_000);
  assert.equal(needsReasons(parked), true);
});

for (const [outcome, state] of [
  ["approved", "running"],
  ["denied", "denied"],
  ["expired", "denied"],
  ["withdrawn", "denied"],
  ["superseded", "denied"],
] as const) {
  test(`it shows a request that was ${outcome}, and asks no more`, () => {
    const decided = call([asked, began, wanted, settledAs(outcome, { reason: "Not now." })]);
    assert.equal(decided.approval?.state, outcome);
    assert.equal(decided.state, state);
  });
}

test("it asks no more once the run is over, whatever became of the decision", () => {
  const over = call([asked, began, wanted, frame(4, "agent_run_cancelled", {})]);
  assert.equal(over.state, "stopped");
  assert.equal(over.approval?.state, "superseded");
});

test("it keeps the outcome of an approved call that then ran", () => {
  const ended = frame(5, "tool_ended", { call_id: "x", outcome: "ok", duration_ms: 12 });
  const ran = call([asked, began, wanted, settledAs("approved"), ended]);
  assert.deepEqual([ran.state, ran.durationMs, ran.approval?.state], ["done", 12, "approved"]);
});

test("it gives reasons for what was denied or narrowed, not for what was plainly allowed", () => {
  const why = (outcome: string) =>
    call([
      asked,
      began,
      frame(3, "tool_ended", {
        call_id: "x",
        outcome: "ok",
        why: [{ by: "ceiling", outcome, code: "c", text: "Only reads." }],
      }),
    ]);
  assert.equal(needsReasons(why("allowed")), false);
  assert.equal(needsReasons(why("narrowed")), true);
  assert.equal(why("denied").why[0]?.text, "Only reads.");
});

test("it shows a request even where the call's own beginning is on an earlier page", () => {
  assert.equal(call([asked, wanted]).label, "Sending mail");
});

test("a queued call runs once it is said to have begun, and keeps its name", () => {
  const queued = { call_id: "q", name: "mail", label: "Sending mail", state: "queued" };
  const call = callOf(queued);
  begin(call, queued);
  assert.equal(call.state, "queued");
  begin(call, { call_id: "q", name: "mail", state: "running" });
  assert.deepEqual([call.state, call.label], ["running", "Sending mail"]);
});
