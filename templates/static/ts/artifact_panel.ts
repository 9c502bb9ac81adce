// One artifact with everything that can be done to it: Preview, Source and History as tabs.
import backIcon from "../icons/back.svg";
import closeIcon from "../icons/close.svg";
import downloadIcon from "../icons/download.svg";
import externalIcon from "../icons/external.svg";
import {
  downloadAddress,
  readArtifact,
  readVersion,
  restoreVersion,
  type Artifact,
  type Version,
} from "./artifact_api.ts";
import { BuildingView } from "./artifact_building_view.ts";
import { kindIcon, kindName } from "./artifact_card.ts";
import type { Building } from "./artifact_drafts.ts";
import { HistoryView } from "./artifact_history.ts";
import { askToDiscard } from "./artifact_leaving.ts";
import { preview } from "./artifact_preview.ts";
import { bannerOf } from "./artifact_renderable.ts";
import { SourceView } from "./artifact_source.ts";
import { Tabs } from "./artifact_tabs.ts";
import { words } from "./artifact_words.ts";
import { drawing, h, iconButton } from "./dom.ts";
import { moment } from "./measures.ts";
import { toast } from "./toasts.ts";

export interface PanelOwner {
  /** Where the panel is: beside a chat, or a page of its own. */
  readonly place: "chat" | "page";
  readonly close: () => void;
}

export class ArtifactPanel {
  readonly root: HTMLElement;
  readonly #owner: PanelOwner;
  readonly #icon = h("span", { class: "artifact-mark", "aria-hidden": "true" });
  readonly #title = h("h2", { class: "panel-title", dir: "auto", tabindex: "-1" });
  readonly #about = h("p", { class: "panel-about" });
  readonly #download = h("a", { class: "icon-button", download: true });
  readonly #page = h("a", { class: "icon-button" }, drawing(externalIcon));
  readonly #banner = h("p", { class: "panel-banner", hidden: true });
  readonly #older = h("div", { class: "panel-older", role: "status", hidden: true });
  readonly #tabs: Tabs;
  readonly #body = h("div", { class: "panel-body" });
  #artifact: Artifact | null = null;
  #version: Version | null = null;
  #source: SourceView | null = null;
  #history: HistoryView | null = null;
  #building: BuildingView | null = null;
  #previewed = "";
  #asked = 0;

