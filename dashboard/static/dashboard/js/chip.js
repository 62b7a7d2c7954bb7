// The trust chip: how fresh is what you see, and who says so (console.md 4).
import * as format from "./format.js";
import { say } from "./words.js";
import { setClock } from "./bind.js";

const DELAYED_MS = 10000;
const SOURCE_LATE_MS = 150000;
const LEASE_LATE_MS = 30000;
const REGISTRATION_LATE_MS = 60000;
const GLYPHS = { live: "●", delayed: "◐", disconnected: "◌", paused: "‖", follower: "⇄", no_leader: "▲", loading: "…", connecting: "…" };
const TONES = { live: "ok", delayed: "warn", disconnected: "bad", paused: "off", follower: "off", no_leader: "bad" };

export class Chip {
  constructor(socket, store) {
    this.socket = socket;
    this.store = store;
    this.root = document.querySelector("[data-chip]");
    this.seenAt = Number(document.body.dataset.at) || Date.now();
    this.leader = null;
    if (!this.root) return;
    socket.addEventListener("change", () => this.draw());
    socket.addEventListener("heard", () => {
      this.seenAt = Date.now();
      setClock(socket.clockMs);
    });
    setInterval(() => this.draw(), 500);
    document.querySelector("[data-retry]")?.addEventListener("click", () => socket.retry());
    document.addEventListener("click", (event) => {
      if (!this.root.contains(event.target)) this.root.open = false;
    });
  }

  draw() {
    const quietMs = performance.now() - this.socket.heardAt;
    const [state, text, showAge] = this.#state(quietMs);
    const html = document.documentElement;
    html.dataset.trust = state;
    this.root.querySelector("summary").className = `tone-${TONES[state] ?? "off"}`;
    set(this.root, "[data-chip-glyph]", GLYPHS[state]);
    set(this.root, "[data-chip-text]", text);
    set(this.root, "[data-chip-age]", showAge ? format.age(quietMs) : "");
    this.#banner(state, text);
    this.#parts();
  }

  #state(quietMs) {
    const { socket } = this;
    const leader = this.store.value("summary")?.leader ?? this.leader;
    if (socket.state === "disconnected") return ["disconnected", say("disconnected", { time: format.clock(this.seenAt) }), false];
    if (socket.state === "connecting") return ["connecting", say("connecting"), false];
    if (socket.paused) return ["paused", say("paused", { count: socket.held }), false];
    if (leader?.is_elected && !leader.holder) {
      const text = leader.seen_ms ? say("no_leader", { time: format.clock(leader.seen_ms) }) : say("no_leader_ever");
      return ["no_leader", text, false];
    }
    if (socket.unsynced.length) return ["loading", say("loading", { names: socket.unsynced.join(", ") }), false];
    if (leader?.is_elected && !leader.is_leader) return ["follower", say("follower", { leader: leader.holder }), false];
    const late = this.#lateSource();
    if (late) return ["delayed", `${say("delayed")} ${late[0]} ${format.age(late[1])}`, false];
    if (quietMs > DELAYED_MS) return ["delayed", say("delayed"), true];
    return ["live", say("live"), true];
  }

  #lateSource() {
    const limits = { lease: LEASE_LATE_MS, registration: REGISTRATION_LATE_MS };
    const found = Object.entries(this.socket.sources ?? {}).filter(([name, ms]) => ms > (limits[name] ?? SOURCE_LATE_MS));
    return found.sort((a, b) => b[1] - a[1])[0];
  }

  #banner(state, text) {
    const banner = document.querySelector("[data-banner]");
    if (!banner) return;
    banner.hidden = state !== "disconnected" && state !== "no_leader";
    banner.querySelector("[data-retry]").hidden = state !== "disconnected";
    if (banner.hidden) return;
    const seconds = Math.ceil((this.socket.retryAt - performance.now()) / 1000);
    const retry = state === "disconnected" && seconds > 0 ? ` · ${say("retry_in", { seconds })}` : "";
    banner.classList.toggle("tone-bad", true);
    set(banner, "[data-banner-text]", text + retry);
  }

  #parts() {
    const { socket, root } = this;
    set(root, "[data-part-socket]", socket.state === "live" ? `${say("live")}, ${say("round_trip", { ms: socket.roundTripMs })}` : say(socket.state));
    set(root, "[data-part-rev]", format.number(this.store.since.rev));
    for (const [name, ms] of Object.entries(socket.sources ?? {})) {
      for (const node of document.querySelectorAll(`[data-source="${CSS.escape(name)}"] time`)) {
        node.dataset.at = ms === null ? 0 : socket.sourcesAt - ms;
      }
    }
    if (socket.changedAt) root.querySelector("[data-part-at] time").dataset.at = socket.changedAt;
    const off = Math.abs(socket.clockMs ?? 0) > 2000;
    for (const name of ["clock", "clock-name"]) root.querySelector(`[data-part-${name}]`).hidden = !off;
    if (off) set(root, "[data-part-clock]", `${Math.round(socket.clockMs / 1000)} s`);
  }
}

function set(root, selector, value) {
  const node = root.querySelector(selector);
  if (node && node.textContent !== value) node.textContent = value;
}
