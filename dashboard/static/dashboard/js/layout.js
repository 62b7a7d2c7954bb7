// Where each node and GPU lies on the atlas: plain arithmetic, so that a hit test walks no list (console.md 8).

const GROUP_HEAD = 26;
const GROUP_GAP = 18;
const LARGEST_CELL = 36;
const SMALLEST_CELL = 3;
const ROOMY_CELL = 24;

/** Sort nodes into groups: by `key` (an index into `names`), the largest first, nodes by name. */
export function groupNodes(topology, key, keep) {
  const groups = new Map();
  topology.nodes.name.forEach((name, node) => {
    if (name === null || (keep && !keep(node))) return;
    const index = topology.nodes[key][node];
    if (!groups.has(index)) groups.set(index, []);
    groups.get(index).push(node);
  });
  const names = key === "model" ? topology.models : topology.pools;
  const byName = (a, b) => topology.nodes.name[a].localeCompare(topology.nodes.name[b], "en", { numeric: true });
  return [...groups.entries()]
    .map(([index, nodes]) => ({ name: names[index], nodes: nodes.sort(byName) }))
    .sort((a, b) => b.nodes.length - a.nodes.length || a.name.localeCompare(b.name));
}

export function gpusOf(topology, node) {
  const first = topology.nodes.first[node];
  const next = topology.nodes.first[node + 1] ?? topology.gpus.id.length;
  return [first, next - first];
}

/** Find the largest cell with which everything fits into `width` × `height`; then place the groups. */
export function layOut(topology, groups, { width, height }) {
  let cell = LARGEST_CELL;
  while (cell > SMALLEST_CELL && measure(topology, groups, width, cell) > height) cell -= 1;
  return place(topology, groups, width, cell);
}

function shape(topology, group, cell) {
  const most = Math.max(1, ...group.nodes.map((node) => gpusOf(topology, node)[1]));
  const columns = most <= 2 ? most : most <= 8 ? Math.ceil(most / 2) : Math.ceil(Math.sqrt(most));
  const rows = Math.ceil(most / columns);
  const gap = cell >= 9 ? 2 : 1;
  const between = cell >= ROOMY_CELL ? 12 : cell >= 9 ? 9 : 4;
  return { columns, rows, gap, blockWidth: columns * (cell + gap) - gap, blockHeight: rows * (cell + gap) - gap, between };
}

function perRow(form, width) {
  return Math.max(1, Math.floor((width + form.between) / (form.blockWidth + form.between)));
}

function measure(topology, groups, width, cell) {
  return groups.reduce((sum, group) => {
    const form = shape(topology, group, cell);
    const lines = Math.ceil(group.nodes.length / perRow(form, width));
    return sum + GROUP_HEAD + GROUP_GAP + lines * (form.blockHeight + form.between);
  }, 0);
}

function place(topology, groups, width, cell) {
  let top = 0;
  const placed = groups.map((group) => {
    const form = shape(topology, group, cell);
    const inRow = perRow(form, width - 4);
    const lines = Math.ceil(group.nodes.length / inRow);
    const start = top + GROUP_HEAD;
    top = start + lines * (form.blockHeight + form.between) + GROUP_GAP;
    return { ...group, ...form, inRow, head: start - GROUP_HEAD, top: start, bottom: top };
  });
  const where = new Map();
  placed.forEach((group, g) => group.nodes.forEach((node, n) => where.set(node, [g, n])));
  return { cell, groups: placed, height: Math.max(top, 40), where, width };
}

/** The block of one node: left, top, and how its cells lie. */
export function blockOf(layout, node) {
  const found = layout.where.get(node);
  if (!found) return null;
  const group = layout.groups[found[0]];
  const x = 2 + (found[1] % group.inRow) * (group.blockWidth + group.between);
  const y = group.top + Math.floor(found[1] / group.inRow) * (group.blockHeight + group.between);
  return { x, y, group };
}

export function cellOf(layout, block, offset) {
  const { group } = block;
  const pitch = layout.cell + group.gap;
  return [block.x + (offset % group.columns) * pitch, block.y + Math.floor(offset / group.columns) * pitch];
}

/** Return the node, and the GPU's place in it, under a point; null in the gaps. */
export function hit(layout, x, y) {
  let low = 0;
  let high = layout.groups.length - 1;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (layout.groups[middle].bottom <= y) low = middle + 1;
    else high = middle;
  }
  const group = layout.groups[low];
  if (!group || y < group.top || y >= group.bottom) return null;
  const pitchX = group.blockWidth + group.between;
  const pitchY = group.blockHeight + group.between;
  const column = Math.floor((x - 2) / pitchX);
  const line = Math.floor((y - group.top) / pitchY);
  const insideX = x - 2 - column * pitchX;
  const insideY = y - group.top - line * pitchY;
  if (column < 0 || column >= group.inRow || insideX > group.blockWidth || insideY > group.blockHeight) return null;
  const node = group.nodes[line * group.inRow + column];
  if (node === undefined) return null;
  const pitch = layout.cell + group.gap;
  return { node, offset: Math.floor(insideY / pitch) * group.columns + Math.floor(insideX / pitch) };
}