  constructor(owner: PanelOwner) {
    this.#owner = owner;
    this.#tabs = new Tabs((name) => this.#show(name));
    this.#download.append(drawing(downloadIcon));
    this.#page.setAttribute("aria-label", words.fullPage());
    this.#page.title = words.fullPage();
    const inChat = owner.place === "chat";
    const close = iconButton(closeIcon, words.close(), owner.close);
    const back = iconButton(backIcon, words.toChat(), owner.close);
    close.classList.add("panel-close");
    back.classList.add("panel-back");
    this.root = h(
      "div",
      { class: "panel", "data-place": owner.place },
      h(
        "header",
        { class: "panel-head" },
        inChat && back,
        this.#icon,
        h("div", { class: "what" }, this.#title, this.#about),
        this.#download,
        inChat && this.#page,
        inChat && close,
      ),
      this.#banner,
      this.#tabs.root,
      this.#older,
      this.#body,
    );
    this.root.addEventListener("keydown", (event) => this.#onKey(event));
  }

  /** The artifact that is open; null for none, and for one that is still being written. */
  get artifact(): string | null {
    return this.#artifact?.id ?? null;
  }

  get isDirty(): boolean {
    return this.#source?.isDirty ?? false;
  }

  /** True once nothing is lost by going away, maybe after asking. */
  async mayLeave(): Promise<boolean> {
    return !this.isDirty || askToDiscard(this.root);
  }

  /** Opens an artifact at its newest version; false if it is not there. */
  async open(id: string): Promise<boolean> {
    this.#asked += 1;
    const asked = this.#asked;
    if (this.#artifact?.id !== id) this.#clear();
    const reply = await readArtifact(id);
    if (asked !== this.#asked) return true;
    if (!reply.ok) {
      this.#title.textContent = words.artifact();
      this.#body.replaceChildren(h("p", { class: "empty", role: "alert" }, reply.message || words.failed()));
      return false;
    }
    this.#take(reply.body, reply.body.newest);
    return true;
  }

  /** Shows an artifact while it is being written. */
  watch(building: Building): void {
    this.#asked += 1;
    if (this.#building === null) this.#clear();
    this.#building ??= new BuildingView();
    this.#title.textContent = building.title || words.artifact();
    this.#about.textContent = `${kindName(building.kind)} · ${words.building()}`;
    this.#icon.replaceChildren(kindIcon(building.kind));
    this.#building.update(building);
    if (!this.#body.contains(this.#building.root)) this.#body.replaceChildren(this.#building.root);
    this.#building.followEnd();
  }

  /** What was being written came to an end without being kept. */
  abandon(): void {
    this.#about.textContent = words.notKept();
  }

  /** Somebody else may have added a version. */
  async refresh(): Promise<void> {
    if (this.#artifact === null) return;
    const reply = await readArtifact(this.#artifact.id);
    if (!reply.ok || reply.body.id !== this.#artifact.id) return;
    const wasNewest = this.#version?.number === this.#artifact.newest.number;
    this.#take(reply.body, wasNewest || this.#version === null ? reply.body.newest : this.#version);
  }

  /** Puts the focus where keyboard users go on. */
  focus(): void {
    if (this.#artifact === null) this.#title.focus();
    else this.#tabs.focus();
  }

  #clear(): void {
    this.#source?.close();
    this.#artifact = null;
    this.#version = null;
    this.#source = null;
    this.#history = null;
    this.#building = null;
    this.#previewed = "";
    this.#title.replaceChildren();
    this.#about.replaceChildren();
    this.#icon.replaceChildren();
    this.#banner.hidden = true;
    this.#older.hidden = true;
    this.#tabs.hide(true);
    this.#download.hidden = true;
    this.#page.hidden = true;
    const lines = ["skeleton short", "skeleton", "skeleton"].map((name) => h("span", { class: name }));
    this.#body.replaceChildren(h("div", { class: "loading", "aria-hidden": "true" }, ...lines));
  }

  #take(artifact: Artifact, version: Version): void {
    this.#artifact = artifact;
    this.#version = version;
    this.#building = null;
    const { newest } = artifact;
    this.#title.textContent = artifact.title;
    const kind = kindName(artifact.kind, artifact.kind === "code" ? version.language : "");
    this.#about.replaceChildren(
      `${kind} · ${words.version(version.number)} · ${version.author.name} · `,
      h("time", { datetime: version.createdAt }, moment(version.createdAt)),
    );
    this.#icon.replaceChildren(kindIcon(artifact.kind));
    this.#download.href = downloadAddress(artifact.id, version.number);
    this.#download.title = words.downloadVersion(version.number);
    this.#download.setAttribute("aria-label", words.downloadVersion(version.number));
    this.#page.href = `/artifacts/${encodeURIComponent(artifact.id)}`;
    this.#download.hidden = false;
    this.#page.hidden = false;
    const banner = version.renderable ? bannerOf(version.renderable) : "";
    this.#banner.textContent = banner;
    this.#banner.hidden = banner === "";
    this.#drawOlder(artifact, version, newest.number);
    this.#tabs.name("source", artifact.kind === "renderable" ? words.json() : words.source());
    this.#tabs.hide(false);
    this.#source?.show(artifact, version);
    this.#history?.update(artifact, version.number);
    this.#show(this.#tabs.chosen);
  }

  #drawOlder(artifact: Artifact, version: Version, newest: number): void {
    this.#older.hidden = version.number === newest;
    if (version.number === newest) return this.#older.replaceChildren();
    const back = () => this.#take(artifact, artifact.newest);
    const restores = artifact.mayEdit && artifact.kind !== "renderable";
    const restore = () => void this.#restore(version.number);
    this.#older.replaceChildren(
      h("span", {}, words.olderVersion(version.number, newest)),
      linkButton(words.backToNewest(), back),
      restores ? linkButton(words.restore(), restore) : "",
    );
  }

  async #restore(number: number): Promise<void> {
    const artifact = this.#artifact;
    if (!artifact || !(await this.mayLeave())) return;
    this.#source?.discard();
    const reply = await restoreVersion(artifact.id, number, artifact.newest.number);
    if (reply.ok) toast(words.restored(number, reply.body.version));
    else toast(reply.message || words.failed());
    await this.open(artifact.id);
  }

  async #view(number: number): Promise<void> {
    const artifact = this.#artifact;
    if (!artifact) return;
    const known = number === artifact.newest.number ? artifact.newest : null;
    const reply = known ? ({ ok: true, status: 200, body: known } as const) : await readVersion(artifact.id, number);
    if (!reply.ok) return toast(reply.message || words.failed());
    if (artifact !== this.#artifact) return;
    this.#tabs.choose("preview");
    this.#take(artifact, reply.body);
    this.#tabs.focus();
  }

  #show(name: string): void {
    const [artifact, version] = [this.#artifact, this.#version];
    if (!artifact || !version) return;
    if (name === "source") return this.#place(name, this.#sourceView(artifact, version).root);
    if (name === "history") return this.#place(name, this.#historyView(artifact, version).root);
    const draft = version === artifact.newest ? (this.#source?.draft ?? null) : null;
    const key = `${artifact.id}|${version.number}|${draft ?? ""}`;
    const shown = this.#body.querySelector<HTMLElement>(":scope > [data-tab=preview]");
    if (shown && key === this.#previewed) return this.#place(name, shown.firstElementChild as HTMLElement);
    this.#previewed = key;
    this.#place(name, preview(artifact, version, draft));
  }

  // Each tab keeps its place, so that scrolling, selection and frames survive going back and forth.
  #place(name: string, content: HTMLElement): void {
    this.#body.querySelector(":scope > :not([data-tab])")?.remove();
    let holder = this.#body.querySelector<HTMLElement>(`:scope > [data-tab=${name}]`);
    if (!holder) {
      holder = h("div", { class: "panel-tab", "data-tab": name, ...this.#tabs.labels(name) });
      this.#body.append(holder);
    }
    if (holder.firstElementChild !== content) holder.replaceChildren(content);
    for (const each of this.#body.querySelectorAll<HTMLElement>(":scope > [data-tab]")) {
      each.hidden = each !== holder;
    }
  }

  #sourceView(artifact: Artifact, version: Version): SourceView {
    if (!this.#source) {
      this.#source = new SourceView(artifact, {
        saved: (next) => this.#take(next, next.newest),
        dirty: (dirty) => this.#tabs.mark("source", dirty ? words.unsaved() : ""),
      });
      this.#source.show(artifact, version);
    }
    return this.#source;
  }

  #historyView(artifact: Artifact, version: Version): HistoryView {
    this.#history ??= new HistoryView(artifact, version.number, {
      view: (number) => void this.#view(number),
      restore: (number) => void this.#restore(number),
    });
    return this.#history;
  }

  #onKey(event: KeyboardEvent): void {
    const saves = (event.ctrlKey || event.metaKey) && !event.shiftKey && !event.altKey;
    if (saves && event.key.toLowerCase() === "s") {
      event.preventDefault();
      void this.#source?.save();
    }
    if (event.key !== "Escape" || event.defaultPrevented) return;
    event.preventDefault();
    event.stopPropagation();
    this.#owner.close();
  }
}

function linkButton(label: string, onclick: () => void): HTMLButtonElement {
  return h("button", { type: "button", class: "link-button", onclick }, label);
}
