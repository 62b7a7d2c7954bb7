// Moves the numbers of the page: `data-live` for one value, `data-rows` for lists whose rows the server drew first.
import * as format from "./format.js";
import { cause, problemTitle, say, state, words } from "./words.js";

const FRAME_MS = 250;
const MOST_FLASHES = 20;
const GLYPHS = { ok: "●", silent: "◆", unhealthy: "▲", gone: "▲" };
const TONES = { ok: "ok", silent: "warn", unhealthy: "bad", gone: "bad" };
const SEVERITIES = { bad: "▲", warn: "◆", note: "●" };

let clockOffset = 0;
let flashes = 0;

export function setClock(offsetMs) {
  clockOffset = offsetMs ?? 0;
}

const now = () => Date.now() + clockOffset;

/** A pair as percent; null is what the vendor does not count. */
const percent = (value) => (value === null ? say("not_counted") : format.percent(value));

const writers = {
  bar: (node, value) => {
    const share = format.ratio(value);
    const words = percent(value);
    node.classList.toggle("uncounted", !value?.[1]);
    node.querySelector("rect").setAttribute("width", `${share}%`);
    const meter = node.querySelector("svg");
    meter.setAttribute("aria-valuenow", share);
    meter.setAttribute("aria-valuetext", words);
    return text(node.querySelector(".value"), words);
  },
  percent: (node, value) => text(node, percent(value)),
  age: (node, value) => {
    node.dataset.at = value || 0;
    return writeAge(node);
  },
  state: (node, value) => {
    node.className = `badge tone-${TONES[value] ?? "off"}`;
    node.replaceChildren(Object.assign(document.createElement("span"), { textContent: GLYPHS[value] ?? "○" }), ` ${state(value)}`);
  },
  glyph: (node, value) => {
    node.className = `glyph tone-${value}`;
    node.textContent = SEVERITIES[value] ?? "●";
  },
  result: (node, value) => {
    node.className = `result-${value}`;
    return text(node, value);
  },
  cause: (node, value) => text(node, value ? cause(value) : ""),
  pods: (node, value) => text(node, value ? say(value === 1 ? "pod_one" : "pod_many", { count: format.number(value) }) : ""),
};

function text(node, value) {
  if (node.textContent === value) return false;
  node.textContent = value;
  return true;
}

function write(node, value, quiet = false) {
  const name = node.dataset.fmt;
  const writer = writers[name];
  const changed = writer ? writer(node, value) : text(node, format[name]?.(value) ?? `${value ?? ""}`);
  if (changed && !quiet && name !== "age") flash(node);
}

function flash(node) {
  if (flashes >= MOST_FLASHES) return;
  flashes += 1;
  node.classList.remove("flash");
  void node.offsetWidth; // restarts the animation
  node.classList.add("flash");
  setTimeout(() => node.classList.remove("flash"), 700);
}

function writeAge(node) {
  const at = Number(node.dataset.at);
  if (at && !node.title) node.title = `${new Date(at).toLocaleString()} · ${new Date(at).toISOString()}`;
  return text(node, at ? format.age(now() - at) : format.UNKNOWN);
}

/** What a row shows beyond its plain values. */
function derived(name, row) {
  if (name === "summary.problems") {
    const detail = [row.count > 1 ? row.names.join(", ") : "", row.args.ask, row.args.holder].filter(Boolean).join(" ");
    return { ...row, title: problemTitle(row), detail };
  }
  if (name === "summary.room") {
    const block = row.block > 1 ? say("block", { n: row.block, m: row.block_nodes }) : "";
    const stranded = row.stranded_mib ? `${say("stranded")} ${format.memory(row.stranded_mib)}` : "";
    const pieces = row.piece_mib ? `${format.memory(row.piece_mib)} × ${format.number(row.pieces)}` : "";
    return { ...row, block_text: block, stranded_text: stranded, pieces_text: pieces };
  }
  return row;
}

function fillRow(node, row, isNew = false) {
  for (const part of node.querySelectorAll("[data-f]")) if (part.dataset.f) write(part, row[part.dataset.f], isNew);
  const links = [...node.querySelectorAll("[data-href]")];
  if (node.dataset.href) links.push(node);
  for (const link of links) {
    link.href = link.dataset.href.replace(/\{(\w+)\}/g, (_, key) => encodeURIComponent(row[key] ?? ""));
  }
  for (const link of node.querySelectorAll("[data-href-f]")) link.href = row[link.dataset.hrefF] ?? "";
  for (const button of node.querySelectorAll("[data-copy-f]")) {
    button.dataset.copy = row[button.dataset.copyF] ?? "";
    button.hidden = !button.dataset.copy;
  }
  node.dataset.id = row.id;
}

