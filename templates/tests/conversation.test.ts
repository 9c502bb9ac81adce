import assert from "node:assert/strict";
import { test } from "node:test";
import {
  accepted,
  apply,
  applyDelta,
  ask,
  empty,
  openTurn,
  prepend,
  type Conversation,
} from "../static/ts/conversation.ts";
import type { Frame } from "../static/ts/frames.ts";
import { fill, offer, open } from "../static/ts/ledger.ts";
import { answerText, proseText, type Turn } from "../static/ts/turn.ts";
import { delta, frame } from "./story.ts";

const question = { text: "Look it up", author: "alice", at: "2026-05-01T09:00:00Z" };
const asked = frame(1, "input_accepted", { message: "Look it up" });
const started = frame(2, "agent_run_started", { agent: { id: "a", name: "Guide" } });

function read(frames: Frame[]): Conversation {
  const conversation = empty();
  for (const each of frames) apply(conversation, each);
  return conversation;
}

function only(conversation: Conversation): Turn {
  assert.equal(conversation.turns.length, 1);
  return conversation.turns[0]!;
}

/** What a member sees of a turn, without bookkeeping. */
function shown(turn: Turn): unknown {
  return [
    turn.ask?.text,
    turn.state,
    turn.parts.map((part) => {
      if ("segments" in part) return [part.type, proseText(part)];
      if (part.type === "tools") return part.calls.map((call) => [call.label, call.state]);
      if (part.type === "steer") return [part.type, part.steer.text, part.steer.state];
      if (part.type === "building") return [part.type, part.building.title];
      return [part.type, part.data];
    }),
  ];
}

test("it gets the end of a tool and the failure that happened while it was away", () => {
  const ledger = open(0);
  const conversation = empty();
  for (const each of [asked, started, frame(3, "tool_started", { call_id: "x", name: "search" })]) {
    for (const released of offer(ledger, each)) apply(conversation, released);
  }
  const missed = [
    frame(4, "tool_ended", { call_id: "x", outcome: "ok" }),
    frame(5, "assistant_message", { text: "Looking", segment: 0 }),
    frame(6, "agent_run_failed", { message: "The model stopped answering." }),
  ];
  for (const released of fill(ledger, missed)) apply(conversation, released);
  assert.deepEqual(shown(only(conversation)), [
    "Look it up",
    "failed",
    [[["search", "done"]], ["text", "Looking"]],
  ]);
  assert.equal(openTurn(conversation), null);
});

test("it leaves no card running when the run ends without the end of its call", () => {
  const turn = only(
    read([
      asked,
      frame(2, "tool_started", { call_id: "x", name: "search" }),
      frame(3, "agent_run_cancelled", {}),
    ]),
  );
  assert.deepEqual(shown(turn), ["Look it up", "cancelled", [[["search", "stopped"]]]]);
});

test("it shows the same after live delivery as after a fresh read", () => {
  const durable = [
    asked,
    started,
    frame(3, "thinking", { text: "Hmm, a search.", segment: 0 }),
    frame(4, "tool_started", { call_id: "x", name: "search", label: "Searching" }),
    frame(5, "tool_ended", { call_id: "x", outcome: "error", message: "No such page." }),
    frame(6, "assistant_message", { text: "Found 😀 it.", segment: 0 }),
    frame(7, "agent_run_completed", {}),
  ];
  const live = empty();
  apply(live, asked);
  apply(live, started);
  applyDelta(live, delta(0, "Hmm, a", { kind: "thinking" }));
  applyDelta(live, delta(6, " search.", { kind: "thinking" }));
  for (const each of durable.slice(2, 5)) apply(live, each);
  applyDelta(live, delta(0, "Found 😀"));
  applyDelta(live, delta(7, " it."));
  for (const each of durable.slice(5)) apply(live, each);
  assert.deepEqual(shown(only(live)), shown(only(read(durable))));
});

test("it never mixes thinking into the answer", () => {
  const turn = only(
    read([
      asked,
      frame(2, "thinking", { text: "secret plan", segment: 0 }),
      frame(3, "assistant_message", { text: "Hello.", segment: 0 }),
    ]),
  );
  assert.equal(answerText(turn), "Hello.");
});

test("it starts a paragraph at a segment start only", () => {
  const conversation = read([asked, started]);
  applyDelta(conversation, delta(0, "One "));
  applyDelta(conversation, delta(0, "line.", { segment: 1, segment_start: false }));
  applyDelta(conversation, delta(0, "Next.", { segment: 2, segment_start: true }));
  const texts = only(conversation).parts.map((part) => "segments" in part && proseText(part));
  assert.deepEqual(texts, ["One line.", "Next."]);
});

