// What a conversation looks like after a set of frames and deltas. Pure: no document, no clock,
// no network. Frames arrive here once and in order (ledger.ts), or older ones as a page from
// before the first; both lead to the same state as one fresh read.
import {
  nameOf,
  numberOf,
  textOf,
  type Delta,
  type Frame,
  type FrameData,
  type SegmentKind,
} from "./frames.ts";
import { blank, extend, hasHole, settle, settled, type Segment } from "./segments.ts";

export type CallState = "queued" | "running" | "waiting" | "done" | "failed" | "denied";
export type TurnState =
  | "sending"
  | "unsent"
  | "accepted"
  | "running"
  | "waiting"
  | "completed"
  | "salvaged"
  | "failed"
  | "cancelled";

export interface Call {
  readonly id: string;
  readonly name: string;
  readonly label: string;
  readonly arguments: unknown;
  state: CallState;
  result: unknown;
  durationMs: number | null;
}

interface PartRoot {
  readonly id: string;
  /** Grows with every change, so that a view redraws only what moved. */
  version: number;
}
export interface ProsePart extends PartRoot {
  readonly type: SegmentKind;
  /** Joined without anything between them; a new paragraph is a new part. */
  readonly segments: Map<number, Segment>;
}
export interface ToolsPart extends PartRoot {
  readonly type: "tools";
  readonly calls: Call[];
}
export interface DataPart extends PartRoot {
  readonly type: "canvas" | "saved" | "building" | "notice";
  readonly data: FrameData;
}
export type Part = ProsePart | ToolsPart | DataPart;

export interface Ask {
  readonly text: string;
  readonly author: string;
  readonly at: string;
}

export interface Turn {
  /** Stable for the life of the page, also while the server does not know the turn yet. */
  readonly key: string;
  inputId: string | null;
  runId: string | null;
  /** Journal position of the question, or of the first frame seen; infinity while unsent. */
  order: number;
  ask: Ask | null;
  agent: string;
  state: TurnState;
  reason: string;
  message: string;
  answerPosition: number | null;
  parts: Part[];
  version: number;
}

export interface Conversation {
  readonly turns: Turn[];
  nextKey: number;
}

export const OPEN_STATES: ReadonlySet<TurnState> = new Set([
  "sending",
  "accepted",
  "running",
  "waiting",
]);

const TERMINALS: Readonly<Record<string, TurnState>> = {
  agent_run_completed: "completed",
  agent_run_salvaged: "salvaged",
  agent_run_failed: "failed",
  agent_run_cancelled: "cancelled",
};

const CALL_OUTCOMES: Readonly<Record<string, CallState>> = {
  ok: "done",
  success: "done",
  done: "done",
  completed: "done",
  denied: "denied",
  refused: "denied",
};

export function empty(): Conversation {
  return { turns: [], nextKey: 1 };
}

export function isOpen(turn: Turn): boolean {
  return OPEN_STATES.has(turn.state);
}

export function openTurn(conversation: Conversation): Turn | null {
  return conversation.turns.findLast(isOpen) ?? null;
}

/** Text of a prose part, exactly as sent. */
export function proseText(part: ProsePart): string {
  return [...part.segments.values()].map((segment) => segment.text).join("");
}

export function isSettled(part: ProsePart): boolean {
  return [...part.segments.values()].every((segment) => segment.settled);
}

/** The answer alone: no thinking, no tools. */
export function answerText(turn: Turn): string {
  return turn.parts
    .filter((part): part is ProsePart => part.type === "text")
    .map(proseText)
    .join("\n\n");
}

/** True while some open segment misses a piece that only the server can repeat. */
export function awaitsPiece(turn: Turn): boolean {
  return (
    isOpen(turn) &&
    turn.parts.some((part) => "segments" in part && [...part.segments.values()].some(hasHole))
  );
}

/** Shows a message before the server has it. */
export function ask(conversation: Conversation, message: Ask, agent: string): Turn {
  const turn = addTurn(conversation, { order: Number.POSITIVE_INFINITY, state: "sending" });
  turn.ask = message;
  turn.agent = agent;
  return turn;
}

/** The server accepted a shown message. Drops the shown copy if its frame came first. */
export function accepted(conversation: Conversation, turn: Turn, inputId: string): void {
  const known = conversation.turns.find((each) => each.inputId === inputId);
  if (known && known !== turn) {
    conversation.turns.splice(conversation.turns.indexOf(turn), 1);
    return;
  }
  turn.inputId = inputId;
  if (turn.state === "sending" || turn.state === "unsent") turn.state = "accepted";
  turn.version += 1;
}

