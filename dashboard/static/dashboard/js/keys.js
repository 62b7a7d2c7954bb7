// The keyboard: pages by `g` and a letter, rows by j and k. Single letters can be switched off (WCAG 2.1.4).
import { copy, announce } from "./copy.js";
import { say } from "./words.js";

const PAGES = { o: "/", p: "/pending", f: "/fleet", n: "/nodes", q: "/quotas", d: "/decisions", c: "/scheduler" };
const SECOND_KEY_MS = 1200;

export class Keys {
  constructor({ palette, pause }) {
    this.palette = palette;
    this.pause = pause;
    this.goUntil = 0;
    this.help = document.querySelector("[data-help-dialog]");
    const choice = document.querySelector("[data-keys-switch]");
    choice.checked = localStorage.getItem("keys") !== "off";
    choice.addEventListener("change", () => localStorage.setItem("keys", choice.checked ? "on" : "off"));
    document.addEventListener("keydown", (event) => this.#key(event));
    this.help.addEventListener("click", (event) => {
      if (event.target === this.help) this.help.close();
    });
  }

  #key(event) {
    if ((event.ctrlKey || event.metaKey) && event.key.toLowerCase() === "k") {
      event.preventDefault();
      this.palette.open();
      return;
    }
    if (event.ctrlKey || event.metaKey || event.altKey || isTyping(event.target)) return;
    if (localStorage.getItem("keys") === "off" || document.querySelector("dialog[open]")) return;
    if (performance.now() < this.goUntil && PAGES[event.key]) {
      location.assign(PAGES[event.key]);
      return;
    }
    this.goUntil = 0;
    this.#single(event);
  }

  #single(event) {
    const actions = {
      "/": () => this.palette.open(),
      "?": () => this.help.showModal(),
      g: () => (this.goUntil = performance.now() + SECOND_KEY_MS),
      p: () => this.pause(),
      j: () => walk(1),
      k: () => walk(-1),
      c: () => copyRow(),
    };
    if (!actions[event.key]) return;
    event.preventDefault();
    actions[event.key]();
  }
}

function isTyping(node) {
  return node.closest?.("input, select, textarea, [contenteditable]") !== null;
}

const rows = () => [...document.querySelectorAll("[data-walk] tbody tr[data-id], .problem, a.row.wait")];
const current = () => rows().findIndex((row) => row.contains(document.activeElement));

/** Move the focus to the next row's first link; Enter then opens it, as it does everywhere. */
function walk(by) {
  const all = rows();
  if (!all.length) return;
  const at = current();
  const next = all[Math.max(0, Math.min(all.length - 1, at < 0 ? 0 : at + by))];
  (next.matches("a") ? next : next.querySelector("a"))?.focus();
}

async function copyRow() {
  const button = rows()[current()]?.querySelector("[data-copy]:not([hidden])") ?? document.querySelector("[data-copy]:not([hidden])");
  if (!button) return;
  await copy(button.dataset.copy);
  announce(say("copied"));
}
