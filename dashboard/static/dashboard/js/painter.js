// The atlas on its two canvases: heads and cells on the lower one, trouble and the cursor on the upper (console.md 8).
// A `scene` is { view, layout, step, matches, selected, cursor }: what to paint, and what of it is filtered.
import { CORDONED, GONE, SILENT, UNHEALTHY, UNREGISTERED, pairOf, stepOf, sumOf } from "./figures.js";
import * as format from "./format.js";
import { blockOf, cellOf, gpusOf } from "./layout.js";
import { say } from "./words.js";

const ROOMY_CELL = 24;
const GLYPH_CELL = 9;
const SEPARATOR = "  ·  ";
const INKS = ["bg", "text", "muted", "control", "line", "accent", "warn", "bad", "off", "raised"];

export class Painter {
  constructor(canvases) {
    this.canvases = [...canvases];
    [this.under, this.over] = this.canvases.map((canvas) => canvas.getContext("2d"));
  }

  #colours() {
    const style = getComputedStyle(document.documentElement);
    const token = (name) => style.getPropertyValue(`--${name}`).trim();
    this.font = token("sans");
    this.ramp = Array.from({ length: 11 }, (_, number) => token(`r${number}`));
    this.ink = Object.fromEntries(INKS.map((name) => [name, token(name)]));
  }

  /** Paint everything: after a resize, another theme, another grouping, a new topology. */
  draw(scene) {
    const { width, height } = scene.layout;
    this.#colours();
    for (const canvas of this.canvases) size(canvas, width, height);
    this.under.clearRect(0, 0, width, height);
    this.#heads(scene);
    this.#cells(scene);
    this.outlines(scene);
  }

  #heads({ view, layout }) {
    const paint = this.under;
    for (const group of layout.groups) {
      const [used, all, gpus] = sumOf(view, view.by, group.nodes);
      const name = group.name || say("no_gpus");
      paint.textBaseline = "middle";
      paint.fillStyle = this.ink.text;
      paint.font = `600 13px ${this.font}`;
      paint.fillText(name, group.x + 2, group.head + 11);
      const at = group.x + 2 + paint.measureText(name).width + 12;
      paint.fillStyle = this.ink.muted;
      paint.font = `12px ${this.font}`;
      const parts = [`${format.number(gpus)} GPU`];
      if (layout.width > 420) parts.unshift(`${format.number(group.nodes.length)} ${say(group.nodes.length === 1 ? "node_one" : "nodes")}`);
      if (gpus) parts.push(all ? `${format.percent([used, all])} ${say("allocated")}` : say("not_counted"));
      while (parts.length && at + paint.measureText(parts.join(SEPARATOR)).width > group.right) parts.shift();
      paint.fillText(parts.join(SEPARATOR), at, group.head + 11);
    }
  }

  /** Fill all cells, sorted by colour: one path a step. Filtered ones are left as empty tracks. */
  #cells(scene) {
    const { view, layout } = scene;
    const paths = this.ramp.map(() => new Path2D());
    const grey = new Path2D();
    for (const node of layout.where.keys()) {
      const block = blockOf(layout, node);
      const [first, count] = gpusOf(view.topology, node);
      const kept = scene.matches(node);
      for (let offset = 0; offset < count; offset += 1) {
        const step = stepOf(view, first + offset);
        const path = kept && isLit(scene, step) ? paths[step] : grey;
        path.rect(...cellOf(layout, block, offset), layout.cell, layout.cell);
      }
    }
    this.under.fillStyle = this.ink.raised;
    this.under.fill(grey);
    paths.forEach((path, step) => {
      this.under.fillStyle = this.ramp[step];
      this.under.fill(path);
    });
    for (const node of layout.where.keys()) this.#edges(scene, node);
    for (const node of layout.where.keys()) this.#bars(scene, node);
  }

  /** Paint again only these blocks. */
  blocks(scene, nodes) {
    const { view, layout } = scene;
    const paint = this.under;
    for (const node of nodes) {
      const block = blockOf(layout, node);
      if (!block) continue;
      const [first, count] = gpusOf(view.topology, node);
      const kept = scene.matches(node);
      paint.clearRect(block.x, block.y, block.group.blockWidth, block.group.blockHeight);
      for (let offset = 0; offset < count; offset += 1) {
        const step = stepOf(view, first + offset);
        paint.fillStyle = kept && isLit(scene, step) ? this.ramp[step] : this.ink.raised;
        paint.fillRect(...cellOf(layout, block, offset), layout.cell, layout.cell);
      }
      this.#edges(scene, node);
      this.#bars(scene, node);
    }
  }

  /** Give empty cells an edge: the first steps of the ramp are close to the page. A slash is "not counted". */
  #edges({ view, layout, layout: { cell } }, node) {
    if (cell < GLYPH_CELL) return;
    const paint = this.under;
    const block = blockOf(layout, node);
    const [first, count] = gpusOf(view.topology, node);
    paint.strokeStyle = this.ink.line;
    paint.lineWidth = 1;
    for (let offset = 0; offset < count; offset += 1) {
      const step = stepOf(view, first + offset);
      if (step > 1) continue;
      const [x, y] = cellOf(layout, block, offset);
      paint.strokeRect(x + 0.5, y + 0.5, cell - 1, cell - 1);
      if (step === null) line(paint, x + 0.5, y + cell - 0.5, x + cell - 0.5, y + 0.5);
    }
  }

  /** On roomy cells: the number of shares, and another measure as a thin bar. */
  #bars(scene, node) {
    const { view, layout } = scene;
    if (layout.cell < ROOMY_CELL || !scene.matches(node)) return;
    const paint = this.under;
    const block = blockOf(layout, node);
    const [first, count] = gpusOf(view.topology, node);
    paint.font = `10px ${this.font}`;
    paint.textAlign = "center";
    for (let offset = 0; offset < count; offset += 1) {
      const step = stepOf(view, first + offset);
      if (scene.step !== null && scene.step !== step) continue;
      paint.fillStyle = step === null ? this.ink.text : readable(this.ramp[step]);
      this.#bar(view, first + offset, [...cellOf(layout, block, offset), layout.cell]);
    }
    paint.textAlign = "start";
  }

  #bar(view, gpu, [x, y, cell]) {
    const paint = this.under;
    const shares = view.fleet.shares[gpu];
    if (shares) paint.fillText(String(shares), x + cell / 2, y + cell / 2 - 2);
    const pair = pairOf(view, view.by === "memory" ? "cores" : "memory", gpu);
    if (!pair[1]) return;
    for (const [alpha, share] of [[0.28, 100], [0.85, format.ratio(pair)]]) {
      paint.globalAlpha = alpha;
      paint.fillRect(x + 4, y + cell - 7, ((cell - 8) * share) / 100, 3);
    }
    paint.globalAlpha = 1;
  }

  /** The upper canvas: trouble in the gaps between blocks, cursor, selection. */
  outlines({ view, layout, selected, cursor }) {
    const paint = this.over;
    paint.clearRect(0, 0, layout.width, layout.height);
    for (const node of layout.where.keys()) {
      const block = blockOf(layout, node);
      const box = [block.x - 2, block.y - 2, block.group.blockWidth + 4, block.group.blockHeight + 4];
      paint.lineWidth = 2;
      paint.setLineDash([]);
      this.#nodeMark(view.fleet.nodes[node], box);
      const [first, count] = gpusOf(view.topology, node);
      for (let offset = 0; offset < count; offset += 1) {
        if (view.fleet.state[first + offset] === UNHEALTHY) this.#cross(layout.cell, cellOf(layout, block, offset));
      }
      if (selected.has(node) || cursor?.node === node) {
        paint.strokeStyle = this.ink.accent;
        paint.setLineDash([]);
        paint.strokeRect(box[0] - 1, box[1] - 1, box[2] + 2, box[3] + 2);
      }
    }
    if (cursor && cursor.offset !== null) this.#cursor(layout, cursor);
  }

  #cursor(layout, { node, offset }) {
    const block = blockOf(layout, node);
    if (!block) return;
    const [x, y] = cellOf(layout, block, offset);
    this.over.strokeStyle = this.ink.text;
    this.over.strokeRect(x - 1, y - 1, layout.cell + 2, layout.cell + 2);
  }

  #nodeMark(code, [x, y, w, h]) {
    const paint = this.over;
    if (code === SILENT) {
      paint.strokeStyle = this.ink.warn;
      paint.setLineDash([5, 3]);
      paint.strokeRect(x, y, w, h);
    } else if (code === GONE) {
      paint.strokeStyle = this.ink.bad;
      paint.strokeRect(x, y, w, h);
      line(paint, x, y, x + w, y + h);
      line(paint, x + w, y, x, y + h);
    } else if (code === UNREGISTERED) {
      paint.strokeStyle = this.ink.off;
      paint.lineWidth = 1.5;
      paint.setLineDash([1.5, 3]);
      paint.strokeRect(x, y, w, h);
    } else if (code === CORDONED) {
      paint.fillStyle = this.ink.bg;
      const cut = Math.min(10, h / 2);
      paint.beginPath();
      paint.moveTo(x + w, y);
      paint.lineTo(x + w - cut, y);
      paint.lineTo(x + w, y + cut);
      paint.fill();
      paint.strokeStyle = this.ink.off;
      paint.lineWidth = 1.5;
      line(paint, x + w - cut, y, x + w, y + cut);
    }
  }

  #cross(cell, [x, y]) {
    const paint = this.over;
    paint.fillStyle = this.ink.bg;
    paint.fillRect(x, y, cell, cell);
    paint.strokeStyle = this.ink.bad;
    paint.lineWidth = cell >= GLYPH_CELL ? 2 : 1;
    paint.setLineDash([]);
    const inset = Math.max(0.5, cell * 0.22);
    if (cell >= GLYPH_CELL) paint.strokeRect(x + 1, y + 1, cell - 2, cell - 2);
    line(paint, x + inset, y + inset, x + cell - inset, y + cell - inset);
    line(paint, x + cell - inset, y + inset, x + inset, y + cell - inset);
  }
}

/** Whether the filter by step, if there is one, leaves the cell its colour; "not counted" has none. */
function isLit(scene, step) {
  return step !== null && (scene.step === null || scene.step === step);
}

function size(canvas, width, height) {
  const scale = devicePixelRatio || 1;
  canvas.width = Math.round(width * scale);
  canvas.height = Math.round(height * scale);
  canvas.style.height = `${height}px`;
  canvas.getContext("2d").setTransform(scale, 0, 0, scale, 0, 0);
}

function line(paint, x1, y1, x2, y2) {
  paint.beginPath();
  paint.moveTo(x1, y1);
  paint.lineTo(x2, y2);
  paint.stroke();
}

/** Black or white, whichever is read better on a colour written as #rrggbb. */
function readable(colour) {
  const [r, g, b] = [1, 3, 5].map((at) => parseInt(colour.slice(at, at + 2), 16));
  return r * 0.299 + g * 0.587 + b * 0.114 > 140 ? "#0f1318" : "#ffffff";
}
