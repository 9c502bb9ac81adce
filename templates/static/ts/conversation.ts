// What a conversation looks like after a set of frames and deltas. Pure: no document, no clock,
// no network. Frames arrive here once and in order (ledger.ts), or older ones as a page from
// before the first; both lead to the same state as one fresh read.
import { grow } from "./artifact_drafts.ts";
import { pathTo, siblingsOf, tipBelow, type Siblings } from "./branches.ts";
import { textOf, type Delta, type Frame, type FrameData } from "./frames.ts";
import { extend } from "./segments.ts";
import {
  blankTurn,
  buildings,
  change,
  closeCalls,
  fillOf,
  isLive,
  isOpen,
  openSegment,
  type Ask,
  type Steer,
  type Turn,
} from "./turn.ts";

export interface Conversation {
  readonly turns: Turn[];
  /** The newest turn of the branch on the page. */
  tip: Turn | null;
  /** An input at the end of the shown branch that is on a page above. */
  wanted: string | null;
  nextKey: number;
  /** Turns by input, run and key. */
  readonly known: Map<string, Turn>;
  /** What was worked out about the branches; nothing after a change. Deltas change none of it. */
  shape: Shape | null;
}

interface Shape {
  readonly path: readonly Turn[];
  readonly siblings: Map<Turn, Siblings>;
}

/** A message that waits: said to a running turn, or queued behind it. */
export type Waiting =
  | { readonly type: "steer"; readonly turn: Turn; readonly steer: Steer }
  | { readonly type: "queued"; readonly turn: Turn };

export function empty(): Conversation {
  return { turns: [], tip: null, wanted: null, nextKey: 1, known: new Map(), shape: null };
}

/** The turns of the branch on the page, without those that still wait for an earlier one. */
export function shownTurns(conversation: Conversation): Turn[] {
  const queued = new Set(queuedTurns(conversation));
  return path(conversation).filter((turn) => !queued.has(turn) && !isTakenBack(turn));
}

/** What waits, in the order in which it will be read. */
export function waiting(conversation: Conversation): Waiting[] {
  const steers = conversation.turns.flatMap((turn) =>
    turn.steers.map((steer) => ({ type: "steer", turn, steer }) as const),
  );
  const queued = queuedTurns(conversation).map((turn) => ({ type: "queued", turn }) as const);
  return [...steers, ...queued];
}

export function openTurn(conversation: Conversation): Turn | null {
  return conversation.turns.findLast(isOpen) ?? null;
}

/** The turn that can be told something now. */
export function liveTurn(conversation: Conversation): Turn | null {
  return conversation.turns.find(isLive) ?? null;
}

/** How full the model's window is on the shown branch; null before the first answer. */
export function fill(conversation: Conversation): ReturnType<typeof fillOf> {
  const last = path(conversation).findLast((turn) => fillOf(turn) !== null);
  return last ? fillOf(last) : null;
}

/** Every question with others beside it, and its place among them. */
export function siblings(conversation: Conversation): Map<Turn, Siblings> {
  return shapeOf(conversation).siblings;
}

/** The newest question on the page that is the reader's own to change. */
export function lastAsked(conversation: Conversation, me: string): Turn | null {
  const isMine = (turn: Turn) => turn.ask?.author === me || turn.ask?.author === "";
  return shownTurns(conversation).findLast((turn) => turn.ask !== null && isMine(turn)) ?? null;
}

/** Shows a message before the server has it; with `beside`, in that turn's place. */
export function ask(
  conversation: Conversation,
  message: Ask,
  agent: string,
  beside: Turn | null = null,
): Turn {
  const turn = addTurn(conversation, { order: Number.POSITIVE_INFINITY, state: "sending" });
  const before = path(conversation).at(-1) ?? null;
  turn.ask = message;
  turn.agent = agent;
  turn.parent = beside ? parentName(conversation, beside) : nameOfTurn(before);
  turn.replaces = beside?.inputId ?? null;
  show(conversation, turn);
  return turn;
}

