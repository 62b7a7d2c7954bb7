// The socket: connect, subscribe, come back after a loss, fetch what the store asks for (console.md 7.5).

import { Held } from "./held.js";

const FIRST_WAIT_MS = 500;
const LONGEST_WAIT_MS = 30000;
const QUIET_MS = 30000;
const SIGNED_OUT = 4401;
const NOT_ALLOWED = 4403;

export class Socket extends EventTarget {
  constructor(store, topics) {
    super();
    this.store = store;
    this.topics = topics;
    this.state = "connecting";
    this.heardAt = performance.now();
    this.retryAt = 0;
    this.roundTripMs = null;
    this.clockMs = null;
    this.paused = false;
    this.queued = 0;
    this.kept = new Held();
    this.sources = null;
    this.role = null;
    this.unsynced = [];
    this.tries = 0;
    this.asked = new Map();
    addEventListener("online", () => this.retry());
    setInterval(() => this.#watchdog(), 1000);
  }

  open() {
    clearTimeout(this.timer);
    const scheme = location.protocol === "https:" ? "wss" : "ws";
    const socket = new WebSocket(`${scheme}://${location.host}/ws/live`);
    const startedAt = performance.now();
    this.socket = socket;
    socket.onopen = () => {
      this.tries = 0;
      this.roundTripMs = Math.round(performance.now() - startedAt);
      this.#heard();
      this.kept.clear(); // the server sends again what the store has not seen
      this.subscribe(this.topics);
      if (this.paused) this.#send({ pause: true });
      this.#become("live");
    };
    socket.onmessage = (message) => this.#message(JSON.parse(message.data));
    socket.onclose = (event) => this.#closed(socket, event);
  }

  subscribe(topics) {
    this.store.active = new Set(topics);
    this.#send({ sub: topics, since: this.store.since });
  }

  retry() {
    if (this.state === "live") return;
    this.socket?.close();
    this.open();
  }

  pause(paused) {
    this.paused = paused;
    this.queued = 0;
    for (const frame of this.kept.release([...this.store.active])) this.#apply(frame);
    this.#send({ pause: paused });
    this.dispatchEvent(new Event("change"));
  }

  /** How many changes wait for a paused page, here and at the server. */
  get held() {
    return this.kept.count + this.queued;
  }

  #send(message) {
    if (this.socket?.readyState === WebSocket.OPEN) this.socket.send(JSON.stringify(message));
  }

  #message(frame) {
    this.#heard();
    if (frame.t === "hello" || frame.t === "hb") this.clockMs = frame.at - Date.now();
    if (frame.t === "hb") {
      this.sources = frame.src;
      this.sourcesAt = frame.at;
      this.unsynced = frame.unsynced;
      this.role = frame.role;
      if (this.paused) this.queued = frame.queue;
    }
    if (frame.t === "hello") this.kept.clear(); // another scheduler's numbers; the store asks for everything
    if (this.paused && frame.t !== "hello" && frame.t !== "denied") this.#hold(frame);
    else this.#apply(frame);
    this.dispatchEvent(new Event("heard"));
  }

  /** A heartbeat vouches for what is applied only, so it counts as nothing while something is held. */
  #hold(frame) {
    if (frame.t !== "hb") this.kept.keep(frame);
    else if (this.kept.count === 0) this.store.receive(frame);
  }

  #apply(frame) {
    if (frame.t === "d") this.changedAt = frame.at;
    this.store.receive(frame);
    if (frame.t === "e") this.dispatchEvent(new CustomEvent("event", { detail: frame }));
  }

  #closed(socket, event) {
    if (socket !== this.socket) return;
    if (event.code === SIGNED_OUT) {
      location.assign(`/login?next=${encodeURIComponent(location.pathname + location.search)}`);
      return;
    }
    this.#become("disconnected");
    if (event.code === NOT_ALLOWED) return;
    const most = Math.min(LONGEST_WAIT_MS, FIRST_WAIT_MS * 2 ** this.tries);
    const wait = FIRST_WAIT_MS / 2 + Math.random() * most;
    this.tries += 1;
    this.retryAt = performance.now() + wait;
    this.timer = setTimeout(() => this.open(), wait);
    this.dispatchEvent(new Event("change"));
  }

  /** A socket that says nothing for half a minute is dead, whatever the browser thinks of it. */
  #watchdog() {
    if (this.state === "live" && performance.now() - this.heardAt > QUIET_MS) this.socket.close();
  }

  #heard() {
    this.heardAt = performance.now();
  }

  #become(state) {
    this.state = state;
    this.dispatchEvent(new Event("change"));
  }

  /** Fetch for the store: once per thing, after a random part of `withinMs`, until it succeeds. */
  need(kind, topic, withinMs) {
    const key = kind === "topology" ? kind : topic;
    if (this.asked.has(key)) return;
    this.asked.set(key, true);
    setTimeout(() => this.#fetch(kind, topic, key), Math.random() * withinMs);
  }

  async #fetch(kind, topic, key) {
    const path = kind === "topology" ? "topology" : `snapshot?topics=${encodeURIComponent(topic)}`;
    try {
      if (kind !== "topology" && topic === "fleet") await this.topologyDone;
      const loading = fetch(`/api/v1/live/${path}`, { headers: { Accept: "application/json" } });
      if (kind === "topology") this.topologyDone = loading.then((r) => r.clone().json()).catch(() => null);
      const response = await loading;
      this.asked.delete(key);
      if (!response.ok) throw new Error(`${response.status}`);
      const body = await response.json();
      if (kind === "topology") this.store.loadTopology(body);
      else this.store.loadSnapshot(body);
    } catch {
      this.asked.delete(key);
      setTimeout(() => this.need(kind, topic, 1000), 2000);
    }
  }
}
