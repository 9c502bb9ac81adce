// One turn: what was asked, what the agent did, what it answered, how it ended, and what one
// frame or delta changes about that. Pure: no document, no clock, no network.
import { became, building, isDropped, type Building, type Drafts } from "./artifact_drafts.ts";
import { begin, callOf, close, decide, finish, request, type Call, type CallState } from "./calls.ts";
import type { Node } from "./branches.ts";
import {
  nameOf,
  numberOf,
  textOf,
  type Frame,
  type FrameData,
  type SegmentKind,
} from "./frames.ts";
import { blank, hasHole, settle, settled, type Segment } from "./segments.ts";

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
export interface SteerPart extends PartRoot {
  readonly type: "steer";
  readonly steer: Steer;
}
export interface DataPart extends PartRoot {
  readonly type: "canvas" | "saved" | "notice" | "compaction";
  readonly data: FrameData;
}
export interface BuildingPart extends PartRoot {
  readonly type: "building";
  building: Building;
}
export type Part = ProsePart | ToolsPart | SteerPart | DataPart | BuildingPart;

export interface Ask {
  readonly text: string;
  readonly author: string;
  readonly at: string;
}

/** Something said to a turn while it works. `id` is empty until the server has it. */
export interface Steer {
  id: string;
  text: string;
  state: "sending" | "pending" | "applied" | "rejected";
  reason: string;
}

/** Tokens of all model calls of a turn; `context` is what the last one filled of `window`. */
export interface Usage {
  readonly input: number;
  readonly output: number;
  readonly cost: string;
  readonly context: number | null;
  readonly window: number | null;
}

export interface Turn extends Node {
  /** Stable for the life of the page, also while the server does not know the turn yet. */
  readonly key: string;
  /** A compaction asks nothing: it has everything before it summed up. */
  kind: "message" | "compaction";
  runId: string | null;
  /** Journal position of the question, or of the first frame seen; infinity while unsent. */
  order: number;
  ask: Ask | null;
  agent: string;
  state: TurnState;
  /** True once a worker took it up. */
  begun: boolean;
  reason: string;
  message: string;
  usage: Usage | null;
  answerPosition: number | null;
  parts: Part[];
  /** Text of artifacts that are being written. */
  readonly drafts: Drafts;
  /** What was said to it and not read yet. */
  steers: Steer[];
  version: number;
}