/** Takes a message off the page that the server never got. */
export function remove(conversation: Conversation, turn: Turn): void {
  const at = conversation.turns.indexOf(turn);
  if (at === -1) return;
  conversation.turns.splice(at, 1);
  conversation.shape = null;
  if (conversation.tip !== turn) return;
  const beside = conversation.known.get(turn.replaces ?? "");
  const before = conversation.known.get(turn.parent ?? "");
  const back = beside ?? before ?? conversation.turns.at(-1) ?? null;
  show(conversation, back && tipBelow(conversation.turns, back));
}

/** The server accepted a shown message. Drops the shown copy if its frame came first. */
export function accepted(conversation: Conversation, turn: Turn, inputId: string): void {
  const known = conversation.known.get(inputId);
  conversation.shape = null;
  if (known && known !== turn) {
    conversation.turns.splice(conversation.turns.indexOf(turn), 1);
    if (conversation.tip === turn) show(conversation, known);
    return;
  }
  turn.inputId = inputId;
  register(conversation, turn);
  if (turn.state === "sending" || turn.state === "unsent") turn.state = "accepted";
  turn.version += 1;
}

/** Shows the branch through `turn`, down to its newest end. */
export function select(conversation: Conversation, turn: Turn): void {
  show(conversation, tipBelow(conversation.turns, turn));
}

/** Shows the branch that ends with `tip`. */
export function show(conversation: Conversation, tip: Turn | null): void {
  conversation.tip = tip;
  conversation.shape = null;
}

/** Applies one durable frame; answers the turn it touched, null if it drew nothing. */
export function apply(conversation: Conversation, frame: Frame): Turn | null {
  if (frame.event === "notice" && textOf(frame.data, "code") === "branch_selected") {
    return showEnd(conversation, textOf(frame.data, "end") || textOf(frame.data, "input_id"));
  }
  if (frame.event === "queue_changed") return requeue(conversation, frame.data);
  const turn = turnOf(conversation, frame);
  if (!turn) return null;
  conversation.shape = null;
  if (frame.position < turn.order) {
    turn.order = frame.position;
    sortTurns(conversation);
  }
  turn.runId ??= frame.turn_id;
  register(conversation, turn);
  turn.version += 1;
  change(turn, frame);
  if (frame.event === "input_accepted") {
    if ("parent" in frame.data) turn.parent = textOf(frame.data, "parent") || null;
    conversation.wanted = null;
    show(conversation, turn);
  }
  return turn;
}

/** Applies one live delta; null when its turn is unknown, over, or already past it. */
export function applyDelta(conversation: Conversation, delta: Delta): Turn | null {
  if (delta.kind === "source") return null;
  const turn = conversation.known.get(delta.turn_id);
  if (!turn || !isOpen(turn)) return null;
  if (delta.kind === "artifact") return growBuilding(turn, delta);
  const { part, segment } = openSegment(turn, delta.kind, delta.segment, delta.segment_start);
  if (turn.state === "accepted") turn.state = "running";
  if (!extend(segment, delta.offset, delta.text)) return null;
  part.version += 1;
  turn.version += 1;
  return turn;
}

function growBuilding(turn: Turn, delta: Delta): Turn | null {
  if (!grow(turn.drafts, delta.segment, delta.offset, delta.text)) return null;
  for (const part of buildings(turn)) {
    if (part.building.segment === delta.segment) part.version += 1;
  }
  turn.version += 1;
  return turn;
}

/** Adds a page of frames from before the first one; they never change what came later. */
export function prepend(conversation: Conversation, frames: readonly Frame[]): void {
  const older: Conversation = { ...empty(), nextKey: conversation.nextKey };
  for (const frame of frames) apply(older, frame);
  conversation.nextKey = older.nextKey;
  for (const turn of older.turns) {
    const { known } = conversation;
    const later = known.get(turn.inputId ?? "") ?? known.get(turn.runId ?? "");
    if (later) joinTurns(later, turn);
    else conversation.turns.push(turn);
    register(conversation, later ?? turn);
  }
  sortTurns(conversation);
  show(conversation, conversation.tip ?? older.tip);
  if (conversation.wanted !== null) showEnd(conversation, conversation.wanted);
}

function joinTurns(later: Turn, earlier: Turn): void {
  later.ask ??= earlier.ask;
  later.kind = earlier.kind;
  later.agent ||= earlier.agent;
  later.order = earlier.order;
  later.parent = earlier.parent;
  later.replaces ??= earlier.replaces;
  later.begun ||= earlier.begun;
  later.parts = [...earlier.parts, ...later.parts];
  if (isOpen(later)) later.steers = [...earlier.steers, ...later.steers];
  else closeCalls(later);
  later.version += 1;
}

