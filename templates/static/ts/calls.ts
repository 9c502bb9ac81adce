// What a turn's tool calls and the requests to approve them look like, as values. Pure.
import { nameOf, numberOf, textOf, type FrameData } from "./frames.ts";

export type CallState =
  | "queued"
  | "running"
  | "waiting"
  | "done"
  | "failed"
  | "denied"
  | "stopped";

export type ApprovalState =
  | "pending"
  | "approved"
  | "denied"
  | "expired"
  | "withdrawn"
  | "superseded";

/** One link of the chain that decided about a call. */
export interface Why {
  readonly by: string;
  readonly outcome: string;
  readonly text: string;
}

/** A request to approve one exact call. */
export interface Approval {
  readonly id: string;
  readonly callId: string;
  readonly conversation: string;
  readonly tool: string;
  readonly label: string;
  readonly effect: string;
  readonly target: string;
  readonly arguments: unknown;
  readonly runsAs: string;
  readonly agent: string;
  readonly digest: string;
  readonly expiresAt: string;
  readonly why: readonly Why[];
  state: ApprovalState;
  reason: string;
}

export interface Call {
  readonly id: string;
  readonly name: string;
  readonly label: string;
  readonly arguments: unknown;
  state: CallState;
  result: unknown;
  durationMs: number | null;
  why: readonly Why[];
  approval: Approval | null;
  /** Grows with every change, so that a view redraws only what moved. */
  version: number;
}

const OUTCOMES: Readonly<Record<string, CallState>> = {
  ok: "done",
  success: "done",
  done: "done",
  completed: "done",
  denied: "denied",
  refused: "denied",
  cancelled: "stopped",
};
const SETTLED: ReadonlySet<string> = new Set<ApprovalState>([
  "approved",
  "denied",
  "expired",
  "withdrawn",
  "superseded",
]);

export function callOf(data: FrameData): Call {
  const name = textOf(data, "name") || textOf(data, "tool");
  return {
    id: textOf(data, "call_id"),
    name,
    label: textOf(data, "label") || name,
    arguments: data.arguments ?? null,
    state: data.state === "queued" ? "queued" : "running",
    result: null,
    durationMs: null,
    why: [],
    approval: null,
    version: 0,
  };
}

/** The call began, maybe after it had been announced as queued. */
export function begin(call: Call, data: FrameData): void {
  if (call.state === "queued" && data.state !== "queued") call.state = "running";
  call.version += 1;
}

export function finish(call: Call, data: FrameData): void {
  call.state = OUTCOMES[textOf(data, "outcome")] ?? "failed";
  call.result = data.result ?? data.message ?? call.result;
  call.durationMs = numberOf(data, "duration_ms") ?? call.durationMs;
  const why = whyOf(data);
  if (why.length > 0) call.why = why;
  supersede(call);
  call.version += 1;
}

export function request(call: Call, data: FrameData): void {
  call.approval = approvalOf(data);
  call.why = call.approval.why;
  call.state = "waiting";
  call.version += 1;
}

export function decide(call: Call, data: FrameData): void {
  const outcome = textOf(data, "outcome");
  if (call.approval) {
    call.approval.state = SETTLED.has(outcome) ? (outcome as ApprovalState) : "superseded";
    call.approval.reason = textOf(data, "reason");
  }
  if (call.state === "waiting") call.state = outcome === "approved" ? "running" : "denied";
  call.version += 1;
}

/** The run is over: no card spins or asks, whatever became of the frame that ended the call. */
export function close(call: Call, state: CallState): void {
  if (call.state === "queued" || call.state === "running" || call.state === "waiting") {
    call.state = state;
  }
  supersede(call);
  call.version += 1;
}

function supersede(call: Call): void {
  if (call.approval?.state === "pending") call.approval.state = "superseded";
}

/** A request as a frame or the list of approvals states it. */
export function approvalOf(data: FrameData): Approval {
  const state = textOf(data, "state");
  return {
    id: textOf(data, "approval_id") || textOf(data, "id"),
    callId: textOf(data, "call_id"),
    conversation: textOf(data, "conversation_id"),
    tool: textOf(data, "tool"),
    label: textOf(data, "label") || textOf(data, "tool"),
    effect: textOf(data, "effect"),
    target: textOf(data, "target"),
    arguments: data.arguments ?? {},
    runsAs: nameOf(data, "runs_as"),
    agent: nameOf(data, "agent"),
    digest: textOf(data, "digest"),
    expiresAt: textOf(data, "expires_at"),
    why: whyOf(data),
    state: state === "consumed" ? "approved" : SETTLED.has(state) ? (state as ApprovalState) : "pending",
    reason: textOf(data, "reason"),
  };
}

/** True where the chain says more than that everything was allowed. */
export function needsReasons(call: Call): boolean {
  return call.why.length > 0 && call.why.some((each) => each.outcome !== "allowed");
}

function whyOf(data: FrameData): readonly Why[] {
  if (!Array.isArray(data.why)) return [];
  return (data.why as FrameData[]).map((each) => ({
    by: textOf(each, "by"),
    outcome: textOf(each, "outcome"),
    text: textOf(each, "text"),
  }));
}
