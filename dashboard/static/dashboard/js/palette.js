// "Go to anything": pages and nodes, found as one types (Ctrl K or /).
import { say } from "./words.js";

const MOST = 12;

export class Palette {
  constructor() {
    this.dialog = document.querySelector("[data-palette-dialog]");
    this.input = document.querySelector("[data-palette-input]");
    this.list = document.querySelector("[data-palette-list]");
    this.nodes = null;
    this.chosen = 0;
    document.querySelector("[data-palette]")?.addEventListener("click", () => this.open());
    this.input.addEventListener("input", () => this.#search());
    this.input.addEventListener("keydown", (event) => this.#key(event));
    this.dialog.addEventListener("click", (event) => {
      if (event.target === this.dialog) this.dialog.close();
    });
  }

  open() {
    this.input.value = "";
    this.dialog.showModal();
    this.#search();
    if (!this.nodes) this.#load();
  }

  async #load() {
    this.nodes = [];
    try {
      const response = await fetch("/api/v1/live/topology");
      if (response.ok) this.nodes = (await response.json()).nodes.name.filter(Boolean);
    } catch {
      this.nodes = null;
    }
    this.#search();
  }

  #search() {
    const query = this.input.value.trim().toLowerCase();
    const pages = [...document.querySelectorAll(".side a")].map((link) => ({ label: link.firstChild.nextSibling?.textContent.trim() || link.textContent.trim(), href: link.href, kind: say("page") }));
    const pod = /^([a-z0-9.-]+)\/([a-z0-9.-]+)$/.exec(query);
    const found = [...pages, ...(this.nodes ?? []).map((name) => ({ label: name, href: `/nodes/${encodeURIComponent(name)}`, kind: say("node") }))]
      .map((entry) => ({ ...entry, rank: rank(entry.label.toLowerCase(), query) }))
      .filter((entry) => entry.rank > 0)
      .sort((a, b) => b.rank - a.rank);
    if (pod) found.unshift({ label: query, href: `/pods/${pod[1]}/${pod[2]}`, kind: "Pod" });
    this.#show(found.slice(0, MOST));
  }

  #show(found) {
    this.chosen = 0;
    this.list.replaceChildren(...found.map((entry, number) => {
      const link = Object.assign(document.createElement("a"), { href: entry.href, textContent: entry.label });
      link.setAttribute("role", "option");
      link.setAttribute("aria-selected", number === 0);
      link.append(Object.assign(document.createElement("span"), { className: "kind", textContent: entry.kind }));
      const item = document.createElement("li");
      item.append(link);
      return item;
    }));
    if (!found.length) this.list.append(Object.assign(document.createElement("li"), { className: "empty", textContent: say("no_match") }));
  }

  #key(event) {
    const links = [...this.list.querySelectorAll("a")];
    if (event.key === "Enter") links[this.chosen]?.click();
    const move = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (!move || !links.length) return;
    event.preventDefault();
    this.chosen = (this.chosen + move + links.length) % links.length;
    links.forEach((link, number) => link.setAttribute("aria-selected", number === this.chosen));
    links[this.chosen].scrollIntoView({ block: "nearest" });
  }
}

/** Letters in order; the start of the name and unbroken runs count more. 0 is no match. */
function rank(label, query) {
  if (!query) return 1;
  if (label.startsWith(query)) return 100 - label.length / 100;
  if (label.includes(query)) return 50 - label.length / 100;
  let at = -1;
  for (const letter of query) {
    at = label.indexOf(letter, at + 1);
    if (at < 0) return 0;
  }
  return 10 - label.length / 100;
}