const OPEN_STATES: ReadonlySet<TurnState> = new Set([
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
// How a call looks whose end was never told, by how its turn ended.
const UNTOLD: Readonly<Partial<Record<TurnState, CallState>>> = {
  completed: "done",
  cancelled: "stopped",
};

export function blankTurn(key: string, start: Pick<Turn, "order" | "state">): Turn {
  return {
    key,
    inputId: null,
    parent: undefined,
    replaces: null,
    kind: "message",
    runId: null,
    ask: null,
    agent: "",
    begun: false,
    reason: "",
    message: "",
    usage: null,
    answerPosition: null,
    parts: [],
    drafts: new Map(),
    steers: [],
    version: 0,
    ...start,
  };
}

export function isOpen(turn: Turn): boolean {
  return OPEN_STATES.has(turn.state);
}

/** True while the turn is being worked, so that something can be said to it. */
export function isLive(turn: Turn): boolean {
  return turn.state === "running";
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

/** Every call of the turn, in order. */
export function callsOf(turn: Turn): Call[] {
  return turn.parts.flatMap((part) => (part.type === "tools" ? part.calls : []));
}

/** What one durable frame of this turn changes. */
export function change(turn: Turn, frame: Frame): void {
  const { event, data } = frame;
  const terminal = TERMINALS[event];
  if (terminal) return end(turn, terminal, data);
  switch (event) {
    case "input_accepted":
      return take(turn, frame);
    case "agent_run_started":
      turn.agent = nameOf(data, "agent") || turn.agent;
      turn.begun = true;
      if (isOpen(turn)) turn.state = "running";
      return;
    case "assistant_message":
      turn.answerPosition = frame.position;
      return settleSegment(turn, "text", data);
    case "thinking":
      return settleSegment(turn, "thinking", data);
    case "tool_started":
      return changeCall(turn, data, begin);
    case "tool_ended":
      endBuilding(turn, (each) => each.callId === textOf(data, "call_id"));
      return changeCall(turn, data, finish);
    case "approval_requested":
      return changeCall(turn, data, request);
    case "approval_settled":
      return changeCall(turn, data, decide);
    case "agent_run_waiting":
      if (isOpen(turn)) turn.state = "waiting";
      return;
    case "agent_run_resumed":
      if (isOpen(turn)) turn.state = "running";
      if (textOf(data, "reason") === "taken_over") dropUnsettled(turn);
      return;
    case "steer_accepted":
      return acceptSteer(turn, data);
    case "steer_applied":
      return settleSteer(turn, data, "applied");
    case "steer_rejected":
      return settleSteer(turn, data, "rejected");
    case "artifact_building":
      return build(turn, data);
    case "artifact_saved":
      endBuilding(turn, (each) => became(each, data));
      return addData(turn, "saved", frame);
    case "canvas":
      return addData(turn, "canvas", frame);
    case "notice":
      return addData(turn, "notice", frame);
    case "compaction":
      return addData(turn, "compaction", frame);
    default:
      return;
  }
}

function take(turn: Turn, frame: Frame): void {
  turn.kind = frame.data.kind === "compaction" ? "compaction" : "message";
  if (turn.kind === "message") {
    turn.ask = {
      text: textOf(frame.data, "message"),
      author: nameOf(frame.data, "author"),
      at: frame.at,
    };
  }
  turn.agent = nameOf(frame.data, "agent") || turn.agent;
  turn.replaces = textOf(frame.data, "replaces") || null;
  if (turn.state === "sending" || turn.state === "unsent") turn.state = "accepted";
}

function end(turn: Turn, state: TurnState, data: FrameData): void {
  turn.state = state;
  turn.reason = textOf(data, "reason");
  turn.message = textOf(data, "message");
  turn.usage = usageOf(data);
  endBuilding(turn, () => true);
  turn.steers = [];
  if (state === "completed" || state === "salvaged") dropUnsettled(turn);
  for (const part of turn.parts) {
    part.version += 1;
    if ("segments" in part) for (const each of part.segments.values()) each.settled = true;
  }
  closeCalls(turn);
}

/** Ends every call that was left open by a turn that is over. */
export function closeCalls(turn: Turn): void {
  for (const call of callsOf(turn)) close(call, UNTOLD[turn.state] ?? "failed");
}

/** How full the model's window was after this turn; null where the turn does not say. */
export function fillOf(turn: Turn): { readonly tokens: number; readonly window: number } | null {
  const window = turn.usage?.window ?? null;
  const summary = turn.parts.findLast((part) => part.type === "compaction");
  const tokens =
    turn.kind === "compaction" && summary && "data" in summary
      ? numberOf(summary.data, "after_tokens")
      : (turn.usage?.context ?? null);
  return tokens === null || window === null || window <= 0 ? null : { tokens, window };
}

function usageOf(data: FrameData): Usage | null {
  const usage = data.usage;
  if (typeof usage !== "object" || usage === null) return null;
  const counts = usage as FrameData;
  const input = numberOf(counts, "input_tokens") ?? numberOf(counts, "prompt_tokens") ?? 0;
  const output = numberOf(counts, "output_tokens") ?? numberOf(counts, "completion_tokens") ?? 0;
  if (input + output === 0) return null;
  return {
    input,
    output,
    cost: textOf(counts, "cost"),
    context: numberOf(counts, "context_tokens"),
    window: numberOf(counts, "context_window"),
  };
}

// What a worker that died had begun is written anew by the next one under another number.
function dropUnsettled(turn: Turn): void {
  turn.parts = turn.parts.filter((part) => !("segments" in part) || isSettled(part));
  endBuilding(turn, (each) => findCall(turn, each.callId) === null);
}

function acceptSteer(turn: Turn, data: FrameData): void {
  const id = textOf(data, "steer_id");
  const text = textOf(data, "message");
  const known =
    turn.steers.find((each) => each.id === id) ??
    turn.steers.find((each) => each.id === "" && each.text === text);
  if (known) Object.assign(known, { id, text, state: "pending" });
  else turn.steers.push({ id, text, state: "pending", reason: "" });
}

function settleSteer(turn: Turn, data: FrameData, state: "applied" | "rejected"): void {
  const id = textOf(data, "steer_id");
  const steer = turn.steers.find((each) => each.id === id);
  if (!steer) return;
  turn.steers = turn.steers.filter((each) => each !== steer);
  Object.assign(steer, { state, reason: textOf(data, "reason") });
  if (steer.reason === "withdrawn") return;
  turn.parts.push({ id: `steer-${id}`, version: 0, type: "steer", steer });
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

/** The segment that a delta goes on with; made where there is none yet. */
export function openSegment(
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

function changeCall(
  turn: Turn,
  data: FrameData,
  act: (call: Call, data: FrameData) => void,
): void {
  const { part, call } = findCall(turn, textOf(data, "call_id")) ?? addCall(turn, data);
  act(call, data);
  part.version += 1;
}

function addCall(turn: Turn, data: FrameData): { part: ToolsPart; call: Call } {
  const call = callOf(data);
  const last = turn.parts.at(-1);
  if (last?.type === "tools") {
    last.calls.push(call);
    return { part: last, call };
  }
  const part: ToolsPart = { id: `tools-${call.id}`, version: 0, type: "tools", calls: [call] };
  turn.parts.push(part);
  return { part, call };
}

function findCall(turn: Turn, id: string): { part: ToolsPart; call: Call } | null {
  for (const part of turn.parts) {
    if (part.type !== "tools") continue;
    const call = part.calls.find((each) => each.id === id);
    if (call) return { part, call };
  }
  return null;
}

function build(turn: Turn, data: FrameData): void {
  if (isDropped(data)) return endBuilding(turn, (each) => each.callId === textOf(data, "call_id"));
  const next = building(data, turn.drafts);
  const id = `building-${next.callId}`;
  const known = buildings(turn).find((part) => part.id === id);
  if (!known) {
    turn.parts.push({ id, version: 0, type: "building", building: next });
    return;
  }
  if (known.building.segment !== next.segment) turn.drafts.delete(known.building.segment);
  known.building = next;
  known.version += 1;
}

function endBuilding(turn: Turn, isOver: (building: Building) => boolean): void {
  for (const part of buildings(turn).filter((each) => isOver(each.building))) {
    turn.drafts.delete(part.building.segment);
    turn.parts.splice(turn.parts.indexOf(part), 1);
  }
}

/** What the turn is writing now. */
export function buildings(turn: Turn): BuildingPart[] {
  return turn.parts.filter((part) => part.type === "building");
}

function addData(turn: Turn, type: DataPart["type"], frame: Frame): void {
  const id = `${type}-${frame.position}`;
  if (turn.parts.some((part) => part.id === id)) return;
  turn.parts.push({ id, version: 0, type, data: frame.data });
}
