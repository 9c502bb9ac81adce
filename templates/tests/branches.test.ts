import assert from "node:assert/strict";
import { test } from "node:test";
import { siblingsOf } from "../static/ts/branches.ts";
import {
  accepted,
  apply,
  ask,
  empty,
  prepend,
  remove,
  select,
  shownTurns,
  waiting,
  type Conversation,
} from "../static/ts/conversation.ts";
import type { Frame } from "../static/ts/frames.ts";
import { frame } from "./story.ts";

/** An input with its answer, two frames from `position` on. */
function exchange(position: number, name: string, parent: string | null, replaces?: string): Frame[] {
  const input = { message: name, parent, ...(replaces ? { replaces } : {}) };
  return [
    frame(position, "input_accepted", input, `run-${name}`),
    frame(position + 1, "agent_run_completed", {}, `run-${name}`),
  ];
}

function read(frames: Frame[]): Conversation {
  const conversation = empty();
  for (const each of frames) apply(conversation, each);
  return conversation;
}

function words(conversation: Conversation): (string | undefined)[] {
  return shownTurns(conversation).map((turn) => turn.ask?.text);
}

function places(conversation: Conversation): Record<string, string> {
  const found = siblingsOf(conversation.turns);
  return Object.fromEntries(
    [...found].map(([turn, { number, count }]) => [turn.ask?.text, `${number}/${count}`]),
  );
}

const chosen = (position: number, name: string, end: string) => {
  const data = { code: "branch_selected", input_id: `input-${name}`, end: `input-${end}` };
  return frame(position, "notice", data, null);
};
const STORY = [
  ...exchange(1, "a", null),
  ...exchange(3, "b", "input-a"),
  ...exchange(5, "c", "input-b"),
  ...exchange(7, "b2", "input-a", "input-b"),
];

test("it shows an edited question in place of the first, and nothing that followed that one", () => {
  const conversation = read(STORY);
  assert.deepEqual(words(conversation), ["a", "b2"]);
  assert.deepEqual(places(conversation), { b: "1/2", b2: "2/2" });
});

test("it goes back to a branch down to its newest end", () => {
  const conversation = read([...STORY, chosen(9, "b", "c")]);
  assert.deepEqual(words(conversation), ["a", "b", "c"]);
  apply(conversation, chosen(10, "b2", "b2"));
  assert.deepEqual(words(conversation), ["a", "b2"]);
});

test("it continues the branch on the page", () => {
  const conversation = read([...STORY, chosen(9, "b", "c"), ...exchange(10, "d", "input-c")]);
  assert.deepEqual(words(conversation), ["a", "b", "c", "d"]);
});

test("it shows the first question's siblings too", () => {
  const conversation = read([...exchange(1, "a", null), ...exchange(3, "a2", null, "input-a")]);
  assert.deepEqual(words(conversation), ["a2"]);
  assert.deepEqual(places(conversation), { a: "1/2", a2: "2/2" });
});

test("it reads conversations from before branches as one line", () => {
  const plain = [1, 3, 5].flatMap((at) => [
    frame(at, "input_accepted", { message: `q${at}` }, `run-${at}`),
    frame(at + 1, "agent_run_completed", {}, `run-${at}`),
  ]);
  assert.deepEqual(words(read(plain)), ["q1", "q3", "q5"]);
});

test("it shows an edit before the server has it, and takes it back without a trace", () => {
  const conversation = read([...STORY, chosen(9, "b", "c")]);
  const b = conversation.turns.find((turn) => turn.ask?.text === "b")!;
  const edit = ask(conversation, { text: "b3", author: "alice", at: "" }, "Guide", b);
  assert.deepEqual(words(conversation), ["a", "b3"]);
  assert.deepEqual(places(conversation), { b: "1/3", b2: "2/3", b3: "3/3" });
  remove(conversation, edit);
  assert.deepEqual(words(conversation), ["a", "b", "c"]);
});

test("it keeps one copy of an edit whose frame overtakes the reply", () => {
  const conversation = read(STORY);
  const b = conversation.turns.find((turn) => turn.ask?.text === "b")!;
  const edit = ask(conversation, { text: "b3", author: "alice", at: "" }, "Guide", b);
  for (const each of exchange(9, "b3", "input-a", "input-b")) apply(conversation, each);
  accepted(conversation, edit, "input-b3");
  assert.deepEqual(words(conversation), ["a", "b3"]);
});

test("it shows the same path after reading an earlier page as after reading all", () => {
  const all = [...STORY, chosen(9, "b", "c"), ...exchange(10, "d", "input-c")];
  const paged = read(all.slice(8));
  prepend(paged, all.slice(4, 8));
  prepend(paged, all.slice(0, 4));
  assert.deepEqual(words(paged), words(read(all)));
  assert.deepEqual(places(paged), places(read(all)));
  select(paged, paged.turns.find((turn) => turn.ask?.text === "b2")!);
  assert.deepEqual(words(paged), ["a", "b2"]);
});

test("it finds a branch chosen on this page whose question is on an earlier one", () => {
  const all = [...STORY, chosen(9, "b", "c")];
  const paged = read(all.slice(6));
  assert.equal(paged.wanted, "input-c");
  prepend(paged, all.slice(0, 6));
  assert.deepEqual(words(paged), ["a", "b", "c"]);
  assert.equal(paged.wanted, null);
});

test("it lists what waits behind a running answer apart from the thread", () => {
  const conversation = read([
    frame(1, "input_accepted", { message: "one", parent: null }, "run-1"),
    frame(2, "agent_run_started", {}, "run-1"),
    frame(3, "input_accepted", { message: "two", parent: "input-1" }, "run-2"),
    frame(4, "steer_accepted", { steer_id: "s", message: "Shorter.", turn_id: "run-1" }, "run-1"),
    frame(5, "queue_changed", { items: [{ input_id: "input-2", message: "two!", position: 3 }] }, null),
  ]);
  const listed = () =>
    waiting(conversation).map((each) =>
      each.type === "steer" ? ["steer", each.steer.text] : ["queued", each.turn.ask?.text],
    );
  assert.deepEqual(words(conversation), ["one"]);
  assert.deepEqual(listed(), [
    ["steer", "Shorter."],
    ["queued", "two!"],
  ]);
  apply(conversation, frame(6, "steer_applied", { steer_id: "s" }, "run-1"));
  apply(conversation, frame(7, "agent_run_completed", {}, "run-1"));
  apply(conversation, frame(8, "agent_run_started", {}, "run-2"));
  assert.deepEqual(listed(), []);
  assert.deepEqual(words(conversation), ["one", "two!"]);
  const parts = conversation.turns[0]!.parts;
  assert.deepEqual(parts.map((part) => part.type === "steer" && part.steer.state), ["applied"]);
});

test("it keeps a steer that came too late beside the answer", () => {
  const conversation = read([
    frame(1, "input_accepted", { message: "one", parent: null }),
    frame(2, "agent_run_started", {}),
    frame(3, "steer_accepted", { steer_id: "s", message: "Shorter.", turn_id: "run-1" }),
    frame(4, "steer_rejected", { steer_id: "s", reason: "turn_ended" }),
    frame(5, "agent_run_completed", {}),
  ]);
  const [part] = conversation.turns[0]!.parts;
  assert.deepEqual(part?.type === "steer" && [part.steer.text, part.steer.state], ["Shorter.", "rejected"]);
  assert.deepEqual(waiting(conversation), []);
});
