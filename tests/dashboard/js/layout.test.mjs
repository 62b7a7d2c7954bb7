// The atlas's arithmetic: what is placed somewhere is found there again.
import assert from "node:assert/strict";
import { test } from "node:test";
import { age, fill, memory, percent, step } from "../../../dashboard/static/dashboard/js/format.js";
import { blockOf, cellOf, gpusOf, groupNodes, hit, layOut } from "../../../dashboard/static/dashboard/js/layout.js";

function fleet(nodes, gpus) {
  const first = Array.from({ length: nodes }, (_, n) => n * gpus);
  const name = first.map((_, n) => `gpu-${n}`);
  return {
    nodes: { name, first, pool: first.map((_, n) => n % 2), model: first.map((_, n) => n % 3) },
    gpus: { id: Array.from({ length: nodes * gpus }, (_, n) => `g${n}`) },
    models: ["A", "B", "C"], pools: ["p", "q"],
  };
}

for (const [nodes, gpus, width] of [[8, 8, 1376], [63, 8, 1376], [500, 8, 1376], [63, 8, 358], [40, 4, 320], [30, 16, 900], [5, 1, 358]]) {
  test(`each of ${nodes} × ${gpus} GPUs is hit in the middle of its cell, ${width} wide`, () => {
    const topology = fleet(nodes, gpus);
    const layout = layOut(topology, groupNodes(topology, "model"), { width, height: 700 });
    for (let node = 0; node < nodes; node += 1) {
      const block = blockOf(layout, node);
      assert.ok(block.x + block.group.blockWidth <= width, "a block sticks out");
      for (let offset = 0; offset < gpusOf(topology, node)[1]; offset += 1) {
        const [x, y] = cellOf(layout, block, offset);
        assert.deepEqual(hit(layout, x + layout.cell / 2, y + layout.cell / 2), { node, offset });
      }
    }
  });
}

test("5,000 nodes are laid out in cells of three pixels", () => {
  const topology = fleet(5000, 8);
  const layout = layOut(topology, groupNodes(topology, "model"), { width: 1376, height: 770 });
  assert.ok(layout.cell >= 3);
  assert.equal(layout.where.size, 5000);
});

test("between blocks nothing is hit", () => {
  const topology = fleet(20, 8);
  const layout = layOut(topology, groupNodes(topology, "pool"), { width: 900, height: 500 });
  assert.equal(hit(layout, 0, 0), null);
  const block = blockOf(layout, 0);
  assert.equal(hit(layout, block.x + block.group.blockWidth + 3, block.y + 3), null);
  assert.equal(hit(layout, 10, 100000), null);
});

test("groups are the largest first, nodes by name as people count", () => {
  const topology = fleet(12, 2);
  topology.nodes.name[11] = "gpu-2b";
  const [group] = groupNodes(topology, "pool");
  assert.deepEqual(group.nodes.map((n) => topology.nodes.name[n]), ["gpu-0", "gpu-2", "gpu-4", "gpu-6", "gpu-8", "gpu-10"]);
});

test("numbers read as the server writes them", () => {
  assert.equal(memory(40960), "40.0 GiB");
  assert.equal(memory(1258291), "1.2 TiB");
  assert.equal(memory(null), "—");
  assert.equal(percent([1, 3]), "33 %");
  assert.equal(percent([0, 0]), "—");
  assert.deepEqual([0, 1, 10, 11, 90, 91, 100, 150].map((used) => step(used, 100)), [0, 1, 1, 2, 9, 10, 10, 10]);
  assert.deepEqual([0, 59999, 60000, 3600000, 172800000].map(age), ["0 s", "59 s", "1 min", "1 h", "2 d"]);
});

test("arguments are data and never a pattern", () => {
  assert.equal(fill("{a} and {b}", { a: "{b}", b: "x" }), "{b} and x");
});
