// The browser's store: any interleaving of snapshots, frames, losses and duplicates ends in the state (console.md 15.4).
import assert from "node:assert/strict";
import { test } from "node:test";
import { Store } from "../../../dashboard/static/dashboard/js/store.js";

/** Numbers that look random and are the same each time (mulberry32). */
function random(seed) {
  return () => {
    seed = (seed + 0x6d2b79f5) | 0;
    let t = Math.imul(seed ^ (seed >>> 15), 1 | seed);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
}

/** What the server knows, and the frames it makes of its changes. */
class Server {
  constructor(next) {
    this.next = next;
    this.epochs = 0;
    this.restart();
  }

  restart() {
    this.epochs += 1;
    this.epoch = `e${this.epochs}`;
    this.rev = 1;
    this.topo = 1;
    this.last = { fleet: 1, pending: 1, summary: 1 };
    this.nodes = ["n0", "n1"];
    this.mem = [0, 0, 0, 0];
    this.pods = new Map();
    this.summary = { pending: 0, gpus: [4, 4] };
    return [{ t: "hello", epoch: this.epoch, rev: this.rev, topo: this.topo }];
  }

  /** Change something; return the frames that say so. */
  change() {
    const dice = this.next();
    this.rev += 1 + Math.floor(this.next() * 3);
    if (dice < 0.5) return [this.cell(Math.floor(this.next() * this.mem.length))];
    if (dice < 0.75) return [this.pod(`u${Math.floor(this.next() * 5)}`)];
    if (dice < 0.9) return [this.number()];
    return this.join();
  }

  frame(topic, body) {
    const base = this.last[topic];
    this.last[topic] = this.rev;
    return { t: "d", topic, base, rev: this.rev, ...body };
  }

  cell(gpu) {
    this.mem[gpu] = this.rev;
    return this.frame("fleet", { topo: this.topo, c: [[gpu, this.rev, 0, 0, 0]], n: [] });
  }

  pod(id) {
    if (this.pods.delete(id)) return this.frame("pending", { put: [], del: [id] });
    this.pods.set(id, { id, tries: this.rev });
    return this.frame("pending", { put: [this.pods.get(id)], del: [] });
  }

  number() {
    this.summary = { ...this.summary, pending: this.rev };
    return this.frame("summary", { c: { pending: this.rev } });
  }

  join() {
    const index = this.nodes.length;
    const first = this.mem.length;
    this.nodes.push(`n${index}`);
    this.mem.push(this.rev, 0);
    this.topo += 1;
    const add = { index: [index], name: [`n${index}`], pool: [0], model: [0], first: [first], gpus: { id: [`g${first}`, `g${first + 1}`], mem_mib: [9, 9], cores: [100, 100], shares: [10, 10] } };
    return [
      { t: "topo", base: this.topo - 1, topo: this.topo, add, gone: [], models: ["A"], pools: ["p"] },
      this.frame("fleet", { topo: this.topo, c: [[first, this.rev, 0, 0, 0]], n: [] }),
    ];
  }

  topology() {
    const ids = this.mem.map((_, n) => `g${n}`);
    const all = (value) => ids.map(() => value);
    return { epoch: this.epoch, topo: this.topo, nodes: { name: [...this.nodes], pool: this.nodes.map(() => 0), model: this.nodes.map(() => 0), first: this.nodes.map((_, n) => n * 2) }, gpus: { id: ids, mem_mib: all(9), cores: all(100), shares: all(10) }, models: ["A"], pools: ["p"] };
  }

  snapshot(topic) {
    const zeros = () => this.mem.map(() => 0);
    const bodies = {
      fleet: { mem_used_mib: [...this.mem], cores_used: zeros(), shares_used: zeros(), state: zeros(), node_state: this.nodes.map(() => 0) },
      pending: { all: [...this.pods.values()] },
      summary: { ...this.summary },
    };
    return { epoch: this.epoch, topo: this.topo, rev: this.rev, [topic]: bodies[topic] };
  }
}

/** A network that delays answers and loses and doubles frames. Answers are made when they are asked for. */
class Network {
  constructor(server, next) {
    this.server = server;
    this.next = next;
    this.answers = [];
    this.store = new Store((kind, topic) => {
      this.answers.push(kind === "topology" ? [kind, server.topology()] : [kind, server.snapshot(topic)]);
    });
  }

  deliver(frames, { lossy }) {
    for (const frame of frames) {
      if (lossy && this.next() < 0.15 && frame.t !== "hello") continue;
      this.store.receive(structuredClone(frame));
      if (lossy && this.next() < 0.1) this.store.receive(structuredClone(frame));
      if (this.next() < 0.3) this.answer();
    }
  }

  answer() {
    const next = this.answers.shift();
    if (!next) return false;
    const [kind, body] = next;
    if (kind === "topology") this.store.loadTopology(body);
    else this.store.loadSnapshot(body);
    return true;
  }

  settle() {
    for (let n = 0; n < 200 && this.answer(); n += 1);
    assert.equal(this.answers.length, 0, "the store goes on asking for ever");
  }
}

for (let seed = 1; seed <= 300; seed += 1) {
  test(`whatever gets lost, the picture becomes the state (seed ${seed})`, () => {
    const next = random(seed);
    const server = new Server(next);
    const network = new Network(server, next);
    network.store.watch(["fleet", "pending", "summary"], { epoch: server.epoch, rev: 0 });
    for (const topic of ["pending", "summary"]) network.store.receive({ t: "resync", topic, within_ms: 0 });
    for (let n = 0; n < 60; n += 1) {
      network.deliver(next() < 0.02 ? server.restart() : server.change(), { lossy: true });
    }
    network.settle();
    server.rev += 1;
    network.deliver([server.cell(0), server.pod("last"), server.number()], { lossy: false });
    network.settle();
    const { store } = network;
    assert.deepEqual(store.topology.nodes.name, server.nodes);
    assert.deepEqual(store.value("fleet").mem, server.mem);
    assert.deepEqual(new Map(store.value("pending")), server.pods);
    assert.deepEqual(store.value("summary"), server.summary);
  });
}

test("frames of an equal or older base apply, older revisions do not", () => {
  const store = new Store(() => {});
  store.watch(["summary"], { epoch: "e", rev: 10 });
  store.receive({ t: "d", topic: "summary", base: 8, rev: 12, c: { pending: 3 } });
  store.receive({ t: "d", topic: "summary", base: 8, rev: 11, c: { pending: 9 } });
  assert.equal(store.value("summary").pending, 3);
  assert.deepEqual(store.since, { epoch: "e", rev: 12 });
});

test("a gap keeps the old picture and asks for the topic", () => {
  const asked = [];
  const store = new Store((kind, topic) => asked.push([kind, topic]));
  store.watch(["summary"], { epoch: "e", rev: 10 });
  store.receive({ t: "d", topic: "summary", base: 10, rev: 11, c: { pending: 3 } });
  store.receive({ t: "d", topic: "summary", base: 15, rev: 16, c: { pending: 9 } });
  assert.equal(store.value("summary").pending, 3);
  assert.deepEqual(asked, [["snapshot", "summary"]]);
});

test("a list of nodes that moved on while we were away is fetched", () => {
  const asked = [];
  const store = new Store((kind) => asked.push(kind));
  store.watch(["fleet"], { epoch: "e", rev: 1 });
  store.loadTopology({ epoch: "e", topo: 3, nodes: {}, gpus: {} });
  asked.length = 0;
  store.receive({ t: "hello", epoch: "e", rev: 5, topo: 3 });
  assert.deepEqual(asked, []);
  store.receive({ t: "hello", epoch: "e", rev: 9, topo: 4 });
  assert.deepEqual(asked, ["topology", "snapshot"]);
});

test("unknown frames, topics and fields are left out", () => {
  const store = new Store(() => assert.fail("nothing is missing"));
  store.watch(["summary"], { epoch: "e", rev: 1 });
  store.receive({ t: "from the future" });
  store.receive({ t: "d", topic: "weather", base: 0, rev: 2, c: {} });
  store.receive({ t: "hello", epoch: "e", rev: 1, topo: 1, more: true });
});

test("a heartbeat with nothing waiting says that nothing was missed, for what is subscribed", () => {
  const store = new Store(() => {});
  store.watch(["summary", "pending"], { epoch: "e", rev: 1 });
  store.active = new Set(["summary"]);
  store.receive({ t: "hb", rev: 40, queue: 0 });
  assert.equal(store.topics.get("summary").rev, 40);
  assert.equal(store.topics.get("pending").rev, 1);
  store.receive({ t: "hb", rev: 50, queue: 2 });
  assert.equal(store.topics.get("summary").rev, 40);
});
