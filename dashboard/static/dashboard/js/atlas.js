// The fleet as one picture: a block is a node, a cell is a GPU, drawn on two canvases (console.md 8).
import * as format from "./format.js";
import { blockOf, cellOf, gpusOf, groupNodes, hit, layOut } from "./layout.js";
import { say, state as stateWord } from "./words.js";

const OK = 0, UNHEALTHY = 1, SILENT = 2, GONE = 3, UNREGISTERED = 4, CORDONED = 5;
const STATES = ["ok", "unhealthy", "silent", "gone", "unregistered", "cordoned"];
const GLYPHS = ["●", "▲", "◆", "▲", "○", "○"];
const TONES = ["ok", "bad", "warn", "bad", "off", "off"];
const USED = { memory: "mem", cores: "cores", shares: "shares" };
const TOTAL = { memory: "mem_mib", cores: "cores", shares: "shares" };
const ROOMY_CELL = 24;
const GLYPH_CELL = 9;
const SEPARATOR = "  ·  ";
const SVG = "http://www.w3.org/2000/svg";

export class Atlas {
  constructor(root, store) {
    this.root = root;
    this.store = store;
    [this.under, this.over] = root.querySelectorAll("canvas");
    this.card = root.querySelector("[data-atlas-card]");
    this.by = root.dataset.by;
    this.group = root.dataset.group;
    this.query = document.querySelector("[data-atlas-filter]").value.toLowerCase();
    this.step = null;
    this.cursor = null;
    this.selected = new Set();
    this.#controls();
    this.#pointer();
    store.listen((name, change) => name === "fleet" && this.#changed(change));
    new ResizeObserver(() => this.#later(() => this.draw())).observe(root);
    document.addEventListener("theme", () => this.draw());
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.draw());
    if (this.ready) this.draw();
  }

  get ready() {
    return Boolean(this.store.topology && this.store.value("fleet"));
  }

  #changed(change) {
    if (!this.ready) return;
    if (change.whole || !this.layout) this.#later(() => this.draw());
    else this.#later(() => this.#repaint(change), change);
  }

