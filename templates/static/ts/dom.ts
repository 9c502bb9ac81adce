// Building elements without markup strings.

type Child = Node | string | null | false;
type Attributes = Readonly<Record<string, string | boolean | null | (() => void)>>;

/** An element with attributes (`onclick` takes a function; false and null leave one out). */
export function h<Name extends keyof HTMLElementTagNameMap>(
  name: Name,
  attributes: Attributes = {},
  ...children: Child[]
): HTMLElementTagNameMap[Name] {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (value === null || value === false) continue;
    if (typeof value === "function") element.addEventListener(key.slice(2), value);
    else element.setAttribute(key, value === true ? "" : value);
  }
  for (const child of children) if (child !== null && child !== false) element.append(child);
  return element;
}

const parsed = new Map<string, Element>();

/** A drawing from one of our own SVG files (bundled as text). */
export function drawing(source: string): Element {
  let known = parsed.get(source);
  if (!known) {
    const svg = source.replace("<svg ", '<svg xmlns="http://www.w3.org/2000/svg" ');
    known = document.importNode(
      new DOMParser().parseFromString(svg, "image/svg+xml").documentElement,
      true,
    );
    parsed.set(source, known);
  }
  return known.cloneNode(true) as Element;
}

export function iconButton(source: string, label: string, onclick: () => void): HTMLButtonElement {
  return h(
    "button",
    { type: "button", class: "icon-button", "aria-label": label, title: label, onclick },
    drawing(source),
  );
}

/** The element with this id; a page without it is a fault of ours. */
export function find<Kind extends Element = HTMLElement>(id: string): Kind {
  const element = document.getElementById(id);
  if (!element) throw new Error(`no element #${id}`);
  return element as unknown as Kind;
}

/** The value of a JSON script element that the server put into the page. */
export function embedded<Value>(id: string): Value {
  return JSON.parse(find(id).textContent ?? "null") as Value;
}
