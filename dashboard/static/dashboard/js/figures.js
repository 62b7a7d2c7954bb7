// What the fleet's numbers say of a GPU and of a node: plain arithmetic, like layout.js (console.md 8).
// A `view` is { topology, fleet, by }: the numbers, and which measure the picture shows.
import { step } from "./format.js";
import { gpusOf } from "./layout.js";

export const OK = 0, UNHEALTHY = 1, SILENT = 2, GONE = 3, UNREGISTERED = 4, CORDONED = 5;
const USED = { memory: "mem", cores: "cores", shares: "shares" };
const TOTAL = { memory: "mem_mib", cores: "cores", shares: "shares" };
const MEASURES = Object.keys(USED);
const STEPS = 11;

/** [used, total] of one GPU; a total of 0 is what nobody counts. */
export function pairOf({ topology, fleet }, by, gpu) {
  return [fleet[USED[by]][gpu], topology.gpus[TOTAL[by]][gpu]];
}

/** The step of the ramp, or null where nobody counts what the picture shows. */
export function stepOf(view, gpu) {
  const [used, of] = pairOf(view, view.by, gpu);
  return of ? step(used, of) : null;
}

/** How many GPUs of these nodes are on each step; those that nobody counts are on none. */
export function countSteps(view, nodes) {
  const counts = new Array(STEPS).fill(0);
  for (const node of nodes) {
    const [first, count] = gpusOf(view.topology, node);
    for (let gpu = first; gpu < first + count; gpu += 1) {
      const found = stepOf(view, gpu);
      if (found !== null) counts[found] += 1;
    }
  }
  return counts;
}

/** [used, total, GPUs] of all GPUs of these nodes. */
export function sumOf(view, by, nodes) {
  const sum = [0, 0, 0];
  for (const node of nodes) {
    const [first, count] = gpusOf(view.topology, node);
    sum[2] += count;
    for (let gpu = first; gpu < first + count; gpu += 1) {
      const [used, of] = pairOf(view, by, gpu);
      sum[0] += used;
      sum[1] += of;
    }
  }
  return sum;
}

/** The node's own state; of a node that is well, whether a GPU of it is not. */
export function stateOf({ topology, fleet }, node) {
  if (fleet.nodes[node] !== OK) return fleet.nodes[node];
  const [first, count] = gpusOf(topology, node);
  for (let gpu = first; gpu < first + count; gpu += 1) if (fleet.state[gpu] === UNHEALTHY) return UNHEALTHY;
  return OK;
}

/** What there is to say of a node; without GPUs neither a model nor sums. */
export function factsOf(view, node) {
  const { topology } = view;
  const [, count] = gpusOf(topology, node);
  const facts = { name: topology.nodes.name[node], code: stateOf(view, node), model: "", count, sums: {} };
  if (!count) return facts;
  facts.model = topology.models[topology.nodes.model[node]];
  for (const by of MEASURES) facts.sums[by] = sumOf(view, by, [node]).slice(0, 2);
  return facts;
}

/** The node that a GPU is in, by bisection. */
export function nodeOf(topology, gpu) {
  const { first } = topology.nodes;
  let low = 0;
  let high = first.length - 1;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (first[middle] <= gpu) low = middle;
    else high = middle - 1;
  }
  return low;
}
