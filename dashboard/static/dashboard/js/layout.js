// Where each node and GPU lies on the atlas: plain arithmetic, so that a hit test walks no list (console.md 8).

const GROUP_HEAD = 26;
const GROUP_GAP = 18;
const HEAD_WIDTH = 260;
const SHELF_GAP = 28;
const EDGE = 2;
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

/** Find the largest cell with which everything fits into `width` × `height`; then say where each node is. */
export function layOut(topology, groups, { width, height }) {
  const sized = groups.map((group) => ({ ...group, most: Math.max(1, ...group.nodes.map((node) => gpusOf(topology, node)[1])) }));
  let cell = LARGEST_CELL;
  let placed = arrange(sized, width, cell);
  while (cell > SMALLEST_CELL && placed.height > height) {
    cell -= 1;
    placed = arrange(sized, width, cell);
  }
  const where = new Map();
  placed.groups.forEach((group, g) => group.nodes.forEach((node, n) => where.set(node, [g, n])));
  return { cell, groups: placed.groups, height: Math.max(placed.height, 40), where, width };
}

/** How the cells of one block lie: at most two rows for up to eight GPUs, nearly square beyond. */
function shape(group, cell) {
  const { most } = group;
  const columns = most <= 2 ? most : most <= 8 ? Math.ceil(most / 2) : Math.ceil(Math.sqrt(most));
  const rows = Math.ceil(most / columns);
  const gap = cell >= 9 ? 2 : 1;
  const between = cell >= ROOMY_CELL ? 12 : cell >= 9 ? 9 : 4;
  return { columns, rows, gap, blockWidth: columns * (cell + gap) - gap, blockHeight: rows * (cell + gap) - gap, between };
}

/** Put groups on shelves: those of one line share a shelf while there is room, the others have their own. */
function arrange(groups, width, cell) {
  let top = 0;
  let left = 0;
  let shelf = 0;
  const placed = groups.map((group) => {
    const form = shape(group, cell);
    const pitch = form.blockWidth + form.between;
    const inRow = Math.max(1, Math.floor((width - EDGE * 2 + form.between) / pitch));
    const lines = Math.ceil(group.nodes.length / inRow);
    const wide = lines > 1 ? width : Math.max(HEAD_WIDTH, group.nodes.length * pitch + EDGE);
    if (left && left + wide > width) {
      top += shelf;
      left = 0;
      shelf = 0;
    }
    const start = top + GROUP_HEAD;
    const high = GROUP_HEAD + lines * (form.blockHeight + form.between) + GROUP_GAP;
    const found = { ...group, ...form, inRow, x: left, head: top, top: start, bottom: top + high - GROUP_GAP, right: left + wide };
    shelf = Math.max(shelf, high);
    left += wide + SHELF_GAP;
    return found;
  });
  return { groups: placed, height: top + shelf };
}

/** The block of one node: left, top, and how its cells lie. */
export function blockOf(layout, node) {
  const found = layout.where.get(node);
  if (!found) return null;
  const group = layout.groups[found[0]];
  const x = group.x + EDGE + (found[1] % group.inRow) * (group.blockWidth + group.between);
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
  const group = groupAt(layout.groups, x, y);
  if (!group) return null;
  const pitchX = group.blockWidth + group.between;
  const pitchY = group.blockHeight + group.between;
  const column = Math.floor((x - group.x - EDGE) / pitchX);
  const line = Math.floor((y - group.top) / pitchY);
  const insideX = x - group.x - EDGE - column * pitchX;
  const insideY = y - group.top - line * pitchY;
  if (column < 0 || column >= group.inRow || insideX > group.blockWidth || insideY > group.blockHeight) return null;
  const node = group.nodes[line * group.inRow + column];
  if (node === undefined) return null;
  const pitch = layout.cell + group.gap;
  return { node, offset: Math.floor(insideY / pitch) * group.columns + Math.floor(insideX / pitch) };
}

/** Find the shelf by bisection, then the group on it: a shelf holds a handful. */
function groupAt(groups, x, y) {
  let low = 0;
  let high = groups.length - 1;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (groups[middle + 1].head <= y) low = middle + 1;
    else high = middle;
  }
  for (let at = low; at >= 0 && groups[at].head === groups[low].head; at -= 1) {
    const group = groups[at];
    if (x >= group.x && x < group.right) return y >= group.top && y < group.bottom ? group : null;
  }
  return null;
}
