// Draws a Markdown text that may still grow. Finished blocks are drawn once; of the last one only
// what changed is drawn again.
import { h } from "./dom.ts";
import { Growing, type Drawn } from "./growing.ts";
import { clean, dress, finish } from "./prose_parts.ts";

interface Place {
  readonly holder: HTMLElement;
  version: number;
  shell: string;
  parts: string[];
  finished: boolean;
}

/** A whole Markdown text as an element: answers, canvases and artifacts are all drawn so. */
export function prose(text: string): HTMLElement {
  const view = new ProseView();
  view.update(text, true);
  return view.root;
}

export class ProseView {
  readonly root = h("div", { class: "prose" });
  readonly #text = new Growing();
  readonly #places: Place[] = [];

  /** Characters read so far, for measuring. */
  get parsed(): number {
    return this.#text.parsed;
  }

  /** Shows `text`; once `settled`, the last block is finished too. */
  update(text: string, settled: boolean): void {
    const source = text.includes("\r") ? text.replace(/\r\n?/g, "\n") : text;
    const added = settled ? null : this.#text.addition(source);
    if (added !== null && this.#append(added)) return this.#text.accept(source);
    const from = this.#text.update(source, settled);
    if (from >= 0) this.#draw(from);
  }

  /** Puts words behind the last text on the page; false if there is none. */
  #append(words: string): boolean {
    const holder = this.#places.at(-1)?.holder;
    const code = this.#text.inCode ? holder?.querySelector(":scope > .code-block code") : null;
    if (code && !code.firstChild) code.append("");
    const text = code ? code.lastChild : holder && lastText(holder);
    if (!(text instanceof Text)) return false;
    text.appendData(words);
    return true;
  }

  #draw(from: number): void {
    const { blocks, done } = this.#text;
    for (const place of this.#places.splice(blocks.length)) place.holder.remove();
    for (let index = from; index < blocks.length; index += 1) {
      const block = blocks[index] as Drawn;
      const place = (this.#places[index] ??= this.#place());
      if (place.version !== block.version) drawBlock(place, block);
      if (index < done && !place.finished) {
        place.finished = true;
        finish(place.holder);
      }
    }
  }

  #place(): Place {
    const holder = this.root.appendChild(h("div", { class: "block" }));
    return { holder, version: 0, shell: "", parts: [], finished: false };
  }
}

function drawBlock(place: Place, block: Drawn): void {
  place.version = block.version;
  place.finished = false;
  if (block.kind === "block") {
    const html = block.parts[0] ?? "";
    if (place.shell !== "" || place.parts[0] !== html) show(place.holder, html);
  } else {
    const into = shellOf(place, block);
    for (let index = from(place, block); index < block.parts.length; index += 1) {
      const html = block.parts[index] as string;
      if (place.parts[index] === html) continue;
      const part = partOf(html);
      if (index < place.parts.length) into.children[index]?.replaceWith(part);
      else into.append(part);
    }
    for (let extra = place.parts.length - block.parts.length; extra > 0; extra -= 1) {
      into.lastElementChild?.remove();
    }
  }
  place.shell = block.shell;
  const start = from(place, block);
  place.parts.splice(start, Infinity, ...block.parts.slice(start));
}

/** The first part that has to be looked at: all of them in a shell that is new. */
function from(place: Place, block: Drawn): number {
  return Math.min(block.from, place.parts.length);
}

/** The list or table body that the parts of the block belong into. */
function shellOf(place: Place, block: Drawn): Element {
  if (place.shell !== block.shell || !place.holder.firstElementChild) {
    const fragment = clean(block.shell);
    dress(fragment);
    place.holder.replaceChildren(fragment);
    place.parts = [];
  }
  if (block.kind === "list") return place.holder.firstElementChild as Element;
  const table = place.holder.querySelector("table") as HTMLTableElement;
  return table.tBodies[0] ?? table.createTBody();
}

function partOf(html: string): Element {
  const fragment = clean(html);
  const part = fragment.querySelector("li, tr") as Element;
  const own = document.createDocumentFragment();
  own.append(part);
  dress(own);
  return part;
}

function show(holder: HTMLElement, html: string): void {
  const fragment = clean(html);
  const code = fragment.firstElementChild?.querySelector(":scope > code");
  const shownCode = holder.querySelector<HTMLElement>(":scope > .code-block code");
  if (fragment.children.length === 1 && code && shownCode?.className === code.className) {
    shownCode.textContent = code.textContent; // keeps scrolling, wrapping and selection
    return;
  }
  dress(fragment);
  holder.replaceChildren(fragment);
}

function lastText(holder: HTMLElement): Node | null {
  const texts = document.createTreeWalker(holder, NodeFilter.SHOW_TEXT);
  let node: Node | null = holder;
  while (node?.lastChild) node = node.lastChild;
  if (!node || node === holder) return null;
  texts.currentNode = node;
  for (let at: Node | null = node; at; at = texts.previousNode()) {
    if (at instanceof Text && at.data.trim() !== "") return at;
  }
  return null;
}
