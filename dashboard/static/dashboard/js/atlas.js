// The fleet as one picture: a block is a node, a cell is a GPU; what is chosen in it, pointed at, filtered (console.md 8).
import { countSteps, nodeOf, sumOf } from "./figures.js";
import * as format from "./format.js";
import { HoverCard, sentence } from "./hovercard.js";
import { gpusOf, groupNodes, hit, layOut } from "./layout.js";
import { Painter } from "./painter.js";
import { say } from "./words.js";

const SVG = "http://www.w3.org/2000/svg";

export class Atlas {
  constructor(root, store) {
    this.root = root;
    this.store = store;
    const canvases = root.querySelectorAll("canvas");
    this.over = canvases[1];
    this.painter = new Painter(canvases);
    this.card = new HoverCard(root.querySelector("[data-atlas-card]"));
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

  get view() {
    return { topology: this.store.topology, fleet: this.store.value("fleet"), by: this.by };
  }

  get scene() {
    const { layout, step, selected, cursor } = this;
    return { view: this.view, layout, step, selected, cursor, matches: (node) => this.matches(node) };
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

  matches(node) {
    if (!this.query) return true;
    const { nodes, models, pools } = this.store.topology;
    return `${nodes.name[node]} ${models[nodes.model[node]]} ${pools[nodes.pool[node]]}`.toLowerCase().includes(this.query);
  }

  /** Lay out and paint everything: after a resize, another grouping, a new topology. */
  draw() {
    if (!this.ready) return;
    this.root.querySelector("[data-atlas-wait]").hidden = true;
    const { topology } = this.store;
    const width = Math.floor(this.root.clientWidth);
    const height = Math.max(320, innerHeight - this.root.getBoundingClientRect().top - scrollY - 140);
    this.layout = layOut(topology, groupNodes(topology, this.group), { width, height });
    this.painter.draw(this.scene);
    this.#legend();
    this.#count();
    this.root.dataset.drawn = String(Number(this.root.dataset.drawn ?? 0) + 1);
  }

  /** Paint again only the blocks that changed, then what lies above them. */
  #repaint(change) {
    if (!this.layout) return;
    const nodes = new Set(change.cells.map((gpu) => nodeOf(this.store.topology, gpu)));
    this.painter.blocks(this.scene, nodes);
    this.#legend();
    this.painter.outlines(this.scene);
    if (this.card.node !== undefined && nodes.has(this.card.node)) this.#showCard(this.card.node);
  }

  #shown() {
    return [...this.layout.where.keys()].filter((node) => this.matches(node));
  }

  #legend() {
    const root = document.querySelector("[data-atlas-steps]");
    const counts = countSteps(this.view, this.#shown());
    const most = Math.max(1, ...counts);
    if (!root.childElementCount) {
      counts.forEach((_, step) => root.append(this.#stepButton(step)));
    }
    [...root.children].forEach((button, step) => {
      const high = counts[step] ? Math.max(3, Math.round((counts[step] * 50) / most)) : 1;
      const bar = button.querySelector("rect");
      bar.setAttribute("height", high);
      bar.setAttribute("y", 52 - high);
      button.setAttribute("aria-pressed", this.step === step);
      button.title = `${step ? `${step * 10 - 9}–${step * 10}` : 0} %: ${format.number(counts[step])} GPU`;
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
    if (this.query) line.textContent = say("of_nodes", { shown: format.number(this.#shown().length), total: format.number(this.layout.where.size) });
  }

  #pointer() {
    const at = (event) => {
      const box = this.over.getBoundingClientRect();
      return this.layout ? hit(this.layout, event.clientX - box.left, event.clientY - box.top) : null;
    };
    this.over.addEventListener("pointermove", (event) => {
      const found = at(event);
      if (found?.node !== this.card.node) found ? this.#showCard(found.node) : this.card.hide();
    });
    this.over.addEventListener("pointerleave", () => this.card.hide());
    this.over.addEventListener("click", (event) => {
      const found = at(event);
      if (!found) return;
      if (event.shiftKey) this.#select(found.node);
      else this.#open(found.node);
    });
    this.over.addEventListener("keydown", (event) => this.#key(event));
    this.over.addEventListener("blur", () => this.card.hide());
  }

  #open(node) {
    location.assign(`/nodes/${encodeURIComponent(this.store.topology.nodes.name[node])}`);
  }

  #select(node) {
    if (!this.selected.delete(node)) this.selected.add(node);
    const [used, all, gpus] = sumOf(this.view, "memory", this.selected);
    const text = this.selected.size ? say("selected", { nodes: this.selected.size, gpus, free: format.gib(all - used) }) : "";
    document.querySelector("[data-atlas-selection]").textContent = text;
    this.painter.outlines(this.scene);
  }

  #showCard(node) {
    this.card.show(this.view, this.layout, node);
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
    this.painter.outlines(this.scene);
    if (this.cursor) this.#tell();
    else this.card.hide();
  }

  #moveGpu(by) {
    const [, count] = gpusOf(this.store.topology, this.cursor.node);
    if (count) this.cursor.offset = Math.max(0, Math.min(count - 1, (this.cursor.offset ?? -1) + Math.sign(by)));
  }

  #tell() {
    this.#showCard(this.cursor.node);
    document.querySelector("[data-say]").textContent = sentence(this.view, this.cursor);
  }
}
