// Every text of the agent pages, apart from those they share with others.
import { fill, gettext } from "./strings.ts";

export const words = {
  answersAs: (number: number) => fill(gettext("Answers as version %(number)s"), { number }),
  bothChanged: () => gettext("You both changed this"),
  characters: (count: string, most: string) =>
    fill(gettext("%(count)s of %(most)s"), { count, most }),
  conflictHelp: () =>
    gettext(
      "Below is what they changed. What only they changed is already in the form. Where you both changed something, choose or write it anew, then save.",
    ),
  conflictTitle: (number: number) =>
    fill(gettext("Somebody else saved version %(number)s while you were writing"), { number }),
  fields: {
    capability_ceiling: () => gettext("What its tools may do"),
    description: () => gettext("Purpose"),
    mode: () => gettext("Kind"),
    name: () => gettext("Name"),
    persona: () => gettext("Instructions"),
    posture: () => gettext("Tools and effort"),
  } as Readonly<Record<string, () => string>>,
  groupOf: () => gettext("Group"),
  invalid: () => gettext("This cannot be saved as it is."),
  keepAllMine: () => gettext("Overwrite with all of mine"),
  keepMine: () => gettext("Keep mine"),
  merged: () => gettext("Both changes are in the form"),
  mineKept: () => gettext("Yours is kept"),
  missing: () => gettext("Please fill this in."),
  nameTaken: () => gettext("You have another agent of this name."),
  nobodyFound: () => gettext("Nobody is called like this."),
  added: (name: string) => fill(gettext("%(name)s is added; save to share"), { name }),
  removed: (name: string) => fill(gettext("Remove %(name)s"), { name }),
  rights: (name: string) => fill(gettext("What %(name)s may do"), { name }),
  rightsOf: {
    use: () => gettext("Use"),
    "use duplicate": () => gettext("Use and duplicate"),
    "use edit": () => gettext("Use and edit"),
    "use duplicate edit": () => gettext("Use, duplicate and edit"),
  } as Readonly<Record<string, () => string>>,
  saveAs: (number: number) => fill(gettext("Save as version %(number)s"), { number }),
  saveFailed: () => gettext("It could not be saved. Your changes are still here."),
  savedAs: (number: number) => fill(gettext("Saved as version %(number)s"), { number }),
  saving: () => gettext("Saving …"),
  sharingSaved: () => gettext("Sharing is saved"),
  takeTheirs: () => gettext("Take theirs"),
  theirsTaken: () => gettext("Taken over into the form"),
  unsaved: () => gettext("Unsaved changes"),
  version: (number: number) => fill(gettext("version %(number)s"), { number }),
  wordAdded: () => gettext("added"),
  wordRemoved: () => gettext("removed"),
} as const;
