// Artifacts that a model is still writing, as values. Durable frames tell what is being made and
// repeat its text now and then; live pieces bring the same text at once. Pure.
import { numberOf, textOf, type FrameData } from "./frames.ts";
import { blank, extend, type Segment } from "./segments.ts";

export interface Building {
  readonly callId: string;
  readonly title: string;
  readonly kind: string;
  /** Of an artifact that gets another version; empty for a new one. */
  readonly artifactId: string;
  readonly characters: number;
  /** The number of its text among those of the turn. */
  readonly segment: number;
  /** What is there so far; maybe less than `characters` while a piece is on its way. */
  readonly draft: Segment;
}

/** Texts of one turn by their numbers. */
export type Drafts = Map<number, Segment>;

/** What a frame says about a call, with its piece of text taken over. */
export function building(data: FrameData, drafts: Drafts): Building {
  const segment = numberOf(data, "segment") ?? 0;
  grow(drafts, segment, numberOf(data, "offset") ?? 0, textOf(data, "text"));
  return {
    callId: textOf(data, "call_id"),
    title: textOf(data, "title"),
    kind: textOf(data, "kind"),
    artifactId: textOf(data, "artifact_id"),
    characters: numberOf(data, "characters") ?? 0,
    segment,
    draft: drafts.get(segment) ?? blank(),
  };
}

/** True if the piece brought something new. */
export function grow(drafts: Drafts, segment: number, offset: number, text: string): boolean {
  const draft = drafts.get(segment) ?? blank();
  drafts.set(segment, draft);
  return extend(draft, offset, text);
}

/** True if nothing comes of a call that was being written. */
export function isDropped(data: FrameData): boolean {
  return textOf(data, "state") === "dropped";
}

/** True if what was saved is what this was about. */
export function became(building: Building, saved: FrameData): boolean {
  return building.artifactId === ""
    ? building.title === textOf(saved, "title")
    : building.artifactId === textOf(saved, "artifact_id");
}
