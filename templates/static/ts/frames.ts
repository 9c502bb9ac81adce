// The wire as the public contract states it: durable frames from the journal and live deltas.

/** Durable event names this client draws; frames of other names only move the position. */
export type FrameEvent =
  | "input_accepted"
  | "agent_run_started"
  | "assistant_message"
  | "thinking"
  | "tool_started"
  | "tool_ended"
  | "approval_requested"
  | "approval_settled"
  | "steer_accepted"
  | "steer_applied"
  | "steer_rejected"
  | "queue_changed"
  | "agent_run_waiting"
  | "agent_run_resumed"
  | "artifact_building"
  | "artifact_saved"
  | "canvas"
  | "compaction"
  | "notice"
  | "agent_run_completed"
  | "agent_run_salvaged"
  | "agent_run_failed"
  | "agent_run_cancelled";

export type FrameData = Readonly<Record<string, unknown>>;

export interface Frame {
  readonly event: FrameEvent | (string & {});
  readonly position: number;
  readonly input_id: string | null;
  readonly turn_id: string | null;
  readonly at: string;
  readonly data: FrameData;
}

export type SegmentKind = "text" | "thinking";

/** `offset` counts code points of the segment that were sent before this piece. */
export interface Delta {
  readonly event: "delta";
  readonly turn_id: string;
  readonly kind: SegmentKind | "artifact" | "source";
  readonly segment: number;
  readonly segment_start: boolean;
  readonly offset: number;
  readonly text: string;
}

export type Incoming =
  | { readonly type: "frame"; readonly frame: Frame }
  | { readonly type: "delta"; readonly delta: Delta }
  | { readonly type: "other" };

/** Sorts one parsed socket message; anything that is not on the contract is `other`. */
export function sort(message: unknown): Incoming {
  if (typeof message !== "object" || message === null) return { type: "other" };
  const fields = message as Record<string, unknown>;
  if (fields.event === "delta") {
    const whole = typeof fields.text === "string" && Number.isInteger(fields.offset);
    return whole && typeof fields.turn_id === "string"
      ? { type: "delta", delta: message as Delta }
      : { type: "other" };
  }
  if (Number.isInteger(fields.position) && typeof fields.event === "string") {
    const frame = message as Frame;
    return { type: "frame", frame: { ...frame, data: frame.data ?? {} } };
  }
  return { type: "other" };
}

export function textOf(data: FrameData, name: string): string {
  const value = data[name];
  return typeof value === "string" ? value : "";
}

export function numberOf(data: FrameData, name: string): number | null {
  const value = data[name];
  return typeof value === "number" && Number.isFinite(value) ? value : null;
}

/** A display name given either as text or as an object with `name`. */
export function nameOf(data: FrameData, name: string): string {
  const value = data[name];
  if (typeof value === "object" && value !== null) {
    const inner = (value as Record<string, unknown>).name;
    return typeof inner === "string" ? inner : "";
  }
  return typeof value === "string" ? value : "";
}
