// What every page starts. The page works without it; this makes it live.
import { Binder } from "./bind.js";
import { Chip } from "./chip.js";
import { announce, copyButtons } from "./copy.js";
import { Keys } from "./keys.js";
import { Palette } from "./palette.js";
import { Parts } from "./parts.js";
import { Socket } from "./socket.js";
import { Store } from "./store.js";
import { say } from "./words.js";

const { body } = document;
const topics = (body.dataset.topics ?? "").split(" ").filter(Boolean);

let socket;
const store = new Store((kind, topic, withinMs) => socket.need(kind, topic, withinMs));
socket = new Socket(store, topics);

new Binder(store);
new Chip(socket, store);
new Parts(store);
copyButtons();

function pause() {
  socket.pause(!socket.paused);
  button?.setAttribute("aria-pressed", socket.paused);
  button?.querySelector("use").setAttribute("href", `/static/dashboard/icons.svg#${socket.paused ? "play" : "pause"}`);
  announce(socket.paused ? say("paused", { count: 0 }) : say("live"));
}

const button = document.querySelector("[data-pause]");
button?.addEventListener("click", pause);
new Keys({ palette: new Palette(), pause });

const THEMES = ["auto", "light", "dark"];
const themeButton = document.querySelector("[data-theme-switch]");

function showTheme() {
  const theme = document.documentElement.dataset.theme ?? "auto";
  const icon = { auto: "globe", light: "sun", dark: "moon" }[theme];
  themeButton?.querySelector("use").setAttribute("href", `/static/dashboard/icons.svg#${icon === "globe" ? "sun" : icon}`);
  document.dispatchEvent(new Event("theme"));
}

themeButton?.addEventListener("click", () => {
  const now = document.documentElement.dataset.theme ?? "auto";
  const next = THEMES[(THEMES.indexOf(now) + 1) % THEMES.length];
  if (next === "auto") delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = next;
  localStorage.setItem("theme", next);
  showTheme();
});
showTheme();

document.querySelector("[data-menu]")?.addEventListener("click", () => {
  const { dataset } = document.documentElement;
  if (dataset.menu) delete dataset.menu;
  else dataset.menu = "open";
});
for (const choice of document.querySelectorAll("[data-submit]")) {
  choice.addEventListener("change", () => choice.form.requestSubmit());
}

store.watch(topics, { epoch: body.dataset.epoch, rev: Number(body.dataset.rev) });
socket.open();

const atlas = document.querySelector("[data-atlas]");
if (atlas) import("./atlas.js").then(({ Atlas }) => new Atlas(atlas, store));

document.addEventListener("visibilitychange", () => {
  if (document.documentElement.hasAttribute("data-kiosk") || socket.paused) return;
  socket.topics = document.hidden ? topics.filter((topic) => topic === "summary") : topics;
  socket.subscribe(socket.topics);
});
performance.mark("live-ready");
