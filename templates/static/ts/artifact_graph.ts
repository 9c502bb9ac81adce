// A graph as a value, and where its nodes stand. Pure; the same graph is always drawn the same.
import {
  forceCollide,
  forceLink,
  forceManyBody,
  forceSimulation,
  forceX,
  forceY,
  type SimulationNodeDatum,
} from "d3-force";

export interface GraphSource {
  readonly id: string;
  readonly title?: string;
  readonly source?: string;
  readonly excerpt?: string;
  readonly target_path?: string;
}

export interface GraphNode {
  readonly id: string;
  readonly label: string;
  readonly type: string;
  readonly source_ids?: readonly string[];
}

export interface GraphEdge {
  readonly id: string;
  readonly source: string;
  readonly target: string;
  readonly label: string;
  readonly type?: string;
  readonly source_ids?: readonly string[];
}

export interface Graph {
  readonly title?: string;
  readonly status?: string;
  readonly scope?: string;
  readonly nodes: readonly GraphNode[];
  readonly edges: readonly GraphEdge[];
  readonly sources: readonly GraphSource[];
}

export interface Point {
  readonly x: number;
  readonly y: number;
}

interface Body extends SimulationNodeDatum {
  readonly id: string;
  readonly room: number;
}

const CHARACTER_PX = 3.4; // half of a character's width: labels keep out of one another's way
const LEAST_ROOM_PX = 26;
const MOST_ROOM_PX = 64;
// Steps of the layout, fewer for large graphs: none takes longer than about half a second.
const STEPS: readonly (readonly [number, number])[] = [
  [300, 300],
  [800, 120],
  [Number.POSITIVE_INFINITY, 50],
];

/** The graph in a text; null for a text that is none, or one that is still being written. */
export function parseGraph(text: string): Graph | null {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return null;
  }
  const fields = (value ?? {}) as Partial<Graph>;
  if (!Array.isArray(fields.nodes) || !Array.isArray(fields.edges)) return null;
  const ids = new Set(fields.nodes.map((node: GraphNode) => node.id));
  const whole = fields.edges.every((edge: GraphEdge) => ids.has(edge.source) && ids.has(edge.target));
  const sources = Array.isArray(fields.sources) ? fields.sources : [];
  return whole ? ({ ...fields, sources } as Graph) : null;
}

/** A place for every node, around the origin. */
export function layout(graph: Graph): Map<string, Point> {
  const bodies: Body[] = graph.nodes.map((node) => ({
    id: node.id,
    room: Math.min(MOST_ROOM_PX, LEAST_ROOM_PX + node.label.length * CHARACTER_PX * 0.6),
  }));
  const links = graph.edges
    .filter((edge) => edge.source !== edge.target)
    .map((edge) => ({ source: edge.source, target: edge.target }));
  const simulation = forceSimulation(bodies)
    .force("link", forceLink<Body, (typeof links)[number]>(links).id((body) => body.id).distance(130))
    .force("charge", forceManyBody().strength(-420).distanceMax(900))
    .force("room", forceCollide<Body>((body) => body.room))
    .force("x", forceX(0).strength(0.05))
    .force("y", forceY(0).strength(0.07))
    .stop();
  const steps = STEPS.find(([most]) => bodies.length <= most)?.[1] ?? 50;
  simulation.alphaDecay(1 - 0.001 ** (1 / steps)).tick(steps);
  return new Map(bodies.map((body) => [body.id, { x: body.x ?? 0, y: body.y ?? 0 }]));
}

/** The nearest node in a direction, as an arrow key asks for it; null where there is none. */
export function neighbour(
  places: ReadonlyMap<string, Point>,
  from: string,
  direction: Point,
): string | null {
  const start = places.get(from);
  if (!start) return null;
  let best: string | null = null;
  let least = Number.POSITIVE_INFINITY;
  for (const [id, place] of places) {
    const along = (place.x - start.x) * direction.x + (place.y - start.y) * direction.y;
    const aside = Math.abs((place.x - start.x) * direction.y - (place.y - start.y) * direction.x);
    if (id === from || along <= 0 || aside > 2 * along) continue;
    const cost = along + 2 * aside;
    if (cost < least) [best, least] = [id, cost];
  }
  return best;
}

/** Types in order of how often they occur. */
export function typesOf(graph: Graph): string[] {
  const counts = new Map<string, number>();
  for (const node of graph.nodes) counts.set(node.type, (counts.get(node.type) ?? 0) + 1);
  return [...counts].sort((a, b) => b[1] - a[1]).map(([type]) => type);
}
