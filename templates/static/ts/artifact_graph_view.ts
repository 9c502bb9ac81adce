// A graph to look around in: moved, zoomed and walked by mouse, touch and keyboard. Facts and
// sources of the chosen node stand beside it; the same is there as tables.
import fitIcon from "../icons/fit.svg";
import graphIcon from "../icons/graph.svg";
import minusIcon from "../icons/minus.svg";
import plusIcon from "../icons/plus.svg";
import tableIcon from "../icons/table.svg";
import { layout, neighbour, typesOf, type Graph, type GraphNode, type Point } from "./artifact_graph.ts";
import { nodeFacts } from "./artifact_graph_facts.ts";
import { TableView } from "./artifact_table.ts";
import { words } from "./artifact_words.ts";
import { drawing, h, iconButton } from "./dom.ts";

const TONES = 6;
const RADIUS = 8;
const MOST_RADIUS = 18;
const ROOMY_NODES = 60; // up to here every label is shown at every size
const MARGIN_PX = 48;
const MOST_GROWTH = 1.7;
const LOOP_PX = 50; // how far a connection of a node to itself rises
const LABEL_PX = 16; // below the lowest node
const STEP = 1.25;
const SCALES = { least: 0.08, most: 4, fitted: 1.4 } as const;
const PAN_PX = 60;
const LABEL_CHARACTERS = 30;
const DIRECTIONS: Readonly<Record<string, Point>> = {
  ArrowRight: { x: 1, y: 0 },
  ArrowLeft: { x: -1, y: 0 },
  ArrowDown: { x: 0, y: 1 },
  ArrowUp: { x: 0, y: -1 },
};

export class GraphView {
  readonly root: HTMLElement;
  readonly #graph: Graph;
  readonly #label: string;
  readonly #places: ReadonlyMap<string, Point>;
  readonly #tones: ReadonlyMap<string, number>;
  readonly #degrees = new Map<string, number>();
  readonly #svg = s("svg", { class: "graph-drawing", role: "group" });
  readonly #space = s("g");
  readonly #stage = h("div", { class: "graph-stage" });
  readonly #facts = h("div", { class: "graph-facts", "aria-live": "polite" });
  readonly #nodes = new Map<string, SVGGElement>();
  readonly #edges: { readonly element: SVGGElement; readonly ends: readonly [string, string] }[] = [];
  readonly #pointers = new Map<number, Point>();
  #at = { x: 0, y: 0, scale: 1 };
  #moved = false;
  #touched = false;
  #chosen: string | null = null;

