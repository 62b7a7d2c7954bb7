// What the atlas's numbers say: "not counted" is no step, no count, and no share of a sum.
import assert from "node:assert/strict";
import { test } from "node:test";
import {
  CORDONED, OK, UNHEALTHY, countSteps, factsOf, nodeOf, pairOf, stateOf, stepOf, sumOf,
} from "../../../dashboard/static/dashboard/js/figures.js";

/** Three nodes: two GPUs whose cores are counted, none at all, and two of a vendor that counts no cores. */
function seen(by) {
  const topology = {
    nodes: { name: ["big", "bare", "other"], first: [0, 2, 2], model: [0, null, 1], pool: [0, 0, 0] },
    gpus: { id: ["a", "b", "c", "d"], mem_mib: [1000, 1000, 500, 500], cores: [100, 100, 0, 0], shares: [10, 10, 4, 4] },
    models: ["A", "B"], pools: ["p"],
  };
  const fleet = {
    mem: [1000, 0, 250, 0], cores: [95, 0, 0, 0], shares: [3, 0, 1, 0],
    state: [OK, OK, OK, UNHEALTHY], nodes: [OK, CORDONED, OK],
  };
  return { topology, fleet, by };
}

test("a GPU whose measure nobody counts is on no step, not on that of an idle one", () => {
  assert.deepEqual([0, 1, 2, 3].map((gpu) => stepOf(seen("cores"), gpu)), [10, 0, null, null]);
  assert.deepEqual([0, 1, 2, 3].map((gpu) => stepOf(seen("memory"), gpu)), [10, 0, 5, 0]);
  assert.deepEqual(pairOf(seen("memory"), "cores", 2), [0, 0]);
});

test("the legend counts each GPU once, and those that nobody counts not at all", () => {
  assert.deepEqual(countSteps(seen("cores"), [0, 1, 2]), [1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1]);
  assert.deepEqual(countSteps(seen("shares"), [0, 1, 2]), [2, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0]);
  assert.deepEqual(countSteps(seen("memory"), [2]), [1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0]);
});

test("a sum has used, total and GPUs of its nodes; a total of nothing stays 0", () => {
  assert.deepEqual(sumOf(seen("memory"), "memory", [0, 2]), [1250, 3000, 4]);
  assert.deepEqual(sumOf(seen("memory"), "cores", new Set([2])), [0, 0, 2]);
  assert.deepEqual(sumOf(seen("memory"), "shares", []), [0, 0, 0]);
});

test("a node's own state comes before that of its GPUs", () => {
  const view = seen("memory");
  assert.deepEqual([0, 1, 2].map((node) => stateOf(view, node)), [OK, CORDONED, UNHEALTHY]);
  view.fleet.nodes[2] = CORDONED;
  assert.equal(stateOf(view, 2), CORDONED);
});

test("the facts of a node have a sum for each measure; a node without GPUs has none", () => {
  const sums = { memory: [250, 1000], cores: [0, 0], shares: [1, 8] };
  assert.deepEqual(factsOf(seen("cores"), 2), { name: "other", code: UNHEALTHY, model: "B", count: 2, sums });
  assert.deepEqual(factsOf(seen("cores"), 1), { name: "bare", code: CORDONED, model: "", count: 0, sums: {} });
});

test("a GPU is found in its node, past nodes that have none", () => {
  assert.deepEqual([0, 1, 2, 3].map((gpu) => nodeOf(seen("memory").topology, gpu)), [0, 0, 2, 2]);
});
