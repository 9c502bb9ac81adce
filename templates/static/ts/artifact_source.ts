// The source of an artifact: an editor with saving, and a merge when somebody else saved first.
import {
  isStale,
  readArtifact,
  saveContent,
  type Artifact,
  type Version,
} from "./artifact_api.ts";
import type { Editor } from "./artifact_editor.ts";
import { readable } from "./artifact_renderable.ts";
import { words } from "./artifact_words.ts";
import { h } from "./dom.ts";
import { say } from "./strings.ts";
import { toast } from "./toasts.ts";

export interface SourceOwner {
  /** A version was appended, here or by somebody else. */
  readonly saved: (artifact: Artifact) => void;
  /** The text differs from what was saved, or does so no more. */
  readonly dirty: (dirty: boolean) => void;
}

const MARKDOWN = "markdown";
const JSON_KINDS: ReadonlySet<string> = new Set(["graph", "renderable"]);
const WRAPPED: ReadonlySet<string> = new Set(["markdown", "text"]);

export class SourceView {
  readonly root = h("div", { class: "source" });
  readonly #owner: SourceOwner;
  readonly #notice = h("div", { class: "source-notice", role: "status", hidden: true });
  readonly #holder = h("div", { class: "source-editor" });
  readonly #state = h("span", { class: "source-state", role: "status" });
  readonly #save = h("button", { type: "button", class: "button primary", onclick: () => void this.save() });
  readonly #discard = h(
    "button",
    { type: "button", class: "button quiet", onclick: () => this.discard() },
    words.discard(),
  );
  readonly #bar = h("div", { class: "source-bar" }, this.#state, this.#discard, this.#save);
  #artifact: Artifact;
  /** What the editor's text started from. */
  #base: Version;
  #shown: Version;
  #editor: Editor | null = null;
  #saving = false;
  #failure = "";
  #opening = 0;

  constructor(artifact: Artifact, owner: SourceOwner) {
    this.#artifact = artifact;
    this.#owner = owner;
    this.#base = artifact.newest;
    this.#shown = artifact.newest;
    this.root.append(this.#notice, this.#holder, this.#bar);
    void this.#edit(artifact.newest.content, null);
  }

  /** The unsaved text; null where there is none. */
  get draft(): string | null {
    return this.isDirty ? (this.#editor?.text ?? null) : null;
  }

  get isDirty(): boolean {
    return this.#writes && this.#editor !== null && this.#editor.text !== this.#base.content;
  }

  get #writes(): boolean {
    return this.#artifact.mayEdit && this.#artifact.kind !== "renderable" && this.#shown === this.#base;
  }

  focus(): void {
    this.#editor?.focus();
  }

  /** Shows an exact version: the newest to write on, an older one to read. */
  show(artifact: Artifact, version: Version): void {
    const wasDirty = this.isDirty;
    this.#artifact = artifact;
    if (wasDirty && artifact.newest.number !== this.#base.number) {
      this.#tell(h("p", {}, words.newerVersion(artifact.newest.number)));
      return this.#draw();
    }
    if (wasDirty || this.#shown === version) return this.#draw();
    this.#base = artifact.newest;
    this.#shown = version.number === artifact.newest.number ? artifact.newest : version;
    this.#tell(null);
    void this.#edit(this.#shown.content, null);
  }

  /** Appends what is written as a version; a merge where somebody else was quicker. */
  async save(): Promise<void> {
    if (!this.isDirty || this.#saving || !this.#editor) return;
    const text = this.#editor.text;
    this.#saving = true;
    this.#failure = "";
    this.#draw();
    const reply = await saveContent(this.#artifact.id, text, this.#base.number);
    const now = reply.ok || isStale(reply) ? await readArtifact(this.#artifact.id) : null;
    this.#saving = false;
    if (reply.ok && now?.ok) return this.#settle(now.body, { number: reply.body.version, text });
    if (!reply.ok && isStale(reply) && now?.ok) return this.#merge(now.body, text);
    this.#failure = (!reply.ok && reply.message) || words.saveFailed();
    this.#draw();
  }

  /** Goes back to what is saved. */
  discard(): void {
    this.#base = this.#artifact.newest;
    this.#shown = this.#base;
    this.#failure = "";
    this.#tell(null);
    void this.#edit(this.#base.content, null);
  }

  close(): void {
    this.#editor?.close();
  }

  // Whoever wrote on while it was being saved keeps what was written.
  #settle(artifact: Artifact, saved: { number: number; text: string }): void {
    const isNewest = artifact.newest.number === saved.number;
    this.#artifact = artifact;
    this.#base = isNewest ? artifact.newest : { ...artifact.newest, number: saved.number, content: saved.text };
    this.#shown = this.#base;
    toast(words.savedAs(saved.number));
    this.#tell(isNewest ? null : h("p", {}, words.newerVersion(artifact.newest.number)));
    if (this.root.dataset.merging !== undefined) void this.#edit(this.#editor?.text ?? saved.text, null);
    this.#draw();
    this.#owner.saved(artifact);
  }

  async #merge(artifact: Artifact, mine: string): Promise<void> {
    const { merge } = await import("./artifact_merging.ts");
    const base = this.#base.content;
    this.#artifact = artifact;
    this.#base = artifact.newest;
    this.#shown = this.#base;
    const { text, conflicts } = merge(base, mine, artifact.newest.content);
    await this.#edit(text, artifact.newest.content);
    const next = h(
      "button",
      { type: "button", class: "button", onclick: () => this.#editor?.nextDifference() },
      words.nextDifference(),
    );
    this.#tell(
      h("strong", {}, words.conflict(artifact.newest.author.name, artifact.newest.number)),
      h("p", {}, conflicts === 0 ? words.conflictClean() : words.conflictOpen(conflicts)),
      next,
    );
    this.#owner.saved(artifact);
  }

  async #edit(text: string, theirs: string | null): Promise<void> {
    this.#opening += 1;
    const opening = this.#opening;
    const { Editor } = await import("./artifact_editor.ts");
    if (opening !== this.#opening) return;
    const { kind, title } = this.#artifact;
    const hadFocus = this.#holder.contains(document.activeElement);
    this.#editor?.close();
    this.#editor = new Editor({
      label: words.editor(title),
      text: kind === "renderable" ? readable(text) : text,
      language: kind === MARKDOWN ? MARKDOWN : JSON_KINDS.has(kind) ? "json" : this.#shown.language,
      readOnly: !this.#writes,
      wraps: WRAPPED.has(kind),
      theirs,
      changed: () => {
        if (theirs !== null && this.#editor?.differences() === 0) this.#tell(null);
        this.#draw();
      },
      save: () => void this.save(),
    });
    this.#holder.replaceChildren(this.#editor.root);
    this.root.toggleAttribute("data-merging", theirs !== null);
    if (hadFocus || theirs !== null) this.#editor.focus();
    this.#draw();
  }

  #draw(): void {
    const dirty = this.isDirty;
    this.#owner.dirty(dirty);
    this.#save.disabled = !dirty || this.#saving;
    this.#save.textContent = dirty ? words.saveAs(this.#artifact.newest.number + 1) : say.save();
    this.#save.hidden = !this.#writes;
    this.#discard.hidden = !dirty;
    this.#state.toggleAttribute("data-bad", this.#failure !== "");
    const state = this.#stateWords(dirty);
    if (this.#state.textContent !== state) this.#state.textContent = state;
  }

  #stateWords(dirty: boolean): string {
    if (this.#saving) return words.saving();
    if (this.#failure !== "") return this.#failure;
    if (dirty) return words.unsaved();
    if (this.#artifact.kind === "renderable") return words.fixed();
    return this.#artifact.mayEdit ? words.version(this.#shown.number) : words.readOnly();
  }

  #tell(...parts: (HTMLElement | null)[]): void {
    const shown = parts.filter((part) => part !== null);
    this.#notice.replaceChildren(...shown);
    this.#notice.hidden = shown.length === 0;
  }
}