test("it folds calls that follow each other into one group", () => {
  const turn = only(
    read([
      asked,
      frame(2, "tool_started", { call_id: "a", name: "read" }),
      frame(3, "tool_started", { call_id: "b", name: "list", state: "queued" }),
      frame(4, "tool_ended", { call_id: "a", outcome: "denied" }),
      frame(5, "assistant_message", { text: "So.", segment: 0 }),
      frame(6, "tool_started", { call_id: "c", name: "read" }),
    ]),
  );
  assert.deepEqual(shown(turn), [
    "Look it up",
    "accepted",
    [
      [["read", "denied"], ["list", "queued"]],
      ["text", "So."],
      [["read", "running"]],
    ],
  ]);
});

test("it ignores a delta of a turn it does not know and of one that is over", () => {
  const conversation = read([asked, started, frame(3, "agent_run_completed", {})]);
  assert.equal(applyDelta(conversation, delta(0, "late")), null);
  assert.equal(applyDelta(conversation, delta(0, "other", { turn_id: "run-9" })), null);
  assert.deepEqual(only(conversation).parts, []);
});

test("it keeps one message when the frame overtakes the reply", () => {
  const conversation = empty();
  const mine = ask(conversation, question, "Guide");
  apply(conversation, asked);
  accepted(conversation, mine, "input-1");
  assert.equal(only(conversation).state, "accepted");
});

test("it keeps one message when the reply overtakes the frame", () => {
  const conversation = empty();
  const mine = ask(conversation, question, "Guide");
  accepted(conversation, mine, "input-1");
  apply(conversation, asked);
  assert.equal(only(conversation).order, 1);
});

test("it keeps two messages with the same words", () => {
  const conversation = empty();
  const first = ask(conversation, { ...question, text: "ok" }, "Guide");
  const second = ask(conversation, { ...question, text: "ok" }, "Guide");
  apply(conversation, frame(1, "input_accepted", { message: "ok" }, "run-1"));
  apply(conversation, frame(2, "input_accepted", { message: "ok" }, "run-2"));
  accepted(conversation, first, "input-1");
  accepted(conversation, second, "input-2");
  assert.deepEqual(conversation.turns.map((turn) => turn.inputId), ["input-1", "input-2"]);
});

test("it joins an earlier page with a run that reaches into the later one", () => {
  const all = [
    asked,
    frame(2, "assistant_message", { text: "First.", segment: 0 }),
    frame(3, "input_accepted", { message: "And?" }, "run-2"),
    frame(4, "assistant_message", { text: "Second.", segment: 1 }),
    frame(5, "agent_run_completed", {}),
  ];
  const paged = read(all.slice(2));
  prepend(paged, all.slice(0, 2));
  assert.deepEqual(paged.turns.map(shown), read(all).turns.map(shown));
  assert.deepEqual(
    paged.turns.map((turn) => turn.order),
    [1, 3],
  );
});

test("it drops what a worker that died had begun as soon as another takes over", () => {
  const conversation = read([asked, started]);
  applyDelta(conversation, delta(0, "The first att"));
  apply(conversation, frame(3, "agent_run_resumed", { reason: "taken_over" }));
  assert.equal(answerText(only(conversation)), "");
  applyDelta(conversation, delta(0, "Again.", { segment: 1 }));
  assert.equal(answerText(only(conversation)), "Again.");
});

test("it drops what a worker that died had begun once the next one has answered", () => {
  const conversation = read([asked, started]);
  applyDelta(conversation, delta(0, "Half an ans"));
  apply(conversation, frame(3, "agent_run_started", {}));
  applyDelta(conversation, delta(0, "Whole", { segment: 1, segment_start: true }));
  apply(conversation, frame(4, "assistant_message", { text: "Whole answer.", segment: 1 }));
  apply(conversation, frame(5, "agent_run_completed", {}));
  assert.equal(answerText(only(conversation)), "Whole answer.");
});

test("it keeps the partial text of a stopped answer", () => {
  const conversation = read([asked, started]);
  applyDelta(conversation, delta(0, "As far as"));
  apply(conversation, frame(3, "agent_run_cancelled", {}));
  assert.equal(answerText(only(conversation)), "As far as");
});
