// Artifacts that a model is still writing, as values. Durable frames tell what is being made and
// how long it is; live pieces bring the text. Pure.
import { numberOf, textOf, type FrameData } from "./frames.ts";
import { blank, extend, type Segment } from "./segments.ts";

export interface Building {
  readonly callId: string;
  readonly title: string;
  readonly kind: string;
  /** Of an artifact that gets another version; empty for a new one. */
  readonly artifactId: string;
  readonly characters: number;
  /** What came of the text so far; maybe less than `characters`, which is never a fault. */
  readonly draft: Segment;
}

/** Texts by the place of their call in its step. */
export type Drafts = Map<number, Segment>;

export function building(data: FrameData, drafts: Drafts): Building {
  const callId = textOf(data, "call_id");
  const place = placeOf(callId);
  const draft = drafts.get(place) ?? blank();
  drafts.set(place, draft);
  return {
    callId,
    title: textOf(data, "title"),
    kind: textOf(data, "kind"),
    artifactId: textOf(data, "artifact_id"),
    characters: numberOf(data, "characters") ?? 0,
    draft,
  };
}

/** True if the piece brought something new. */
export function grow(drafts: Drafts, place: number, offset: number, text: string): boolean {
  const draft = drafts.get(place) ?? blank();
  drafts.set(place, draft);
  return extend(draft, offset, text);
}

/** The call is over: the next one in its place begins anew. */
export function forget(drafts: Drafts, callId: string): void {
  drafts.delete(placeOf(callId));
}

/** True if what was saved is what this was about. */
export function became(building: Building, saved: FrameData): boolean {
  const id = textOf(saved, "artifact_id");
  return building.artifactId === "" ? building.title === textOf(saved, "title") : building.artifactId === id;
}

// Ids of calls end with the place of the call in its step.
export function placeOf(callId: string): number {
  const place = Number(callId.slice(callId.lastIndexOf("-") + 1));
  return Number.isInteger(place) ? place : 0;
}
