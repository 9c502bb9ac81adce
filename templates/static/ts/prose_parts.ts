// What people can do with the parts of a drawn text: copy and wrap code, scroll tables, see where
// links lead, open pictures from outside, read formulas and notes.
import copyIcon from "../icons/copy.svg";
import externalIcon from "../icons/external.svg";
import imageIcon from "../icons/image.svg";
import wrapIcon from "../icons/wrap.svg";
import { addressOf, spelled } from "./addresses.ts";
import { copy } from "./clipboard.ts";
import { drawing, h, iconButton } from "./dom.ts";
import { sanitiser } from "./markdown.ts";
import { say } from "./strings.ts";

/** Markup as elements that are safe to show. */
export const clean = sanitiser(window);

const COLOURED_CHARACTERS = 50_000;
type Setting = typeof import("./math.ts");
let setting: Setting | null = null;

/** Gives the elements of one block what belongs to them. */
export function dress(fragment: DocumentFragment): void {
  for (const pre of fragment.querySelectorAll("pre")) frameCode(pre);
  for (const table of fragment.querySelectorAll("table")) {
    const frame = h("div", { class: "table-frame", tabindex: "0" });
    table.replaceWith(frame);
    frame.append(table);
  }
  for (const link of fragment.querySelectorAll<HTMLAnchorElement>("a[href]")) {
    if (link.classList.contains("outside-image")) link.replaceWith(outsideImage(link));
    else markLink(link);
  }
  for (const image of fragment.querySelectorAll("img")) frameImage(image);
  for (const mark of fragment.querySelectorAll<HTMLElement>(".note-mark")) wireNote(mark);
  for (const item of fragment.querySelectorAll("li.task")) tick(item);
  const formulas = [...fragment.querySelectorAll<HTMLElement>(".math")];
  if (formulas.length > 0) void setFormulas(formulas);
}

/** Colours the code of what is finished. */
export function finish(holder: HTMLElement): void {
  for (const code of holder.querySelectorAll<HTMLElement>(".code-block code")) {
    void colour(code, languageOf(code.parentElement as HTMLElement));
  }
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

function languageOf(pre: HTMLElement): string {
  const code = pre.querySelector("code");
  return /language-(\S+)/.exec(code?.className ?? "")?.[1]?.slice(0, 24) ?? "";
}

async function colour(code: HTMLElement, language: string): Promise<void> {
  const source = code.textContent ?? "";
  if (language === "" || source.length > COLOURED_CHARACTERS) return;
  const { highlight } = await import("./highlight.ts");
  const html = highlight(source, language);
  if (html !== null && code.textContent === source) code.replaceChildren(clean(html));
}

function markLink(link: HTMLAnchorElement): void {
  const { host, deceives } = addressOf(link.href, link.textContent ?? "");
  link.title = spelled(link.href);
  if (deceives) {
    const texts = document.createTreeWalker(link, NodeFilter.SHOW_TEXT);
    for (let text = texts.nextNode(); text; text = texts.nextNode()) {
      text.nodeValue = spelled(text.nodeValue ?? "");
    }
    link.append(h("bdi", { class: "link-host" }, ` (${host})`));
  }
  link.append(elsewhere());
}

function elsewhere(): DocumentFragment {
  const sign = document.createDocumentFragment();
  sign.append(
    drawing(externalIcon),
    h("span", { class: "visually-hidden" }, ` (${say.opensElsewhere()})`),
  );
  return sign;
}

/** Stands for a picture on another machine, which would learn who reads this and when. */
function outsideImage(link: HTMLAnchorElement): HTMLElement {
  const { host } = addressOf(link.href, "");
  const words = spelled(link.textContent ?? "");
  const open = h(
    "a",
    { class: "button", href: link.href, target: "_blank", rel: link.rel, title: spelled(link.href) },
    say.openImage(),
    elsewhere(),
  );
  return h(
    "span",
    { class: "outside-image", role: "group", "aria-label": say.outsideImage(host) },
    drawing(imageIcon),
    h(
      "span",
      { class: "outside-image-words" },
      words !== "" && h("span", { dir: "auto" }, words),
      h("bdi", { class: "host" }, host),
    ),
    open,
  );
}

function frameImage(image: HTMLImageElement): void {
  image.loading = "lazy";
  image.decoding = "async";
}

function wireNote(mark: HTMLElement): void {
  const label = mark.textContent ?? "";
  const button = h("button", { type: "button", "aria-label": say.note(label) }, label);
  button.addEventListener("click", () => {
    const notes = mark.closest(".prose")?.querySelectorAll<HTMLElement>(".note-label") ?? [];
    const note = [...notes].find((each) => each.textContent === label)?.parentElement;
    if (!note) return;
    note.tabIndex = -1;
    note.focus({ preventScroll: true });
    note.scrollIntoView({ block: "nearest" });
  });
  mark.replaceChildren(button);
}

function tick(item: Element): void {
  const done = item.classList.contains("done");
  const box = h("span", {
    class: "task-box",
    role: "img",
    "aria-label": done ? say.taskDone() : say.taskOpen(),
  });
  (item.querySelector(":scope > p") ?? item).prepend(box);
}

async function setFormulas(formulas: readonly HTMLElement[]): Promise<void> {
  if (!setting) {
    const loaded = await import("./math.ts");
    await loaded.styled;
    setting = loaded;
  }
  for (const formula of formulas) {
    const tex = formula.textContent ?? "";
    const drawn = setting.set(tex, formula.classList.contains("display"));
    if (drawn) formula.replaceChildren(drawn);
    formula.dataset.state = drawn ? "set" : "plain";
  }
}
