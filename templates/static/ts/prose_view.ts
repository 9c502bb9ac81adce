// Draws a growing Markdown text. Finished blocks are drawn once; only the last one is parsed
// again as text arrives.
import copyIcon from "../icons/copy.svg";
import externalIcon from "../icons/external.svg";
import wrapIcon from "../icons/wrap.svg";
import { copy } from "./clipboard.ts";
import { drawing, h, iconButton } from "./dom.ts";
import { blocks, sanitiser, type Definitions } from "./markdown.ts";
import { say } from "./strings.ts";

const clean = sanitiser(window);

export class ProseView {
  readonly root = h("div", { class: "prose" });
  #shown = "";
  #finishedEnd = 0;
  #definitions: Definitions = {};
  #live: HTMLElement | null = null;
  #liveHtml = "";

  /** Shows `text`; once `settled`, the last block is finished too. */
  update(text: string, settled: boolean): void {
    const source = text.includes("\r") ? text.replace(/\r\n?/g, "\n") : text;
    if (!source.startsWith(this.#shown.slice(0, this.#finishedEnd))) this.#restart();
    if (source !== this.#shown) {
      this.#shown = source;
      this.#draw(source);
    }
    if (settled && this.#live) {
      finish(this.#live);
      this.#live = null;
      this.#liveHtml = "";
      this.#finishedEnd = source.length;
    }
  }

  #restart(): void {
    this.root.replaceChildren();
    this.#finishedEnd = 0;
    this.#definitions = {};
    this.#live = null;
    this.#liveHtml = "";
  }

  #draw(source: string): void {
    const start = this.#finishedEnd;
    const found = blocks(source.slice(start), this.#definitions);
    for (const [index, block] of found.entries()) {
      this.#live ??= this.root.appendChild(h("div", { class: "block" }));
      if (block.html !== this.#liveHtml) show(this.#live, block.html);
      this.#liveHtml = block.html;
      if (index === found.length - 1) return;
      finish(this.#live);
      this.#live = null;
      this.#liveHtml = "";
      this.#finishedEnd = start + block.end;
    }
  }
}

function show(holder: HTMLElement, html: string): void {
  const fragment = clean(html);
  const code = fragment.firstElementChild?.querySelector(":scope > code");
  const shownCode = holder.querySelector<HTMLElement>(":scope > .code-block code");
  if (fragment.children.length === 1 && code && shownCode?.className === code.className) {
    shownCode.textContent = code.textContent; // keeps scrolling, wrapping and selection
    return;
  }
  for (const pre of fragment.querySelectorAll("pre")) frameCode(pre);
  for (const table of fragment.querySelectorAll("table")) {
    const frame = h("div", { class: "table-frame", tabindex: "0" });
    table.replaceWith(frame);
    frame.append(table);
  }
  for (const link of fragment.querySelectorAll("a[href]")) {
    link.append(
      drawing(externalIcon),
      h("span", { class: "visually-hidden" }, ` (${say.opensElsewhere()})`),
    );
  }
  holder.replaceChildren(fragment);
}

function frameCode(pre: HTMLElement): void {
  const language = languageOf(pre);
  const block = h("div", { class: "code-block" });
  const wrap = iconButton(wrapIcon, say.wrapLines(), () => {
    const on = block.toggleAttribute("data-wrap");
    wrap.setAttribute("aria-pressed", String(on));
  });
  wrap.setAttribute("aria-pressed", "false");
  const head = h(
    "div",
    { class: "code-head" },
    h("span", {}, language || say.plainText()),
    wrap,
    iconButton(copyIcon, say.copyCode(), () =>
      void copy(pre.textContent ?? "", say.codeCopied()),
    ),
  );
  pre.replaceWith(block);
  pre.tabIndex = 0;
  block.append(head, pre);
}

function finish(holder: HTMLElement): void {
  for (const code of holder.querySelectorAll<HTMLElement>(".code-block code")) {
    void colour(code, languageOf(code.parentElement as HTMLElement));
  }
}

function languageOf(pre: HTMLElement): string {
  const code = pre.querySelector("code");
  return /language-(\S+)/.exec(code?.className ?? "")?.[1]?.slice(0, 24) ?? "";
}

async function colour(code: HTMLElement, language: string): Promise<void> {
  const source = code.textContent ?? "";
  if (language === "" || source.length > 50_000) return;
  const { highlight } = await import("./highlight.ts");
  const html = highlight(source, language);
  if (html !== null && code.textContent === source) code.replaceChildren(clean(html));
}