/** Applies one durable frame; answers the turn it touched, null if it drew nothing. */
export function apply(conversation: Conversation, frame: Frame): Turn | null {
  if (!frame.input_id && !frame.turn_id) return null;
  const turn = turnOf(conversation, frame);
  if (frame.position < turn.order) {
    turn.order = frame.position;
    sortTurns(conversation);
  }
  turn.runId ??= frame.turn_id;
  turn.version += 1;
  change(turn, frame);
  return turn;
}

/** Adds a page of frames from before the first one; they never change what came later. */
export function prepend(conversation: Conversation, frames: readonly Frame[]): void {
  const older = { turns: [], nextKey: conversation.nextKey } satisfies Conversation;
  for (const frame of frames) apply(older, frame);
  conversation.nextKey = older.nextKey;
  for (const turn of older.turns as Turn[]) {
    const later = conversation.turns.find((each) => isSame(each, turn));
    if (!later) {
      conversation.turns.push(turn);
      continue;
    }
    later.ask ??= turn.ask;
    later.agent ||= turn.agent;
    later.order = turn.order;
    later.parts = [...turn.parts, ...later.parts];
    if (!isOpen(later)) closeAllCalls(later);
    later.version += 1;
  }
  sortTurns(conversation);
}

function isSame(one: Turn, other: Turn): boolean {
  if (one.inputId !== null && one.inputId === other.inputId) return true;
  return one.runId !== null && one.runId === other.runId;
}

/** Applies one live delta; null when its turn is unknown, over, or already past it. */
export function applyDelta(conversation: Conversation, delta: Delta): Turn | null {
  if (delta.kind === "source") return null;
  const turn = conversation.turns.find((each) => each.runId === delta.turn_id);
  if (!turn || !isOpen(turn)) return null;
  const { part, segment } = openSegment(turn, delta.kind, delta.segment, delta.segment_start);
  if (turn.state === "accepted") turn.state = "running";
  if (!extend(segment, delta.offset, delta.text)) return null;
  part.version += 1;
  turn.version += 1;
  return turn;
}

function change(turn: Turn, frame: Frame): void {
  const { event, data } = frame;
  const terminal = TERMINALS[event];
  if (terminal) return end(turn, terminal, data);
  switch (event) {
    case "input_accepted":
      return begin(turn, frame);
    case "agent_run_started":
      turn.agent = nameOf(data, "agent") || turn.agent;
      if (isOpen(turn)) turn.state = "running";
      return;
    case "assistant_message":
      turn.answerPosition = frame.position;
      return settleSegment(turn, "text", data);
    case "thinking":
      return settleSegment(turn, "thinking", data);
    case "tool_started":
      return startCall(turn, data);
    case "tool_ended":
      return changeCall(turn, data, CALL_OUTCOMES[textOf(data, "outcome")] ?? "failed");
    case "approval_requested":
      return changeCall(turn, data, "waiting");
    case "approval_settled":
      return changeCall(turn, data, textOf(data, "decision") === "approve" ? "running" : "denied");
    case "agent_run_waiting":
      if (isOpen(turn)) turn.state = "waiting";
      return;
    case "agent_run_resumed":
      if (isOpen(turn)) turn.state = "running";
      if (textOf(data, "reason") === "taken_over") dropUnsettled(turn);
      return;
    case "artifact_building":
      return addData(turn, "building", frame);
    case "artifact_saved":
      turn.parts = turn.parts.filter((part) => part.type !== "building");
      return addData(turn, "saved", frame);
    case "canvas":
      return addData(turn, "canvas", frame);
    case "notice":
      return addData(turn, "notice", frame);
    default:
      return;
  }
}

function begin(turn: Turn, frame: Frame): void {
  turn.ask = {
    text: textOf(frame.data, "message"),
    author: nameOf(frame.data, "author"),
    at: frame.at,
  };
  turn.agent = nameOf(frame.data, "agent") || turn.agent;
  if (turn.state === "sending" || turn.state === "unsent") turn.state = "accepted";
}

function end(turn: Turn, state: TurnState, data: FrameData): void {
  turn.state = state;
  turn.reason = textOf(data, "reason");
  turn.message = textOf(data, "message");
  turn.parts = turn.parts.filter((part) => part.type !== "building");
  if (state === "completed" || state === "salvaged") dropUnsettled(turn);
  for (const part of turn.parts) {
    part.version += 1;
    if ("segments" in part) for (const each of part.segments.values()) each.settled = true;
  }
  closeAllCalls(turn);
}

// What a worker that died had begun is written anew by the next one under another number.
function dropUnsettled(turn: Turn): void {
  turn.parts = turn.parts.filter((part) => !("segments" in part) || isSettled(part));
}

// A run that is over leaves no card spinning, whatever became of the frame that ended the call.
function closeAllCalls(turn: Turn): void {
  for (const part of turn.parts) {
    if (part.type !== "tools") continue;
    for (const call of part.calls) {
      if (call.state === "queued" || call.state === "running" || call.state === "waiting") {
        call.state = turn.state === "completed" ? "done" : "failed";
      }
    }
  }
}

