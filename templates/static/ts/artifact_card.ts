// Artifacts in the thread: one that is being written, filling up, and one that was kept.
import codeIcon from "../icons/code.svg";
import documentIcon from "../icons/document.svg";
import downloadIcon from "../icons/download.svg";
import graphIcon from "../icons/graph.svg";
import tableIcon from "../icons/table.svg";
import type { Building } from "./artifact_drafts.ts";
import { words } from "./artifact_words.ts";
import { drawing, h } from "./dom.ts";
import { numberOf, textOf, type FrameData } from "./frames.ts";
import { count } from "./measures.ts";
import { say } from "./strings.ts";

export interface ArtifactActions {
  readonly openArtifact: (id: string) => void;
  readonly watch: (callId: string) => void;
}

const ICONS: Readonly<Record<string, string>> = {
  code: codeIcon,
  graph: graphIcon,
  renderable: tableIcon,
};
const KINDS: Readonly<Record<string, () => string>> = {
  markdown: words.document,
  code: words.code,
  graph: words.graph,
  renderable: words.dataView,
  text: words.text,
};
const TAIL_CHARACTERS = 600; // what the few visible lines can hold

export function kindIcon(kind: string): Element {
  return drawing(ICONS[kind] ?? documentIcon);
}

export function kindName(kind: string, language = ""): string {
  const name = KINDS[kind]?.() ?? words.artifact();
  return language === "" ? name : `${name} · ${language}`;
}

/** The characters that are there so far, by whichever way they came first. */
export function charactersOf(building: Building): number {
  return Math.max(building.characters, building.draft.points);
}

export class BuildingCard {
  readonly root: HTMLElement;
  readonly #title = h("strong", { dir: "auto" });
  readonly #progress = h("span");
  readonly #tail = h("div", { class: "building-tail", "aria-hidden": "true", dir: "auto" });

  constructor(building: Building, actions: ArtifactActions) {
    const watch = () => actions.watch(building.callId);
    this.root = h(
      "div",
      { class: "saved building" },
      h(
        "div",
        { class: "saved-line" },
        h("span", { class: "artifact-mark", "aria-hidden": "true" }, kindIcon(building.kind)),
        h("div", { class: "what" }, this.#title, this.#progress),
        h("button", { type: "button", class: "button", onclick: watch }, words.watch()),
      ),
      this.#tail,
    );
    this.update(building);
  }

  update(building: Building): void {
    const length = charactersOf(building);
    const size = length === 0 ? "" : ` · ${words.characters(count(length))}`;
    this.#title.textContent = building.title || words.artifact();
    this.#progress.textContent = `${kindName(building.kind)} · ${words.building()}${size}`;
    this.#tail.textContent = building.draft.text.slice(-TAIL_CHARACTERS);
    this.#tail.hidden = building.draft.text === "";
  }
}

export function savedCard(data: FrameData, actions: ArtifactActions): HTMLElement {
  const version = numberOf(data, "version");
  const kind = textOf(data, "kind");
  const id = textOf(data, "artifact_id") || textOf(data, "id");
  const title = textOf(data, "title") || textOf(data, "name");
  const saved = version === null ? say.savedPlain() : say.saved(version);
  return h(
    "div",
    { class: "saved", "data-artifact": id },
    h(
      "div",
      { class: "saved-line" },
      h("span", { class: "artifact-mark", "aria-hidden": "true" }, kindIcon(kind)),
      h("div", { class: "what" }, h("strong", { dir: "auto" }, title), h("span", {}, saved)),
      id !== "" &&
        h(
          "a",
          {
            class: "icon-button",
            href: `/api/artifacts/${encodeURIComponent(id)}/download`,
            download: true,
            "aria-label": `${say.download()}: ${title}`,
            title: say.download(),
          },
          drawing(downloadIcon),
        ),
      id !== "" &&
        h(
          "button",
          {
            type: "button",
            class: "button",
            "aria-label": `${words.open()}: ${title}`,
            onclick: () => actions.openArtifact(id),
          },
          words.open(),
        ),
    ),
  );
}
