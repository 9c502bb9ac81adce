// What was written but not sent, per person and conversation, kept across reloads.

const PREFIX = "kaizen:draft:";
const KEPT_CHARACTERS = 32_000;

export class Drafts {
  readonly #person: string;

  constructor(person: string) {
    this.#person = person;
  }

  load(conversation: string | null): string {
    try {
      return localStorage.getItem(this.#key(conversation)) ?? "";
    } catch {
      return "";
    }
  }

  save(conversation: string | null, text: string): void {
    try {
      const key = this.#key(conversation);
      if (text === "") localStorage.removeItem(key);
      else localStorage.setItem(key, text.slice(0, KEPT_CHARACTERS));
    } catch {
      // Storage is full or switched off: the text is still in the field.
    }
  }

  #key(conversation: string | null): string {
    return `${PREFIX}${this.#person}:${conversation ?? "new"}`;
  }
}

/** Removes every draft of this browser; run at sign-out. */
export function forgetDrafts(): void {
  try {
    for (const key of Object.keys(localStorage)) {
      if (key.startsWith(PREFIX)) localStorage.removeItem(key);
    }
  } catch {
    // Nothing is stored then.
  }
}