  constructor(graph: Graph, label: string) {
    this.#graph = graph;
    this.#label = label;
    this.#places = layout(graph);
    this.#tones = new Map(typesOf(graph).map((type, index) => [type, index % TONES]));
    for (const id of graph.edges.flatMap((edge) => [edge.source, edge.target])) {
      this.#degrees.set(id, (this.#degrees.get(id) ?? 0) + 1);
    }
    this.#svg.setAttribute("aria-label", words.graphLabel(graph.nodes.length, graph.edges.length));
    this.#svg.toggleAttribute("data-dense", graph.nodes.length > ROOMY_NODES);
    this.#svg.append(arrowhead(), this.#space);
    this.#drawEdges();
    this.#drawNodes();
    this.#stage.append(this.#svg, this.#zoomButtons());
    const drawn = h("div", { class: "graph-drawn" }, this.#stage, this.#facts);
    const tables = h("div", { class: "graph-tables", hidden: true });
    this.root = h("div", { class: "graph" }, this.#switch(drawn, tables), drawn, tables);
    this.#wire();
    this.#choose(null);
    new ResizeObserver(() => this.#touched || this.#fit()).observe(this.#stage);
  }

  #switch(drawn: HTMLElement, tables: HTMLElement): HTMLElement {
    const show = (asTables: boolean) => {
      if (asTables && tables.childElementCount === 0) tables.append(...this.#tables());
      drawn.hidden = asTables;
      tables.hidden = !asTables;
      asDrawing.setAttribute("aria-pressed", String(!asTables));
      asTable.setAttribute("aria-pressed", String(asTables));
    };
    const button = (icon: string, text: string, asTables: boolean) =>
      h(
        "button",
        { type: "button", "aria-pressed": String(!asTables), onclick: () => show(asTables) },
        drawing(icon),
        text,
      );
    const asDrawing = button(graphIcon, words.drawing(), false);
    const asTable = button(tableIcon, words.table(), true);
    const { status, scope } = this.#graph;
    return h(
      "div",
      { class: "graph-head" },
      h("div", { class: "switch" }, asDrawing, asTable),
      this.#legend(),
      h("p", { class: "graph-about", dir: "auto" }, [status, scope].filter(Boolean).join(" · ")),
    );
  }

  #legend(): HTMLElement {
    const types = [...this.#tones].slice(0, 2 * TONES);
    return h(
      "ul",
      { class: "graph-legend", "aria-hidden": "true" },
      ...types.map(([type, tone]) => h("li", { "data-tone": String(tone) }, type)),
    );
  }

  #zoomButtons(): HTMLElement {
    const middle = () => this.#middle();
    return h(
      "div",
      { class: "graph-zoom" },
      iconButton(plusIcon, words.zoomIn(), () => this.#zoom(STEP, middle())),
      iconButton(minusIcon, words.zoomOut(), () => this.#zoom(1 / STEP, middle())),
      iconButton(fitIcon, words.fit(), () => this.#fit()),
    );
  }

  #drawEdges(): void {
    const counts = new Map<string, number>();
    for (const edge of this.#graph.edges) {
      const [from, to] = [this.#place(edge.source), this.#place(edge.target)];
      const pair = [edge.source, edge.target].sort().join("\0");
      const nth = counts.get(pair) ?? 0;
      counts.set(pair, nth + 1);
      const turned = edge.source > edge.target;
      const along = this.#edges.length % 2 === 0 ? 0.44 : 0.56;
      const { path, middle } = curve(from, to, this.#radius(edge.target), { nth, turned, along });
      const element = s("g", { class: "graph-edge" });
      const line = s("path", { d: path, "marker-end": "url(#graph-arrow)" });
      const text = s("text", { x: String(middle.x), y: String(middle.y), "text-anchor": "middle" });
      text.textContent = short(edge.label);
      element.append(line, text);
      this.#space.append(element);
      this.#edges.push({ element, ends: [edge.source, edge.target] });
    }
    if (this.#edges.length > ROOMY_NODES) this.#svg.toggleAttribute("data-many-edges", true);
  }

  #drawNodes(): void {
    this.#graph.nodes.forEach((node, index) => {
      const place = this.#place(node.id);
      const radius = this.#radius(node.id);
      const element = s("g", {
        class: "graph-node",
        role: "button",
        tabindex: index === 0 ? "0" : "-1",
        "aria-pressed": "false",
        "aria-label": words.selectFor(node.label, node.type),
        "data-tone": String(this.#tones.get(node.type) ?? 0),
        transform: `translate(${place.x} ${place.y})`,
      });
      const text = s("text", { y: String(radius + 15), "text-anchor": "middle" });
      text.textContent = short(node.label);
      element.append(
        s("circle", { class: "graph-halo", r: String(radius + 5) }),
        s("circle", { r: String(radius) }),
        text,
      );
      element.addEventListener("focus", () => this.#reveal(node.id));
      element.addEventListener("click", () => this.#moved || this.#choose(node.id));
      this.#space.append(element);
      this.#nodes.set(node.id, element);
    });
  }

  #wire(): void {
    this.#stage.addEventListener("keydown", (event) => this.#onKey(event));
    this.#stage.addEventListener(
      "wheel",
      (event) => {
        event.preventDefault();
        const factor = Math.exp(-event.deltaY * (event.ctrlKey ? 0.01 : 0.0015));
        this.#zoom(factor, this.#inside(event));
      },
      { passive: false },
    );
    this.#svg.addEventListener("pointerdown", (event) => {
      if (event.button !== 0) return;
      this.#moved = false;
      this.#pointers.set(event.pointerId, this.#inside(event));
    });
    this.#svg.addEventListener("pointermove", (event) => this.#onMove(event));
    for (const end of ["pointerup", "pointercancel"] as const) {
      this.#svg.addEventListener(end, (event) => this.#pointers.delete(event.pointerId));
    }
    this.#svg.addEventListener("click", (event) => {
      if (!this.#moved && !(event.target as Element).closest(".graph-node")) this.#choose(null);
    });
  }

  // One pointer moves the drawing, two of them zoom it around the point between them.
  #onMove(event: PointerEvent): void {
    const before = this.#pointers.get(event.pointerId);
    if (!before) return;
    const now = this.#inside(event);
    if (!this.#moved && Math.hypot(now.x - before.x, now.y - before.y) < 4) return;
    if (!this.#moved) this.#svg.setPointerCapture(event.pointerId);
    this.#moved = true;
    const other = [...this.#pointers].find(([id]) => id !== event.pointerId)?.[1];
    this.#pointers.set(event.pointerId, now);
    if (!other) return this.#pan(now.x - before.x, now.y - before.y);
    const apart = (point: Point) => Math.hypot(point.x - other.x, point.y - other.y) || 1;
    this.#zoom(apart(now) / apart(before), { x: (now.x + other.x) / 2, y: (now.y + other.y) / 2 });
  }

  #onKey(event: KeyboardEvent): void {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const direction = DIRECTIONS[event.key];
    const focused = [...this.#nodes].find(([, element]) => element === document.activeElement)?.[0];
    if (direction && event.shiftKey) this.#pan(-direction.x * PAN_PX, -direction.y * PAN_PX);
    else if (direction && focused !== undefined) {
      const next = neighbour(this.#places, focused, direction);
      if (next !== null) this.#focus(next);
    } else if ((event.key === "Enter" || event.key === " ") && focused !== undefined) this.#choose(focused);
    else if (event.key === "Escape" && this.#chosen !== null) this.#choose(null);
    else if (event.key === "+" || event.key === "=") this.#zoom(STEP, this.#middle());
    else if (event.key === "-") this.#zoom(1 / STEP, this.#middle());
    else if (event.key === "0") this.#fit();
    else return;
    event.preventDefault();
    event.stopPropagation();
  }

  #focus(id: string): void {
    for (const [each, element] of this.#nodes) element.setAttribute("tabindex", each === id ? "0" : "-1");
    this.#nodes.get(id)?.focus({ preventScroll: true });
  }

  #choose(id: string | null): void {
    this.#chosen = id;
    const near = new Set<string>(id === null ? [] : [id]);
    for (const { element, ends } of this.#edges) {
      const touches = id !== null && ends.includes(id);
      element.toggleAttribute("data-near", touches);
      if (touches) for (const end of ends) near.add(end);
    }
    this.#svg.toggleAttribute("data-chosen", id !== null);
    for (const [each, element] of this.#nodes) {
      element.setAttribute("aria-pressed", String(each === id));
      element.toggleAttribute("data-near", near.has(each));
    }
    const node = this.#graph.nodes.find((each) => each.id === id);
    this.#facts.replaceChildren(
      node
        ? nodeFacts(this.#graph, node, (next) => {
            this.#choose(next);
            this.#focus(next);
          })
        : h("p", { class: "empty" }, words.noFacts()),
    );
    this.#facts.toggleAttribute("data-empty", !node);
  }

  #tables(): HTMLElement[] {
    const { nodes, edges } = this.#graph;
    const name = new Map(nodes.map((node) => [node.id, node.label]));
    const column = (label: string) => ({ label, numeric: false });
    const nodeTable = {
      columns: [words.label(), words.kind(), words.id(), words.sources()].map(column),
      rows: nodes.map((node) => [node.label, node.type, node.id, this.#titles(node)]),
    };
    const edgeTable = {
      columns: [words.source(), words.label(), words.target(), words.kind()].map(column),
      rows: edges.map((edge) => [
        name.get(edge.source) ?? "",
        edge.label,
        name.get(edge.target) ?? "",
        edge.type ?? "",
      ]),
    };
    return [
      h("h3", {}, words.nodes()),
      new TableView(nodeTable, `${this.#label}: ${words.nodes()}`).root,
      h("h3", {}, words.connections()),
      new TableView(edgeTable, `${this.#label}: ${words.connections()}`).root,
    ];
  }

  #titles(node: GraphNode): string {
    const wanted = new Set(node.source_ids);
    const found = this.#graph.sources.filter((source) => wanted.has(source.id));
    return found.map((source) => source.title ?? source.id).join(", ");
  }

  #place(id: string): Point {
    return this.#places.get(id) ?? { x: 0, y: 0 };
  }

  #radius(id: string): number {
    return Math.min(MOST_RADIUS, RADIUS + Math.sqrt(this.#degrees.get(id) ?? 0) * 1.8);
  }

  #inside(event: MouseEvent): Point {
    const box = this.#svg.getBoundingClientRect();
    return { x: event.clientX - box.left, y: event.clientY - box.top };
  }

  #middle(): Point {
    return { x: this.#svg.clientWidth / 2, y: this.#svg.clientHeight / 2 };
  }

  #pan(x: number, y: number): void {
    this.#touched = true;
    this.#move({ ...this.#at, x: this.#at.x + x, y: this.#at.y + y });
  }

  #zoom(factor: number, around: Point): void {
    this.#touched = true;
    const scale = Math.min(SCALES.most, Math.max(SCALES.least, this.#at.scale * factor));
    const grown = scale / this.#at.scale;
    this.#move({
      scale,
      x: around.x - (around.x - this.#at.x) * grown,
      y: around.y - (around.y - this.#at.y) * grown,
    });
  }

  #fit(): void {
    const { clientWidth: width, clientHeight: height } = this.#svg;
    if (width === 0 || height === 0 || this.#places.size === 0) return;
    const loops = this.#graph.edges.filter((edge) => edge.source === edge.target);
    const above = loops.map((edge) => ({ ...this.#place(edge.source), y: this.#place(edge.source).y - LOOP_PX }));
    const points = [...this.#places.values(), ...above];
    const [xs, ys] = [points.map((point) => point.x), points.map((point) => point.y)];
    const [left, right] = [Math.min(...xs), Math.max(...xs)];
    const [top, bottom] = [Math.min(...ys), Math.max(...ys) + LABEL_PX];
    const scale = Math.min(
      SCALES.fitted,
      (width - 2 * MARGIN_PX) / Math.max(1, right - left),
      (height - 2 * MARGIN_PX) / Math.max(1, bottom - top),
    );
    const bounded = Math.max(SCALES.least, scale);
    this.#touched = false;
    this.#move({
      scale: bounded,
      x: width / 2 - ((left + right) / 2) * bounded,
      y: height / 2 - ((top + bottom) / 2) * bounded,
    });
  }

  // A node that gets the focus is brought into view.
  #reveal(id: string): void {
    const place = this.#place(id);
    const { x, y, scale } = this.#at;
    const [left, top] = [place.x * scale + x, place.y * scale + y];
    const { clientWidth: width, clientHeight: height } = this.#svg;
    const far = (at: number, size: number) => Math.min(0, at - MARGIN_PX) || Math.max(0, at - size + MARGIN_PX);
    const [right, down] = [far(left, width), far(top, height)];
    if (right !== 0 || down !== 0) this.#pan(-right, -down);
  }

  #move(at: { x: number; y: number; scale: number }): void {
    this.#at = at;
    this.#space.setAttribute("transform", `translate(${at.x} ${at.y}) scale(${at.scale})`);
    this.#svg.toggleAttribute("data-far", at.scale < 0.55);
    // Words shrink less than the drawing does, or a phone could not show any.
    this.#svg.style.setProperty("--grow", String(Math.min(MOST_GROWTH, Math.max(1, 1 / at.scale))));
  }
}

function arrowhead(): SVGElement {
  const marker = s("marker", {
    id: "graph-arrow",
    viewBox: "0 0 8 8",
    refX: "7",
    refY: "4",
    markerWidth: "7",
    markerHeight: "7",
    orient: "auto-start-reverse",
  });
  marker.append(s("path", { d: "M0 0.8 7 4 0 7.2z" }));
  const defs = s("defs");
  defs.append(marker);
  return defs;
}

// Connections between the same two nodes bend away from one another; one to itself is a loop.
function curve(
  from: Point,
  to: Point,
  radius: number,
  { nth, turned, along }: { nth: number; turned: boolean; along: number },
): { path: string; middle: Point } {
  if (from.x === to.x && from.y === to.y) {
    const size = radius + 26 + nth * 16;
    const path = `M${from.x - radius * 0.7} ${from.y - radius * 0.7} C${from.x - size} ${from.y - 1.6 * size} ${from.x + size} ${from.y - 1.6 * size} ${from.x + radius * 0.9} ${from.y - radius * 0.9}`;
    return { path, middle: { x: from.x, y: from.y - 1.25 * size } };
  }
  const [dx, dy] = [to.x - from.x, to.y - from.y];
  const length = Math.hypot(dx, dy);
  const side = Math.ceil(nth / 2) * (nth % 2 === 0 ? 1 : -1) * (turned ? -1 : 1);
  const bend = { x: (-dy / length) * side * 34, y: (dx / length) * side * 34 };
  const control = { x: (from.x + to.x) / 2 + bend.x * 2, y: (from.y + to.y) / 2 + bend.y * 2 };
  const away = Math.hypot(to.x - control.x, to.y - control.y) || 1;
  const tip = {
    x: to.x - ((to.x - control.x) / away) * (radius + 3),
    y: to.y - ((to.y - control.y) / away) * (radius + 3),
  };
  return {
    path: `M${from.x} ${from.y} Q${control.x} ${control.y} ${tip.x} ${tip.y}`,
    // Words of crossing lines meet less often where they do not all stand in the middle.
    middle: { x: from.x + dx * along + bend.x, y: from.y + dy * along + bend.y + 4 },
  };
}

function short(text: string): string {
  const characters = [...text];
  if (characters.length <= LABEL_CHARACTERS) return text;
  return `${characters.slice(0, LABEL_CHARACTERS - 1).join("")}…`;
}

function s<Name extends keyof SVGElementTagNameMap>(
  name: Name,
  attributes: Readonly<Record<string, string>> = {},
): SVGElementTagNameMap[Name] {
  const element = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  return element;
}
