// The versions of an artifact: who made which and when, what differs, and the way back.
import agentsIcon from "../icons/agents.svg";
import backIcon from "../icons/back.svg";
import compareIcon from "../icons/compare.svg";
import downloadIcon from "../icons/download.svg";
import restoreIcon from "../icons/restore.svg";
import {
  downloadAddress,
  readDifference,
  readVersions,
  type Artifact,
  type VersionItem,
} from "./artifact_api.ts";
import { differenceView } from "./artifact_difference.ts";
import { words } from "./artifact_words.ts";
import { drawing, h, iconButton } from "./dom.ts";
import { moment } from "./measures.ts";
import { toast } from "./toasts.ts";
import { initial } from "./turn_view.ts";

export interface HistoryOwner {
  readonly view: (number: number) => void;
  readonly restore: (number: number) => void;
}

export class HistoryView {
  readonly root = h("div", { class: "versions" });
  readonly #owner: HistoryOwner;
  readonly #list = h("ol", { class: "version-list", "aria-label": words.versionsList() });
  readonly #hint = h("p", { class: "versions-hint", role: "status" });
  readonly #more: HTMLButtonElement;
  readonly #difference = h("div", { class: "difference-holder", hidden: true, tabindex: "-1" });
  #artifact: Artifact;
  #shown: number;
  #items: VersionItem[] = [];
  #next: string | null = null;
  #compared: number | null = null;

  constructor(artifact: Artifact, shown: number, owner: HistoryOwner) {
    this.#artifact = artifact;
    this.#shown = shown;
    this.#owner = owner;
    this.#more = h(
      "button",
      { type: "button", class: "button", hidden: true, onclick: () => void this.#load(this.#next) },
      words.earlier(),
    );
    this.root.append(this.#hint, this.#list, this.#more, this.#difference);
    void this.#load(null);
  }

  /** Another version is the newest, or another one is shown. */
  update(artifact: Artifact, shown: number): void {
    const grew = artifact.newest.number !== this.#artifact.newest.number;
    this.#artifact = artifact;
    this.#shown = shown;
    if (grew) void this.#load(null);
    else this.#draw();
  }

  async #load(cursor: string | null): Promise<void> {
    const reply = await readVersions(this.#artifact.id, cursor);
    if (!reply.ok) {
      this.#hint.textContent = reply.message || words.failed();
      return;
    }
    this.#items = cursor === null ? [...reply.body.items] : [...this.#items, ...reply.body.items];
    this.#next = reply.body.next;
    this.#draw();
  }

  #draw(): void {
    this.#more.hidden = this.#next === null;
    this.#hint.textContent = this.#compared === null ? "" : words.compareWith(this.#compared);
    const focused = this.#list.querySelector<HTMLElement>(":focus")?.dataset.act;
    this.#list.replaceChildren(...this.#items.map((item) => this.#row(item)));
    if (focused) this.#list.querySelector<HTMLElement>(`[data-act="${focused}"]`)?.focus();
  }

  #row(item: VersionItem): HTMLElement {
    const { number } = item;
    const newest = number === this.#artifact.newest.number;
    const compare = this.#act("compare", number, compareIcon, words.compareVersion(number), () =>
      this.#pick(number),
    );
    compare.setAttribute("aria-pressed", String(this.#compared === number));
    const mayRestore = this.#artifact.mayEdit && !newest && this.#artifact.kind !== "renderable";
    const restore = this.#act("restore", number, restoreIcon, words.restoreVersion(number), () =>
      this.#owner.restore(number),
    );
    return h(
      "li",
      { "data-shown": number === this.#shown },
      h(
        "button",
        {
          type: "button",
          class: "version-view",
          "data-act": `view-${number}`,
          "aria-label": words.viewVersion(number),
          "aria-current": number === this.#shown ? "true" : null,
          onclick: () => this.#owner.view(number),
        },
        authorMark(item),
        h(
          "span",
          { class: "who" },
          h(
            "strong",
            {},
            words.version(number),
            newest && h("span", { class: "tag" }, words.current()),
          ),
          h("span", {}, item.author.name, " · ", time(item.createdAt)),
        ),
      ),
      this.#items.length > 1 && compare,
      mayRestore && restore,
      h(
        "a",
        {
          class: "icon-button",
          href: downloadAddress(this.#artifact.id, number),
          download: true,
          "aria-label": words.downloadVersion(number),
          title: words.downloadVersion(number),
        },
        drawing(downloadIcon),
      ),
    );
  }

  #act(name: string, number: number, icon: string, label: string, run: () => void): HTMLButtonElement {
    const button = iconButton(icon, label, run);
    button.dataset.act = `${name}-${number}`;
    return button;
  }

  #pick(number: number): void {
    const first = this.#compared;
    this.#compared = first === null ? number : null;
    if (first !== null && first !== number) {
      void this.#compare(Math.min(first, number), Math.max(first, number));
    }
    this.#draw();
  }

  async #compare(before: number, after: number): Promise<void> {
    const reply = await readDifference(this.#artifact.id, before, after);
    if (!reply.ok) return toast(reply.message || words.failed());
    const back = h(
      "button",
      { type: "button", class: "button quiet", onclick: () => this.#leave(after) },
      drawing(backIcon),
      words.backToList(),
    );
    this.#difference.replaceChildren(
      h("div", { class: "difference-head" }, back, h("h3", {}, words.comparing(before, after))),
      differenceView(reply.body),
    );
    this.#showDifference(true);
    back.focus();
  }

  #leave(number: number): void {
    this.#showDifference(false);
    this.#list.querySelector<HTMLElement>(`[data-act="compare-${number}"]`)?.focus();
  }

  #showDifference(on: boolean): void {
    this.#difference.hidden = !on;
    this.#list.hidden = on;
    this.#hint.hidden = on;
    this.#more.hidden = on || this.#next === null;
  }
}

function authorMark({ author }: VersionItem): HTMLElement {
  const mark = author.isAgent ? drawing(agentsIcon) : initial(author.name);
  return h("span", { class: author.isAgent ? "agent-mark" : "avatar", "aria-hidden": "true" }, mark);
}

function time(at: string): HTMLElement {
  return h("time", { datetime: at }, moment(at));
}