  #later(work) {
    requestAnimationFrame(work);
  }

  #controls() {
    const listen = (selector, name, event) => document.querySelector(selector)?.addEventListener(event, ({ target }) => {
      this[name] = name === "query" ? target.value.trim().toLowerCase() : target.value;
      this.#address();
      this.draw();
    });
    listen("[data-atlas-by]", "by", "change");
    listen("[data-atlas-group]", "group", "change");
    listen("[data-atlas-filter]", "query", "input");
    document.querySelector("[data-atlas-form]").addEventListener("submit", (event) => event.preventDefault());
  }

  /** Keep what one sees in the address: a picture can be rebuilt from its link. */
  #address() {
    const query = new URLSearchParams(location.search);
    query.set("by", this.by);
    query.set("group", this.group);
    if (this.query) query.set("q", this.query);
    else query.delete("q");
    history.replaceState(null, "", `?${query}`);
    const table = document.querySelector("[data-atlas-table]");
    if (table) table.href = `?${query}&as=table`;
  }

  #colours() {
    const style = getComputedStyle(document.documentElement);
    const token = (name) => style.getPropertyValue(`--${name}`).trim();
    this.font = token("sans");
    this.ramp = Array.from({ length: 11 }, (_, number) => token(`r${number}`));
    this.ink = { bg: token("bg"), text: token("text"), muted: token("muted"), control: token("control"), line: token("line"), accent: token("accent"), warn: token("warn"), bad: token("bad"), off: token("off"), raised: token("raised") };
  }

  matches(node) {
    if (!this.query) return true;
    const { nodes, models, pools } = this.store.topology;
    return `${nodes.name[node]} ${models[nodes.model[node]]} ${pools[nodes.pool[node]]}`.toLowerCase().includes(this.query);
  }

  /** Lay out and paint everything: after a resize, another grouping, a new topology. */
  draw() {
    if (!this.ready) return;
    this.root.querySelector("[data-atlas-wait]").hidden = true;
    this.#colours();
    const { topology } = this.store;
    const width = Math.floor(this.root.clientWidth);
    const height = Math.max(320, innerHeight - this.root.getBoundingClientRect().top - scrollY - 140);
    this.layout = layOut(topology, groupNodes(topology, this.group), { width, height });
    for (const canvas of [this.under, this.over]) size(canvas, width, this.layout.height);
    const paint = this.under.getContext("2d");
    paint.clearRect(0, 0, width, this.layout.height);
    this.#heads(paint);
    this.#cells(paint);
    this.#outlines();
    this.#legend();
    this.#count();
    this.root.dataset.drawn = String(Number(this.root.dataset.drawn ?? 0) + 1);
  }

  #heads(paint) {
    const { topology } = this.store;
    for (const group of this.layout.groups) {
      let used = 0, all = 0, gpus = 0;
      for (const node of group.nodes) {
        const [first, count] = gpusOf(topology, node);
        gpus += count;
        for (let gpu = first; gpu < first + count; gpu += 1) {
          used += this.store.value("fleet")[USED[this.by]][gpu];
          all += topology.gpus[TOTAL[this.by]][gpu];
        }
      }
      const name = group.name || say("no_gpus");
      paint.textBaseline = "middle";
      paint.fillStyle = this.ink.text;
      paint.font = `600 13px ${this.font}`;
      paint.fillText(name, group.x + 2, group.head + 11);
      const at = group.x + 2 + paint.measureText(name).width + 12;
      paint.fillStyle = this.ink.muted;
      paint.font = `12px ${this.font}`;
      const parts = [`${format.number(gpus)} GPU`];
      if (this.layout.width > 420) parts.unshift(`${format.number(group.nodes.length)} ${say(group.nodes.length === 1 ? "node_one" : "nodes")}`);
      if (gpus) parts.push(all ? `${format.percent([used, all])} ${say("allocated")}` : say("not_counted"));
      while (parts.length && at + paint.measureText(parts.join(SEPARATOR)).width > group.right) parts.shift();
      paint.fillText(parts.join(SEPARATOR), at, group.head + 11);
    }
  }

  /** The step of the ramp, or null where nobody counts what the picture shows. */
  #stepOf(gpu) {
    const of = this.store.topology.gpus[TOTAL[this.by]][gpu];
    return of ? format.step(this.store.value("fleet")[USED[this.by]][gpu], of) : null;
  }

  /** Fill all cells, sorted by colour: one path a step. Filtered ones are left as empty tracks. */
  #cells(paint) {
    const paths = this.ramp.map(() => new Path2D());
    const grey = new Path2D();
    this.counts = new Array(11).fill(0);
    this.shown = 0;
    const { topology } = this.store;
    const { cell } = this.layout;
    for (const node of this.layout.where.keys()) {
      const block = blockOf(this.layout, node);
      const [first, count] = gpusOf(topology, node);
      const kept = this.matches(node);
      if (kept) this.shown += 1;
      for (let offset = 0; offset < count; offset += 1) {
        const step = this.#stepOf(first + offset);
        if (kept && step !== null) this.counts[step] += 1;
        const path = step !== null && kept && (this.step === null || this.step === step) ? paths[step] : grey;
        path.rect(...cellOf(this.layout, block, offset), cell, cell);
      }
    }
    paint.fillStyle = this.ink.raised;
    paint.fill(grey);
    paths.forEach((path, step) => {
      paint.fillStyle = this.ramp[step];
      paint.fill(path);
    });
    if (cell >= GLYPH_CELL) {
      paint.strokeStyle = this.ink.line;
      paint.lineWidth = 1;
      for (const node of this.layout.where.keys()) this.#edges(paint, node);
    }
    if (cell >= ROOMY_CELL) for (const node of this.layout.where.keys()) this.#bars(paint, node);
  }

  /** Give empty cells an edge: the first steps of the ramp are close to the page. A slash is "not counted". */
  #edges(paint, node) {
    const block = blockOf(this.layout, node);
    const [first, count] = gpusOf(this.store.topology, node);
    for (let offset = 0; offset < count; offset += 1) {
      const step = this.#stepOf(first + offset);
      if (step > 1) continue;
      const [x, y] = cellOf(this.layout, block, offset);
      const { cell } = this.layout;
      paint.strokeRect(x + 0.5, y + 0.5, cell - 1, cell - 1);
      if (step === null) line(paint, x + 0.5, y + cell - 0.5, x + cell - 0.5, y + 0.5);
    }
  }

  /** On roomy cells: the two other measures as thin bars, and the number of shares. */
  #bars(paint, node) {
    if (!this.matches(node)) return;
    const { topology } = this.store;
    const fleet = this.store.value("fleet");
    const block = blockOf(this.layout, node);
    const [first, count] = gpusOf(topology, node);
    const { cell } = this.layout;
    paint.font = `10px ${this.font}`;
    paint.textAlign = "center";
    for (let offset = 0; offset < count; offset += 1) {
      const gpu = first + offset;
      const step = this.#stepOf(gpu);
      if (this.step !== null && this.step !== step) continue;
      const [x, y] = cellOf(this.layout, block, offset);
      paint.fillStyle = step === null ? this.ink.text : readable(this.ramp[step]);
      if (fleet.shares[gpu]) paint.fillText(String(fleet.shares[gpu]), x + cell / 2, y + cell / 2 - 2);
      const other = this.by === "memory" ? "cores" : "memory";
      const pair = [fleet[USED[other]][gpu], topology.gpus[TOTAL[other]][gpu]];
      if (!pair[1]) continue;
      const wide = cell - 8;
      paint.globalAlpha = 0.28;
      paint.fillRect(x + 4, y + cell - 7, wide, 3);
      paint.globalAlpha = 0.85;
      paint.fillRect(x + 4, y + cell - 7, (wide * format.ratio(pair)) / 100, 3);
      paint.globalAlpha = 1;
    }
    paint.textAlign = "start";
  }

  /** Paint again only the blocks that changed, then what lies above them. */
  #repaint(change) {
    if (!this.layout) return;
    const paint = this.under.getContext("2d");
    const nodes = new Set(change.cells.map((gpu) => this.#nodeOf(gpu)));
    for (const node of nodes) {
      const block = blockOf(this.layout, node);
      if (!block) continue;
      const [first, count] = gpusOf(this.store.topology, node);
      paint.clearRect(block.x, block.y, block.group.blockWidth, block.group.blockHeight);
      for (let offset = 0; offset < count; offset += 1) {
        const step = this.#stepOf(first + offset);
        const kept = step !== null && this.matches(node) && (this.step === null || this.step === step);
        paint.fillStyle = kept ? this.ramp[step] : this.ink.raised;
        paint.fillRect(...cellOf(this.layout, block, offset), this.layout.cell, this.layout.cell);
      }
      paint.strokeStyle = this.ink.line;
      if (this.layout.cell >= GLYPH_CELL) this.#edges(paint, node);
      if (this.layout.cell >= ROOMY_CELL) this.#bars(paint, node);
    }
    this.#recount();
    this.#outlines();
    if (this.hovered !== undefined && nodes.has(this.hovered)) this.#showCard(this.hovered);
  }

  #nodeOf(gpu) {
    const { first } = this.store.topology.nodes;
    let low = 0;
    let high = first.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (first[middle] <= gpu) low = middle;
      else high = middle - 1;
    }
    return low;
  }

  #recount() {
    this.counts.fill(0);
    for (const node of this.layout.where.keys()) {
      if (!this.matches(node)) continue;
      const [first, count] = gpusOf(this.store.topology, node);
      for (let gpu = first; gpu < first + count; gpu += 1) {
        const step = this.#stepOf(gpu);
        if (step !== null) this.counts[step] += 1;
      }
    }
    this.#legend();
  }

  /** The upper canvas: trouble in the gaps between blocks, cursor, selection. */
  #outlines() {
    const paint = this.over.getContext("2d");
    paint.clearRect(0, 0, this.layout.width, this.layout.height);
    const fleet = this.store.value("fleet");
    for (const node of this.layout.where.keys()) {
      const block = blockOf(this.layout, node);
      const box = [block.x - 2, block.y - 2, block.group.blockWidth + 4, block.group.blockHeight + 4];
      paint.lineWidth = 2;
      paint.setLineDash([]);
      this.#nodeMark(paint, fleet.nodes[node], box);
      const [first, count] = gpusOf(this.store.topology, node);
      for (let offset = 0; offset < count; offset += 1) {
        if (fleet.state[first + offset] === UNHEALTHY) this.#cross(paint, ...cellOf(this.layout, block, offset));
      }
      if (this.selected.has(node) || this.cursor?.node === node) {
        paint.strokeStyle = this.ink.accent;
        paint.setLineDash([]);
        paint.strokeRect(box[0] - 1, box[1] - 1, box[2] + 2, box[3] + 2);
      }
    }
    if (this.cursor && this.cursor.offset !== null) {
      const block = blockOf(this.layout, this.cursor.node);
      if (!block) return;
      const [x, y] = cellOf(this.layout, block, this.cursor.offset);
      paint.strokeStyle = this.ink.text;
      paint.strokeRect(x - 1, y - 1, this.layout.cell + 2, this.layout.cell + 2);
    }
  }

  #nodeMark(paint, code, [x, y, w, h]) {
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

  #cross(paint, x, y) {
    const { cell } = this.layout;
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

  #legend() {
    const root = document.querySelector("[data-atlas-steps]");
    const most = Math.max(1, ...this.counts);
    if (!root.childElementCount) {
      this.counts.forEach((_, step) => root.append(this.#stepButton(step)));
    }
    [...root.children].forEach((button, step) => {
      const high = this.counts[step] ? Math.max(3, Math.round((this.counts[step] * 50) / most)) : 1;
      const bar = button.querySelector("rect");
      bar.setAttribute("height", high);
      bar.setAttribute("y", 52 - high);
      button.setAttribute("aria-pressed", this.step === step);
      button.title = `${step ? `${step * 10 - 9}–${step * 10}` : 0} %: ${format.number(this.counts[step])} GPU`;
    });
  }

  #stepButton(step) {
    const button = document.createElement("button");
    button.type = "button";
    const picture = document.createElementNS(SVG, "svg");
    const bar = document.createElementNS(SVG, "rect");
    bar.setAttribute("class", `s${step}`);
    bar.setAttribute("width", "100%");
    picture.append(bar);
    button.append(picture, step === 10 ? "100 %" : String(step * 10));
    button.addEventListener("click", () => {
      this.step = this.step === step ? null : step;
      this.draw();
    });
    return button;
  }

  #count() {
    const line = document.querySelector("[data-atlas-count]");
    if (this.query) line.textContent = say("of_nodes", { shown: format.number(this.shown), total: format.number(this.layout.where.size) });
  }

  #pointer() {
    const at = (event) => {
      const box = this.over.getBoundingClientRect();
      return this.layout ? hit(this.layout, event.clientX - box.left, event.clientY - box.top) : null;
    };
    this.over.addEventListener("pointermove", (event) => {
      const found = at(event);
      if (found?.node !== this.hovered) found ? this.#showCard(found.node) : this.#hideCard();
    });
    this.over.addEventListener("pointerleave", () => this.#hideCard());
    this.over.addEventListener("click", (event) => {
      const found = at(event);
      if (!found) return;
      if (event.shiftKey) this.#select(found.node);
      else this.#open(found.node);
    });
    this.over.addEventListener("keydown", (event) => this.#key(event));
    this.over.addEventListener("blur", () => this.#hideCard());
  }

  #open(node) {
    location.assign(`/nodes/${encodeURIComponent(this.store.topology.nodes.name[node])}`);
  }

  #select(node) {
    if (!this.selected.delete(node)) this.selected.add(node);
    let gpus = 0, free = 0;
    for (const chosen of this.selected) {
      const [first, count] = gpusOf(this.store.topology, chosen);
      gpus += count;
      for (let gpu = first; gpu < first + count; gpu += 1) free += this.store.topology.gpus.mem_mib[gpu] - this.store.value("fleet").mem[gpu];
    }
    const text = this.selected.size ? say("selected", { nodes: this.selected.size, gpus, free: format.gib(free) }) : "";
    document.querySelector("[data-atlas-selection]").textContent = text;
    this.#outlines();
  }

  #sentence(node) {
    const { topology } = this.store;
    const [first, count] = gpusOf(topology, node);
    const code = this.#stateOf(node);
    const name = topology.nodes.name[node];
    if (!count) return { name, code, model: "", count, sums: {} };
    const fleet = this.store.value("fleet");
    const sums = {};
    for (const by of Object.keys(USED)) {
      sums[by] = [0, 0];
      for (let gpu = first; gpu < first + count; gpu += 1) {
        sums[by][0] += fleet[USED[by]][gpu];
        sums[by][1] += topology.gpus[TOTAL[by]][gpu];
      }
    }
    return { name, code, model: topology.models[topology.nodes.model[node]], count, sums };
  }

  #stateOf(node) {
    const fleet = this.store.value("fleet");
    if (fleet.nodes[node] !== OK) return fleet.nodes[node];
    const [first, count] = gpusOf(this.store.topology, node);
    for (let gpu = first; gpu < first + count; gpu += 1) if (fleet.state[gpu] === UNHEALTHY) return UNHEALTHY;
    return OK;
  }

  #showCard(node) {
    this.hovered = node;
    const block = blockOf(this.layout, node);
    const facts = this.#sentence(node);
    const head = element("header", "", facts.name);
    head.append(element("span", `tone-${TONES[facts.code]}`, `${GLYPHS[facts.code]} ${stateWord(STATES[facts.code])}`));
    const size = this.store.topology.gpus.mem_mib[gpusOf(this.store.topology, node)[0]];
    const memory = size ? ` · ${format.memory(size)}` : "";
    const model = facts.count ? `${facts.count} × ${facts.model}${memory}` : say("no_gpus");
    const lines = Object.entries(facts.sums).map(([by, sum]) => this.#cardLine(by, sum));
    this.card.replaceChildren(head, element("p", "muted", model), ...lines);
    this.card.hidden = false;
    const high = this.card.offsetHeight;
    const below = block.y + block.group.blockHeight + 10;
    const y = below + high > this.layout.height && block.y - high - 10 > 0 ? block.y - high - 10 : below;
    this.card.style.left = `${Math.max(0, Math.min(block.x, this.layout.width - 240))}px`;
    this.card.style.top = `${y}px`;
  }

  #cardLine(by, sum) {
    const row = element("div", "line", "");
    if (!sum[1]) {
      row.append(element("span", "muted", say(by)), element("span", "muted", say("not_counted")));
      return row;
    }
    const bar = document.createElementNS(SVG, "svg");
    bar.setAttribute("class", "bar");
    const fill = document.createElementNS(SVG, "rect");
    fill.setAttribute("height", "100%");
    fill.setAttribute("width", `${format.ratio(sum)}%`);
    bar.append(fill);
    const text = by === "memory" ? `${format.gib(sum[0])}/${format.gib(sum[1])}` : by === "cores" ? format.percent(sum) : format.pair(sum);
    row.append(element("span", "muted", say(by)), bar, element("span", "", text));
    return row;
  }

  #hideCard() {
    this.hovered = undefined;
    this.card.hidden = true;
  }

  #key(event) {
    if (!this.layout) return;
    const order = this.layout.groups.flatMap((group) => group.nodes);
    const at = Math.max(0, order.indexOf(this.cursor?.node));
    const group = this.layout.groups[this.layout.where.get(order[at])[0]];
    const down = Math.min(group.inRow, group.nodes.length);
    const moves = { ArrowRight: 1, ArrowLeft: -1, ArrowDown: down, ArrowUp: -down, Home: -order.length, End: order.length, PageDown: group.nodes.length, PageUp: -group.nodes.length };
    if (event.key === "Enter" && this.cursor) this.#open(this.cursor.node);
    else if (event.key === " " && this.cursor) this.#select(this.cursor.node);
    else if (event.key === "Escape") this.cursor = null;
    else if (moves[event.key] === undefined) return;
    else if (event.shiftKey && this.cursor) this.#moveGpu(moves[event.key]);
    else this.cursor = { node: order[this.cursor ? Math.max(0, Math.min(order.length - 1, at + moves[event.key])) : at], offset: null };
    event.preventDefault();
    this.#outlines();
    if (this.cursor) this.#tell();
    else this.#hideCard();
  }

  #moveGpu(by) {
    const [, count] = gpusOf(this.store.topology, this.cursor.node);
    if (count) this.cursor.offset = Math.max(0, Math.min(count - 1, (this.cursor.offset ?? -1) + Math.sign(by)));
  }

  #tell() {
    this.#showCard(this.cursor.node);
    const facts = this.#sentence(this.cursor.node);
    const parts = [facts.name, stateWord(STATES[facts.code]), `${facts.count} ${facts.model}`];
    if (facts.sums.memory?.[1]) parts.push(`${say("memory")} ${format.percent(facts.sums.memory)}`);
    if (this.cursor.offset !== null) parts.push(`GPU ${this.cursor.offset}`);
    document.querySelector("[data-say]").textContent = parts.join(", ");
  }
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

function element(name, className, textContent) {
  return Object.assign(document.createElement(name), { className, textContent });
}

/** Black or white, whichever is read better on a colour written as #rrggbb. */
function readable(colour) {
  const [r, g, b] = [1, 3, 5].map((at) => parseInt(colour.slice(at, at + 2), 16));
  return r * 0.299 + g * 0.587 + b * 0.114 > 140 ? "#0f1318" : "#ffffff";
}
