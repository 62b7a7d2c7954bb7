// What this browser knows, and the rules by which frames change it (console.md 7.5). No DOM, no network: tests run it
// in Node.js. It asks for what it misses through `need(kind, topic, withinMs)`.

const BY_ID = new Set(["nodes", "pending"]);
const ORDERED = new Set(["decisions", "quotas"]);
const KEPT_FRAMES = 500;

export class Store {
  constructor(need) {
    this.need = need;
    this.epoch = "";
    this.topo = 0;
    this.topology = null;
    this.topics = new Map();
    this.active = new Set();
    this.listeners = new Set();
  }

  /** Watch topics. `known` says what the page was made from: its numbers are in the DOM, not here. */
  watch(names, known) {
    this.epoch = known.epoch;
    for (const name of names) this.topics.set(name, { rev: known.rev, value: empty(name), waiting: false, kept: [] });
    this.active = new Set(names);
    if (this.topics.has("fleet")) this.#ask("fleet", 0);
  }

  /** The newest revision below which no topic misses anything. */
  get since() {
    const revs = [...this.topics.values()].map((topic) => topic.rev);
    return { epoch: this.epoch, rev: revs.length ? Math.min(...revs) : 0 };
  }

  listen(listener) {
    this.listeners.add(listener);
  }

  value(name) {
    return this.topics.get(name)?.value;
  }

  receive(frame) {
    if (frame.t === "hello") this.#hello(frame);
    else if (frame.t === "d") this.#delta(frame);
    else if (frame.t === "topo") this.#topo(frame);
    else if (frame.t === "resync") this.#ask(frame.topic, frame.within_ms);
    else if (frame.t === "denied") this.topics.delete(frame.topic);
    else if (frame.t === "hb" && frame.queue === 0) this.#raise(frame.rev);
  }

  loadTopology(body) {
    this.epoch = body.epoch;
    this.topo = body.topo;
    this.topology = body;
    this.#tell("fleet", { whole: true });
  }

  loadSnapshot(body) {
    if (body.epoch !== this.epoch) this.#renew(body.epoch);
    for (const [name, topic] of this.topics) {
      if (!(name in body)) continue;
      if (name === "fleet" && body.topo !== this.topo) {
        this.need("topology", name, 0);
        this.need("snapshot", name, 0);
        continue;
      }
      topic.value = whole(name, body[name]);
      topic.rev = body.rev;
      topic.waiting = false;
      const kept = topic.kept;
      topic.kept = [];
      this.#tell(name, { whole: true });
      for (const frame of kept) this.receive(frame);
    }
  }

  #hello(frame) {
    if (frame.epoch && frame.epoch !== this.epoch) this.#renew(frame.epoch);
    else this.#follow(frame.topo);
  }

  /** Fetch the list of nodes when somebody is ahead of ours without its frame: it was lost. True when so. */
  #follow(topo) {
    if (!this.topics.has("fleet") || !this.topology || !(topo > this.topo)) return false;
    this.need("topology", "fleet", 0);
    this.#ask("fleet", 0);
    return true;
  }

  #renew(epoch) {
    this.epoch = epoch;
    this.topo = 0;
    this.topology = null;
    for (const [name, topic] of this.topics) {
      topic.kept = [];
      this.#ask(name, 0);
    }
  }

  #ask(name, withinMs) {
    const topic = this.topics.get(name);
    if (!topic) return;
    topic.waiting = true;
    if (name === "fleet" && !this.topology) this.need("topology", name, withinMs);
    this.need("snapshot", name, withinMs);
  }

  #delta(frame) {
    const topic = this.topics.get(frame.topic);
    if (!topic) return;
    if (topic.waiting) {
      if (topic.kept.length < KEPT_FRAMES) topic.kept.push(frame);
      return;
    }
    if (frame.rev < topic.rev) return; // of an equal revision values are the same, or moved on with time alone
    if (this.#follow(frame.topo)) return;
    if (frame.base > topic.rev) {
      topic.kept.push(frame);
      this.#ask(frame.topic, 0);
      return;
    }
    const change = apply(frame, topic);
    topic.rev = frame.rev;
    this.#tell(frame.topic, change);
  }

  #topo(frame) {
    const topic = this.topics.get("fleet");
    if (!topic || frame.topo <= this.topo) return;
    if (topic.waiting || frame.base !== this.topo || !this.topology) {
      this.need("topology", "fleet", 0);
      this.#ask("fleet", 0);
      return;
    }
    extend(this.topology, topic.value, frame);
    this.topo = frame.topo;
    this.#tell("fleet", { whole: true });
  }

  #raise(rev) {
    for (const name of this.active) {
      const topic = this.topics.get(name);
      if (topic && !topic.waiting && topic.rev < rev) topic.rev = rev;
    }
  }

  #tell(name, change) {
    for (const listener of this.listeners) listener(name, change);
  }
}

function kind(name) {
  if (name === "fleet") return "cells";
  if (BY_ID.has(name) || name.startsWith("ns:")) return "rows";
  return ORDERED.has(name) ? "list" : "map";
}

function empty(name) {
  const form = kind(name);
  if (form === "cells") return null;
  if (form === "rows") return new Map();
  return form === "list" ? [] : {};
}

function whole(name, body) {
  const form = kind(name);
  if (form === "cells") {
    return { mem: body.mem_used_mib, cores: body.cores_used, shares: body.shares_used, state: body.state, nodes: body.node_state };
  }
  if (form === "rows") return new Map(body.all.map((row) => [row.id, row]));
  if (form === "list") return body.all ?? body.put;
  return name.startsWith("node:") ? body.c : body;
}

/** Put one frame's absolute values in place; return what changed. */
function apply(frame, topic) {
  const form = kind(frame.topic);
  if (form === "cells") return applyCells(frame, topic.value);
  if (form === "rows") {
    for (const row of frame.put) topic.value.set(row.id, row);
    for (const id of frame.del) topic.value.delete(id);
    return { put: frame.put, del: frame.del };
  }
  if (form === "list") {
    topic.value = frame.all ?? frame.put;
    return { whole: true };
  }
  topic.value = frame.c === null ? null : { ...topic.value, ...frame.c };
  return { keys: frame.c === null ? [] : Object.keys(frame.c) };
}

function applyCells(frame, value) {
  if (value) {
    for (const [index, mem, cores, shares, state] of frame.c) {
      value.mem[index] = mem;
      value.cores[index] = cores;
      value.shares[index] = shares;
      value.state[index] = state;
    }
    for (const [index, state] of frame.n ?? []) value.nodes[index] = state;
  }
  return { cells: frame.c.map((row) => row[0]), nodes: (frame.n ?? []).map((row) => row[0]) };
}

/** Add the frame's nodes at their indexes and make holes of those that are gone. */
function extend(topology, value, frame) {
  const { nodes, gpus } = topology;
  const { add } = frame;
  add.index.forEach((index, number) => {
    for (const column of ["name", "pool", "model", "first"]) nodes[column][index] = add[column][number];
    if (value) value.nodes[index] ??= 0;
  });
  const start = add.first.length ? add.first[0] : gpus.id.length;
  add.gpus.id.forEach((id, offset) => {
    for (const column of ["id", "mem_mib", "cores", "shares"]) gpus[column][start + offset] = add.gpus[column][offset];
    if (value) for (const column of ["mem", "cores", "shares", "state"]) value[column][start + offset] ??= 0;
  });
  for (const index of frame.gone) nodes.name[index] = null;
  topology.models = frame.models;
  topology.pools = frame.pools;
}
