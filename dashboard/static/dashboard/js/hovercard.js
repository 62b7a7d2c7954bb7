// The card beside a block of the atlas: what the node is, its state, and how much of it is allocated (console.md 8).
import { factsOf } from "./figures.js";
import * as format from "./format.js";
import { blockOf, gpusOf } from "./layout.js";
import { say, state as stateWord } from "./words.js";

const STATES = ["ok", "unhealthy", "silent", "gone", "unregistered", "cordoned"];
const GLYPHS = ["●", "▲", "◆", "▲", "○", "○"];
const TONES = ["ok", "bad", "warn", "bad", "off", "off"];
const WIDTH = 240;
const GAP = 10;
const SVG = "http://www.w3.org/2000/svg";

export class HoverCard {
  constructor(root) {
    this.root = root;
    this.node = undefined;
  }

  show(view, layout, node) {
    this.node = node;
    const facts = factsOf(view, node);
    const head = element("header", "", facts.name);
    head.append(element("span", `tone-${TONES[facts.code]}`, `${GLYPHS[facts.code]} ${stateWord(STATES[facts.code])}`));
    const size = view.topology.gpus.mem_mib[gpusOf(view.topology, node)[0]];
    const memory = size ? ` · ${format.memory(size)}` : "";
    const model = facts.count ? `${facts.count} × ${facts.model}${memory}` : say("no_gpus");
    const lines = Object.entries(facts.sums).map(([by, sum]) => row(by, sum));
    this.root.replaceChildren(head, element("p", "muted", model), ...lines);
    this.root.hidden = false;
    this.#place(layout, blockOf(layout, node));
  }

  /** Below the block, or above it where the picture ends. */
  #place(layout, block) {
    const high = this.root.offsetHeight;
    const below = block.y + block.group.blockHeight + GAP;
    const above = block.y - high - GAP;
    this.root.style.left = `${Math.max(0, Math.min(block.x, layout.width - WIDTH))}px`;
    this.root.style.top = `${below + high > layout.height && above > 0 ? above : below}px`;
  }

  hide() {
    this.node = undefined;
    this.root.hidden = true;
  }
}

/** The same in one sentence, for those who hear it; `offset` is the GPU under the cursor, if any. */
export function sentence(view, { node, offset }) {
  const facts = factsOf(view, node);
  const parts = [facts.name, stateWord(STATES[facts.code]), `${facts.count} ${facts.model}`];
  if (facts.sums.memory?.[1]) parts.push(`${say("memory")} ${format.percent(facts.sums.memory)}`);
  if (offset !== null) parts.push(`GPU ${offset}`);
  return parts.join(", ");
}

function row(by, sum) {
  const line = element("div", "line", "");
  if (!sum[1]) {
    line.append(element("span", "muted", say(by)), element("span", "muted", say("not_counted")));
    return line;
  }
  const bar = document.createElementNS(SVG, "svg");
  bar.setAttribute("class", "bar");
  const fill = document.createElementNS(SVG, "rect");
  fill.setAttribute("height", "100%");
  fill.setAttribute("width", `${format.ratio(sum)}%`);
  bar.append(fill);
  const text = by === "memory" ? `${format.gib(sum[0])}/${format.gib(sum[1])}` : by === "cores" ? format.percent(sum) : format.pair(sum);
  line.append(element("span", "muted", say(by)), bar, element("span", "", text));
  return line;
}

function element(name, className, textContent) {
  return Object.assign(document.createElement(name), { className, textContent });
}
