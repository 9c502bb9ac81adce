// An artifact while it is being written: what is there so far, followed to its end.
import { charactersOf } from "./artifact_card.ts";
import type { Building } from "./artifact_drafts.ts";
import { words } from "./artifact_words.ts";
import { h } from "./dom.ts";
import { count } from "./measures.ts";
import { ProseView } from "./prose_view.ts";

const NEAR_END_PX = 48;

export class BuildingView {
  readonly root = h("div", { class: "building-view", tabindex: "0", "aria-busy": "true" });
  readonly #prose = new ProseView();
  readonly #plain = h("pre", { class: "plain-text" });
  readonly #empty = h("p", { class: "empty" });
  #follows = true;

  constructor() {
    this.root.addEventListener("scroll", () => {
      const { scrollHeight, scrollTop, clientHeight } = this.root;
      this.#follows = scrollHeight - scrollTop - clientHeight < NEAR_END_PX;
    });
  }

  /** Draws what came since; stays at the end unless the reader has scrolled away from it. */
  update(building: Building): void {
    const { text } = building.draft;
    const isProse = building.kind === "markdown";
    if (isProse) this.#prose.update(text, false);
    else this.#plain.textContent = text;
    const length = charactersOf(building);
    this.#empty.textContent = length === 0 ? words.building() : words.characters(count(length));
    const part = text === "" ? this.#empty : isProse ? this.#prose.root : this.#plain;
    if (this.root.firstElementChild !== part) this.root.replaceChildren(part);
    this.followEnd();
  }

  /** Goes to the end again unless the reader looks at something above. */
  followEnd(): void {
    if (this.#follows) this.root.scrollTop = this.root.scrollHeight;
  }
}