/** Make the list show `rows` in their order; rows that stay keep their element, and with it the focus. */
function drawList(list, name, rows) {
  const template = list.querySelector("template");
  const most = Number(list.dataset.most) || rows.length;
  const before = [...list.children].filter((node) => node !== template);
  const there = new Map(before.map((node) => [node.dataset.id, node]));
  const kept = new Set();
  let place = list.firstElementChild;
  for (const row of rows.slice(0, most)) {
    let node = there.get(row.id);
    there.delete(row.id);
    const isNew = !node;
    if (isNew) node = template.content.firstElementChild.cloneNode(true);
    if (node !== place) list.insertBefore(node, place);
    else place = place.nextElementSibling;
    kept.add(node);
    fillRow(node, derived(name, row), isNew);
  }
  for (const node of before) if (!kept.has(node)) node.remove();
  const none = document.querySelector(`[data-empty="${name}"]`);
  if (none) none.hidden = rows.length > 0;
}

function drawRows(list, value) {
  for (const node of list.querySelectorAll("[data-id]")) {
    const row = value.get(node.dataset.id);
    if (row) fillRow(node, row);
    else if (value.size && value.complete) node.remove();
  }
}

function allWell(summary) {
  const [healthy, total] = (summary.gpus ?? []).map(format.number);
  const oldest = summary.oldest_pending_ms;
  const parts = total ? [say("all_well_detail", { healthy, total })] : [];
  parts.push(oldest ? say("longest_wait", { age: format.age(now() - oldest) }) : say("nobody_waits"));
  return `${say("all_well")} ${parts.join(", ")}`;
}

function drawVerdict(summary) {
  const head = document.querySelector("[data-verdict]");
  if (!head || !summary.problems) return;
  const [worst] = summary.problems;
  const count = summary.problems.length;
  const since = summary.since_ms || Infinity;
  const glyph = Object.assign(document.createElement("span"), {
    className: `tone-${worst?.severity ?? "ok"}`, textContent: worst ? SEVERITIES[worst.severity] : "●",
  });
  let sentence = count === 1 ? say("problems_one") : say("problems_many", { count });
  if (!count) sentence = allWell(summary);
  else if (since < Infinity) sentence += `, ${say("worst_since", { time: format.clock(since).slice(0, 5), age: format.age(now() - since) })}`;
  head.replaceChildren(glyph, " ", Object.assign(document.createElement("span"), { textContent: sentence }));
}

export class Binder {
  constructor(store) {
    this.store = store;
    this.dirty = new Set();
    this.drawnAt = 0;
    store.listen((name) => this.mark(name));
    setInterval(() => this.#count(), 1000);
    for (const node of document.querySelectorAll("[data-clock]")) node.textContent = format.clock(Number(node.dataset.clock)).slice(0, 5);
  }

  mark(name) {
    this.dirty.add(name);
    if (this.timer) return;
    const wait = Math.max(0, FRAME_MS - (performance.now() - this.drawnAt));
    this.timer = setTimeout(() => requestAnimationFrame(() => this.#draw()), wait);
  }

  #draw() {
    this.timer = null;
    this.drawnAt = performance.now();
    flashes = 0;
    for (const name of this.dirty) this.#drawTopic(name, this.store.value(name));
    this.dirty.clear();
    document.dispatchEvent(new Event("live:drawn"));
  }

  #drawTopic(name, value) {
    if (!value || name === "fleet") return;
    for (const node of document.querySelectorAll(`[data-live^="${name}."]`)) {
      const key = node.dataset.live.slice(name.length + 1);
      if (key in value) write(node, value[key]);
    }
    for (const list of document.querySelectorAll(`[data-rows="${name}"], [data-rows^="${name}."]`)) {
      const key = list.dataset.rows.slice(name.length + 1);
      if (key && value[key]) drawList(list, list.dataset.rows, value[key]);
      else if (!key && Array.isArray(value)) drawList(list, name, value);
      else if (!key) drawRows(list, value);
    }
    if (name === "summary") drawVerdict(value);
  }

  #count() {
    if (document.hidden) return;
    for (const node of document.querySelectorAll("time.age")) writeAge(node);
  }
}

export { words };
