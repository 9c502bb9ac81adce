// What is known of one node: its type, what it is connected to, and the sources it rests on.
import type { Graph, GraphEdge, GraphNode, GraphSource } from "./artifact_graph.ts";
import { words } from "./artifact_words.ts";
import { h } from "./dom.ts";

/** `go` chooses another node. */
export function nodeFacts(graph: Graph, node: GraphNode, go: (id: string) => void): HTMLElement {
  const outgoing = graph.edges.filter((edge) => edge.source === node.id);
  const incoming = graph.edges.filter((edge) => edge.target === node.id && edge.source !== node.id);
  const named = new Set([node, ...outgoing, ...incoming].flatMap((each) => each.source_ids ?? []));
  const sources = graph.sources.filter((source) => named.has(source.id));
  const name = new Map(graph.nodes.map((each) => [each.id, each.label]));
  const line = (edge: GraphEdge, other: string) =>
    h(
      "li",
      {},
      h("span", { dir: "auto" }, edge.label),
      h(
        "button",
        { type: "button", class: "link-button", dir: "auto", onclick: () => go(other) },
        name.get(other) ?? other,
      ),
    );
  return h(
    "section",
    { "aria-label": words.facts() },
    h("h3", { dir: "auto" }, node.label),
    h("p", { class: "fact-line" }, h("span", { class: "tag", dir: "auto" }, node.type), h("code", {}, node.id)),
    ...list(words.outgoing(), outgoing.map((edge) => line(edge, edge.target))),
    ...list(words.incoming(), incoming.map((edge) => line(edge, edge.source))),
    ...list(words.sources(), sources.map(sourceItem)),
  );
}

function list(title: string, items: readonly HTMLElement[]): HTMLElement[] {
  if (items.length === 0) return [];
  return [h("h4", {}, title), h("ul", { class: "fact-list" }, ...items)];
}

// Where a source lies is told as text: nothing of it is an address to follow.
function sourceItem(source: GraphSource): HTMLElement {
  const place = [source.source, source.target_path].filter(Boolean).join(" · ");
  return h(
    "li",
    { class: "fact-source" },
    h("strong", { dir: "auto" }, source.title ?? source.id),
    place !== "" && h("span", { dir: "auto" }, place),
    source.excerpt !== undefined && h("blockquote", { dir: "auto" }, source.excerpt),
  );
}