function settleSegment(turn: Turn, kind: SegmentKind, data: FrameData): void {
  const number = numberOf(data, "segment") ?? 0;
  const text = textOf(data, "text");
  const known = findSegment(turn, kind, number);
  if (known) {
    settle(known.segment, text);
    known.part.version += 1;
    return;
  }
  if (text === "") return;
  const part = proseFor(turn, kind, number, data.segment_start !== false);
  part.segments.set(number, settled(text));
  part.version += 1;
}

function openSegment(
  turn: Turn,
  kind: SegmentKind,
  number: number,
  startsParagraph: boolean,
): { part: ProsePart; segment: Segment } {
  const known = findSegment(turn, kind, number);
  if (known) return known;
  const part = proseFor(turn, kind, number, startsParagraph);
  const segment = blank();
  part.segments.set(number, segment);
  return { part, segment };
}

function findSegment(
  turn: Turn,
  kind: SegmentKind,
  number: number,
): { part: ProsePart; segment: Segment } | null {
  for (const part of turn.parts) {
    if (part.type !== kind) continue;
    const segment = part.segments.get(number);
    if (segment) return { part, segment };
  }
  return null;
}

function proseFor(
  turn: Turn,
  kind: SegmentKind,
  number: number,
  startsParagraph: boolean,
): ProsePart {
  const last = turn.parts.at(-1);
  if (!startsParagraph && last?.type === kind) return last;
  const part: ProsePart = { id: `${kind}-${number}`, version: 0, type: kind, segments: new Map() };
  turn.parts.push(part);
  return part;
}

function startCall(turn: Turn, data: FrameData): void {
  const id = textOf(data, "call_id");
  if (findCall(turn, id)) return;
  const name = textOf(data, "name") || textOf(data, "tool");
  const call: Call = {
    id,
    name,
    label: textOf(data, "label") || name,
    arguments: data.arguments ?? null,
    state: data.state === "queued" ? "queued" : "running",
    result: null,
    durationMs: null,
  };
  const last = turn.parts.at(-1);
  if (last?.type === "tools") {
    last.calls.push(call);
    last.version += 1;
    return;
  }
  turn.parts.push({ id: `tools-${id}`, version: 0, type: "tools", calls: [call] });
}

function changeCall(turn: Turn, data: FrameData, state: CallState): void {
  const found = findCall(turn, textOf(data, "call_id"));
  if (!found) return;
  found.call.state = state;
  found.call.result = data.result ?? data.message ?? found.call.result;
  found.call.durationMs = numberOf(data, "duration_ms") ?? found.call.durationMs;
  found.part.version += 1;
}

function findCall(turn: Turn, id: string): { part: ToolsPart; call: Call } | null {
  for (const part of turn.parts) {
    if (part.type !== "tools") continue;
    const call = part.calls.find((each) => each.id === id);
    if (call) return { part, call };
  }
  return null;
}

function addData(turn: Turn, type: DataPart["type"], frame: Frame): void {
  const id = `${type}-${frame.position}`;
  if (turn.parts.some((part) => part.id === id)) return;
  turn.parts.push({ id, version: 0, type, data: frame.data });
}

function turnOf(conversation: Conversation, frame: Frame): Turn {
  const { input_id, turn_id } = frame;
  const known =
    conversation.turns.find((turn) => input_id !== null && turn.inputId === input_id) ??
    conversation.turns.find((turn) => turn_id !== null && turn.runId === turn_id);
  if (known) {
    known.inputId ??= input_id;
    return known;
  }
  const shown = frame.event === "input_accepted" ? shownCopy(conversation, frame) : null;
  const turn = shown ?? addTurn(conversation, { order: frame.position, state: "accepted" });
  turn.inputId = input_id;
  return turn;
}

// The frame of a message can overtake the reply to its POST. Until that reply names the input,
// the oldest unanswered copy with the same words stands for it; each copy is taken once.
function shownCopy(conversation: Conversation, frame: Frame): Turn | null {
  const text = textOf(frame.data, "message");
  return (
    conversation.turns.find(
      (turn) => turn.inputId === null && turn.state === "sending" && turn.ask?.text === text,
    ) ?? null
  );
}

function addTurn(conversation: Conversation, start: Pick<Turn, "order" | "state">): Turn {
  const turn: Turn = {
    key: `t${conversation.nextKey}`,
    inputId: null,
    runId: null,
    ask: null,
    agent: "",
    reason: "",
    message: "",
    answerPosition: null,
    parts: [],
    version: 0,
    ...start,
  };
  conversation.nextKey += 1;
  conversation.turns.push(turn);
  sortTurns(conversation);
  return turn;
}

function sortTurns(conversation: Conversation): void {
  conversation.turns.sort((a, b) => (a.order === b.order ? 0 : a.order - b.order));
}
