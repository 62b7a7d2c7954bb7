// A paused page stands still, whatever was on its way, and misses nothing when it goes on (console.md 7.4, 7.6).
import assert from "node:assert/strict";
import { beforeEach, test } from "node:test";

globalThis.addEventListener ??= () => {};
globalThis.location ??= { protocol: "http:", host: "console" };
globalThis.CustomEvent ??= class extends Event {
  constructor(type, { detail }) {
    super(type);
    this.detail = detail;
  }
};
globalThis.setInterval = () => 0; // the watchdog would keep the test alive
globalThis.WebSocket = class {
  static OPEN = 1;
  static last;
  readyState = 1;
  sent = [];

  constructor() {
    globalThis.WebSocket.last = this;
  }

  send(text) {
    this.sent.push(JSON.parse(text));
  }

  close() {}

  hear(frame) {
    this.onmessage({ data: JSON.stringify(frame) });
  }
};

const { Socket } = await import("../../../dashboard/static/dashboard/js/socket.js");
const { Held } = await import("../../../dashboard/static/dashboard/js/held.js");

/** A store that only writes down what it is given. */
class Notes {
  constructor() {
    this.frames = [];
    this.active = new Set(["summary"]);
    this.since = { epoch: "e1", rev: 1 };
  }

  receive(frame) {
    this.frames.push(frame.t === "d" ? frame.rev : frame.t);
  }
}

const delta = (rev) => ({ t: "d", topic: "summary", base: rev - 1, rev, at: rev });
const heartbeat = (queue) => ({ t: "hb", at: 1, rev: 9, queue, src: {}, unsynced: [], role: "leader" });

let notes, socket, server;

beforeEach(() => {
  notes = new Notes();
  socket = new Socket(notes, ["summary"]);
  socket.open();
  server = WebSocket.last;
  server.onopen();
});

test("what was on its way when the page paused waits, in its order", () => {
  server.hear(delta(2));
  socket.pause(true);
  server.hear(delta(3));
  server.hear({ t: "topo", topo: 2, base: 1 });
  assert.deepEqual(notes.frames, [2]);
  assert.equal(socket.held, 2);
  socket.pause(false);
  assert.deepEqual(notes.frames, [2, 3, "topo"]);
  assert.equal(socket.held, 0);
  assert.deepEqual(server.sent.at(-1), { pause: false });
});

test("changes that wait at the server are counted with those that wait here", () => {
  socket.pause(true);
  server.hear(delta(2));
  server.hear(heartbeat(4));
  assert.equal(socket.held, 5);
});

test("a heartbeat does not vouch for what is held", () => {
  socket.pause(true);
  server.hear(delta(2));
  server.hear(heartbeat(0));
  socket.pause(false);
  assert.deepEqual(notes.frames, [2]);
});

test("a connection made anew while paused drops what is held: the server sends it again", () => {
  socket.pause(true);
  server.hear(delta(2));
  socket.open();
  WebSocket.last.onopen();
  assert.equal(socket.held, 0);
  assert.deepEqual(WebSocket.last.sent, [{ sub: ["summary"], since: { epoch: "e1", rev: 1 } }, { pause: true }]);
});

test("what is held of a former scheduler is not put on the picture of the next", () => {
  socket.pause(true);
  server.hear(delta(2));
  server.hear({ t: "hello", epoch: "e2", rev: 1, topo: 1, at: 1 });
  assert.equal(socket.held, 0);
  socket.pause(false);
  assert.deepEqual(notes.frames, ["hello"]);
});

test("more than a page can keep is fetched anew", () => {
  const held = new Held();
  for (let rev = 2; rev < 600; rev += 1) held.keep(delta(rev));
  assert.deepEqual(held.release(["summary", "fleet"]).map((frame) => [frame.t, frame.topic]), [
    ["resync", "summary"],
    ["resync", "fleet"],
  ]);
  assert.equal(held.count, 0);
});
