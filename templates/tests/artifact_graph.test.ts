import assert from "node:assert/strict";
import { test } from "node:test";
import { layout, neighbour, parseGraph, typesOf } from "../static/ts/artifact_graph.ts";

const GRAPH = JSON.stringify({
  schema_version: 1,
  nodes: [
    { id: "a", label: "Ferry", type: "ship" },
    { id: "b", label: "Harbour", type: "place" },
    { id: "c", label: "Island", type: "place" },
  ],
  edges: [
    { id: "1", source: "a", target: "b", label: "leaves" },
    { id: "2", source: "a", target: "a", label: "repeats" },
  ],
});

test("a graph is laid out the same way every time, no two nodes in one place", () => {
  const graph = parseGraph(GRAPH);
  assert.ok(graph);
  const places = layout(graph);
  assert.deepEqual([...layout(graph)], [...places]);
  const points = [...places.values()];
  assert.equal(points.length, 3);
  for (const [at, one] of points.entries()) {
    for (const other of points.slice(at + 1)) {
      assert.ok(Math.hypot(one.x - other.x, one.y - other.y) > 40);
    }
  }
});

test("arrow keys find the node that lies that way", () => {
  const places = new Map([
    ["m", { x: 0, y: 0 }],
    ["right", { x: 50, y: 5 }],
    ["far", { x: 90, y: 0 }],
    ["up", { x: 0, y: -40 }],
  ]);
  assert.equal(neighbour(places, "m", { x: 1, y: 0 }), "right");
  assert.equal(neighbour(places, "m", { x: 0, y: -1 }), "up");
  assert.equal(neighbour(places, "m", { x: 0, y: 1 }), null);
});

test("half a graph and a graph with loose ends are not drawn", () => {
  assert.equal(parseGraph(GRAPH.slice(0, 60)), null);
  assert.equal(parseGraph("[]"), null);
  assert.equal(parseGraph("null"), null);
  assert.equal(parseGraph(GRAPH.replace('"target":"b"', '"target":"gone"')), null);
});

test("types come in order of how many nodes have them", () => {
  const graph = parseGraph(GRAPH);
  assert.deepEqual(graph && typesOf(graph), ["place", "ship"]);
});

test("two thousand nodes are laid out", () => {
  const nodes = Array.from({ length: 2_000 }, (_, at) => ({ id: `${at}`, label: "x", type: "t" }));
  const edges = nodes.slice(1).map((node, at) => ({ id: node.id, source: node.id, target: `${at >> 1}`, label: "" }));
  assert.equal(layout({ nodes, edges, sources: [] }).size, 2_000);
});