function register(conversation: Conversation, turn: Turn): void {
  for (const name of [turn.key, turn.inputId, turn.runId]) {
    if (name !== null) conversation.known.set(name, turn);
  }
}

function path(conversation: Conversation): readonly Turn[] {
  return shapeOf(conversation).path;
}

function shapeOf(conversation: Conversation): Shape {
  const { turns, tip } = conversation;
  conversation.shape ??= {
    path: pathTo(turns, tip),
    siblings: siblingsOf(turns.filter((turn) => !isTakenBack(turn))),
  };
  return conversation.shape;
}

function queuedTurns(conversation: Conversation): Turn[] {
  let behind = false;
  return path(conversation).filter((turn) => {
    const waits = behind && (turn.state === "accepted" || turn.state === "sending");
    behind ||= isOpen(turn);
    return waits;
  });
}

// A message its author took out of the queue, or told the running answer: nothing came of it.
function isTakenBack(turn: Turn): boolean {
  const { state, begun, reason } = turn;
  return state === "cancelled" && !begun && (reason === "withdrawn" || reason === "steered");
}

function showEnd(conversation: Conversation, inputId: string): Turn | null {
  const turn = conversation.known.get(inputId) ?? null;
  conversation.wanted = turn ? null : inputId;
  if (turn) show(conversation, turn);
  return conversation.tip;
}

function requeue(conversation: Conversation, data: FrameData): Turn | null {
  let touched: Turn | null = null;
  for (const item of Array.isArray(data.items) ? (data.items as FrameData[]) : []) {
    const turn = conversation.known.get(textOf(item, "input_id"));
    if (!turn?.ask) continue;
    turn.ask = { ...turn.ask, text: textOf(item, "message") };
    turn.version += 1;
    touched = turn;
  }
  return touched ?? conversation.tip;
}

function nameOfTurn(turn: Turn | null): string | null {
  return turn && (turn.inputId ?? turn.key);
}

function parentName(conversation: Conversation, turn: Turn): string | null {
  if (turn.parent !== undefined) return turn.parent;
  return nameOfTurn(conversation.turns[conversation.turns.indexOf(turn) - 1] ?? null);
}

function turnOf(conversation: Conversation, frame: Frame): Turn | null {
  const { input_id, turn_id } = frame;
  // What belongs to no turn, such as a summary asked for between two, stands where it happened.
  if (input_id === null && turn_id === null) return conversation.tip;
  const known =
    conversation.known.get(input_id ?? "") ?? conversation.known.get(turn_id ?? "");
  if (known) {
    known.inputId ??= input_id;
    return known;
  }
  const copy = frame.event === "input_accepted" ? shownCopy(conversation, frame) : null;
  const turn = copy ?? addTurn(conversation, { order: frame.position, state: "accepted" });
  turn.inputId = input_id;
  if (!copy) conversation.tip ??= turn;
  return turn;
}

// The frame of a message can overtake the reply to its POST. Until that reply names the input,
// the oldest unanswered copy with the same words stands for it; each copy is taken once.
function shownCopy(conversation: Conversation, frame: Frame): Turn | null {
  const text = textOf(frame.data, "message");
  const replaces = textOf(frame.data, "replaces") || null;
  return (
    conversation.turns.find(
      (turn) =>
        turn.inputId === null &&
        turn.state === "sending" &&
        turn.ask?.text === text &&
        turn.replaces === replaces,
    ) ?? null
  );
}

function addTurn(conversation: Conversation, start: Pick<Turn, "order" | "state">): Turn {
  const turn = blankTurn(`t${conversation.nextKey}`, start);
  conversation.nextKey += 1;
  conversation.shape = null;
  const last = conversation.turns.at(-1);
  conversation.turns.push(turn);
  register(conversation, turn);
  if (last && last.order > turn.order) sortTurns(conversation);
  return turn;
}

function sortTurns(conversation: Conversation): void {
  conversation.turns.sort((a, b) => (a.order === b.order ? 0 : a.order - b.order));
}
