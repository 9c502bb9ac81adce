// Builders for frames and deltas of one conversation, as the server would send them.
import type { Delta, Frame, FrameData } from "../static/ts/frames.ts";

export function frame(
  position: number,
  event: string,
  data: FrameData = {},
  turn: string | null = "run-1",
): Frame {
  const input = turn === null ? null : turn.replace("run", "input");
  return { event, position, input_id: input, turn_id: turn, at: "2026-05-01T09:00:00Z", data };
}

export function delta(offset: number, text: string, more: Partial<Delta> = {}): Delta {
  return {
    event: "delta",
    turn_id: "run-1",
    kind: "text",
    segment: 0,
    segment_start: offset === 0,
    offset,
    text,
    ...more,
  };
}
