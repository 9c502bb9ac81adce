// Where the panel stands beside a chat: its width, its place in the browser's history, and the way
// back. The panel itself is loaded when the first artifact is opened.
import type { Building } from "./artifact_drafts.ts";
import type { ArtifactPanel } from "./artifact_panel.ts";
import { words } from "./artifact_words.ts";
import { h } from "./dom.ts";
import { textOf, type FrameData } from "./frames.ts";
import { toast } from "./toasts.ts";

const WIDTH_KEY = "kaizen:panel-width";
const STEP_PX = 24;
const LEAST_PX = 320;
const CHAT_PX = 352; // what the chat keeps
const SHEET = matchMedia("(max-width: 60rem)");
const ADDRESS = /^#artifact=([0-9a-f-]{36})$/;

export interface DockOwner {
  /** What is being written under this call; null once it is over. */
  readonly building: (callId: string) => Building | null;
  readonly focusComposer: () => void;
}

export class ArtifactDock {
  readonly #owner: DockOwner;
  readonly #root = h("aside", { class: "dock", id: "artifact-dock", "aria-label": words.panel(), hidden: true });
  readonly #edge = h("div", {
    class: "dock-edge",
    role: "separator",
    tabindex: "0",
    "aria-orientation": "vertical",
    "aria-label": words.panelWidth(),
    "aria-controls": "artifact-dock",
  });
  #panel: ArtifactPanel | null = null;
  #opener: Element | null = null;
  #watched: string | null = null;
  #scheduled = false;

  constructor(owner: DockOwner) {
    this.#owner = owner;
    this.#root.append(this.#edge);
    document.querySelector(".app > .main")?.after(this.#root);
    this.#wireEdge();
    addEventListener("beforeunload", (event) => {
      if (this.#panel?.isDirty) event.preventDefault();
    });
    document.addEventListener("keydown", (event) => {
      const idle = event.target === document.body && !event.defaultPrevented;
      if (event.key === "Escape" && idle && !this.#root.hidden) void this.close();
    });
    SHEET.addEventListener("change", () => this.#shape());
    void this.travel();
  }

  /** Opens an artifact; the address of the page then names it. */
  async open(id: string): Promise<void> {
    this.#opener ??= document.activeElement;
    const panel = await this.#load();
    if (!panel || (panel.artifact !== id && !(await panel.mayLeave()))) return;
    this.#watched = null;
    this.#remember(`#artifact=${id}`);
    await this.#show(panel, id);
  }

  /** Shows what is being written under a call, and what becomes of it. */
  async watch(callId: string): Promise<void> {
    this.#opener ??= document.activeElement;
    const panel = await this.#load();
    const building = this.#owner.building(callId);
    if (!panel || building === null || !(await panel.mayLeave())) return;
    this.#watched = callId;
    this.#remember("");
    this.#reveal();
    panel.watch(building);
    panel.focus();
  }

  /** The conversation moved on; redraws what is being written. */
  schedule(): void {
    if (this.#watched === null || this.#scheduled) return;
    this.#scheduled = true;
    requestAnimationFrame(() => {
      this.#scheduled = false;
      const building = this.#watched === null ? null : this.#owner.building(this.#watched);
      if (building) this.#panel?.watch(building);
    });
  }

  /** A version was kept: the one that was watched is opened, an open one read again. */
  kept(data: FrameData): void {
    const id = textOf(data, "artifact_id");
    if (this.#root.hidden || id === "") return;
    const watched = this.#watched === null ? null : this.#owner.building(this.#watched);
    if (this.#watched !== null && watched === null) {
      this.#watched = null;
      history.replaceState({ panel: true }, "", `#artifact=${id}`);
      void this.#panel?.open(id);
    } else if (this.#panel?.artifact === id) void this.#panel.refresh();
  }

  /** The turn ended; nothing more comes of what is still watched. */
  ended(): void {
    if (this.#watched === null || this.#owner.building(this.#watched) !== null) return;
    this.#watched = null;
    this.#panel?.abandon();
  }

  /** Goes where the page's address says: after going back or forward, and at the start. */
  async travel(): Promise<void> {
    const id = ADDRESS.exec(location.hash)?.[1];
    const panel = id === undefined ? null : await this.#load();
    if (panel && id !== undefined) return this.#show(panel, id);
    if (this.#root.hidden) return;
    if (await this.#panel?.mayLeave()) return this.#hide();
    const open = this.#panel?.artifact;
    history.pushState({ panel: true }, "", open ? `#artifact=${open}` : undefined);
  }

  /** Closes the panel unless the reader wants to keep unsaved changes. */
  async close(): Promise<void> {
    if (!(await this.#panel?.mayLeave())) return;
    const isOwn = (history.state as { panel?: boolean } | null)?.panel === true;
    this.#hide();
    if (isOwn) history.back();
    else history.replaceState(null, "", location.pathname + location.search);
  }

  // Null, and said so, where the server cannot be reached.
  async #load(): Promise<ArtifactPanel | null> {
    const loaded = await import("./artifact_panel.ts").catch(() => null);
    if (loaded === null) toast(words.failed());
    else this.#panel ??= new loaded.ArtifactPanel({ place: "chat", close: () => void this.close() });
    return this.#panel;
  }

  async #show(panel: ArtifactPanel, id: string): Promise<void> {
    const opening = panel.open(id);
    this.#reveal();
    await opening;
    if (this.#root.contains(document.activeElement) || document.activeElement === this.#opener || SHEET.matches) {
      panel.focus();
    }
  }

  #reveal(): void {
    if (this.#panel && !this.#panel.root.isConnected) this.#root.append(this.#panel.root);
    this.#root.hidden = false;
    document.body.dataset.panel = "open";
    this.#shape();
  }

  #hide(): void {
    const opener = this.#opener;
    const hadFocus = this.#root.contains(document.activeElement) || document.activeElement === document.body;
    this.#root.hidden = true;
    this.#panel?.root.remove();
    this.#panel = null;
    this.#watched = null;
    this.#opener = null;
    delete document.body.dataset.panel;
    this.#shape();
    if (!hadFocus) return;
    if (opener instanceof HTMLElement && opener.isConnected && opener !== document.body) opener.focus();
    else this.#owner.focusComposer();
  }

  // The first opening is a step of the history that going back undoes; further ones replace it.
  #remember(hash: string): void {
    const address = location.pathname + location.search + hash;
    if (this.#root.hidden) history.pushState({ panel: true }, "", address);
    else history.replaceState(history.state, "", address);
  }

  // A sheet covers everything: what lies below must not be reached then.
  #shape(): void {
    const covers = SHEET.matches && !this.#root.hidden;
    for (const part of document.querySelectorAll<HTMLElement>(".app > :is(.main, .sidebar, .skip)")) {
      part.inert = covers;
    }
    if (covers) {
      this.#root.setAttribute("role", "dialog");
      this.#root.setAttribute("aria-modal", "true");
    } else {
      this.#root.removeAttribute("role");
      this.#root.removeAttribute("aria-modal");
    }
    this.#setWidth(Number(localStorage.getItem(WIDTH_KEY)) || null, false);
  }

  #wireEdge(): void {
    this.#edge.addEventListener("pointerdown", (event) => {
      if (event.button !== 0) return;
      this.#edge.setPointerCapture(event.pointerId);
      this.#edge.toggleAttribute("data-dragged", true);
      document.body.dataset.resizing = "on";
    });
    this.#edge.addEventListener("pointermove", (event) => {
      if (!this.#edge.hasPointerCapture(event.pointerId)) return;
      const box = this.#root.getBoundingClientRect();
      this.#setWidth(this.#isRtl() ? event.clientX - box.left : box.right - event.clientX, true);
    });
    this.#edge.addEventListener("lostpointercapture", () => {
      this.#edge.removeAttribute("data-dragged");
      delete document.body.dataset.resizing;
    });
    this.#edge.addEventListener("dblclick", () => {
      localStorage.removeItem(WIDTH_KEY);
      this.#setWidth(null, false);
    });
    this.#edge.addEventListener("keydown", (event) => this.#resizeByKey(event));
    addEventListener("resize", () => this.#root.hidden || this.#shape());
  }

  #resizeByKey(event: KeyboardEvent): void {
    const wider = this.#isRtl() ? "ArrowRight" : "ArrowLeft";
    const step = (event.shiftKey ? 4 : 1) * STEP_PX;
    const { width } = this.#root.getBoundingClientRect();
    if (event.key === "ArrowLeft" || event.key === "ArrowRight") {
      this.#setWidth(width + (event.key === wider ? step : -step), true);
    } else if (event.key === "Home") this.#setWidth(this.#most(), true);
    else if (event.key === "End") this.#setWidth(LEAST_PX, true);
    else return;
    event.preventDefault();
  }

  #setWidth(wanted: number | null, keep: boolean): void {
    const most = this.#most();
    const usual = Math.round((most + CHAT_PX) * 0.52);
    const width = Math.round(Math.min(most, Math.max(LEAST_PX, wanted ?? usual)));
    document.body.style.setProperty("--dock", `${width}px`);
    this.#edge.setAttribute("aria-valuenow", String(width));
    this.#edge.setAttribute("aria-valuemin", String(LEAST_PX));
    this.#edge.setAttribute("aria-valuemax", String(most));
    if (keep) localStorage.setItem(WIDTH_KEY, String(width));
  }

  #most(): number {
    const sidebar = document.querySelector<HTMLElement>(".sidebar");
    const shown = document.body.dataset.sidebar === "open" ? (sidebar?.offsetWidth ?? 0) : 0;
    return Math.max(LEAST_PX, innerWidth - shown - CHAT_PX);
  }

  #isRtl(): boolean {
    return getComputedStyle(this.#root).direction === "rtl";
  }
}
