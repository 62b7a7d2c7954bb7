// The live numbers of a page that is a fake: what a vendor does not count is said, and is neither 0 % nor a dash.
import assert from "node:assert/strict";
import { mock, test } from "node:test";

const WORDS = { ui: { not_counted: "not counted" }, problems: {}, causes: {}, states: {} };

/** As much of an element as the writers touch. */
class Part {
  constructor(dataset = {}, parts = {}) {
    Object.assign(this, { dataset, parts, textContent: "", attributes: {}, classes: new Set() });
    this.classList = {
      add: (name) => this.classes.add(name),
      remove: (name) => this.classes.delete(name),
      toggle: (name, on) => (on ? this.classes.add(name) : this.classes.delete(name)),
    };
  }

  setAttribute(name, value) {
    this.attributes[name] = value;
  }

  querySelector(selector) {
    return this.parts[selector];
  }
}

const percent = new Part({ live: "summary.cores", fmt: "percent" });
const meter = { rect: new Part(), svg: new Part(), ".value": new Part() };
const bar = new Part({ live: "summary.cores", fmt: "bar" }, meter);

mock.timers.enable({ apis: ["setTimeout", "setInterval"] });
globalThis.requestAnimationFrame = (work) => work();
globalThis.document = {
  documentElement: { lang: "en" },
  getElementById: () => ({ textContent: JSON.stringify(WORDS) }),
  querySelector: () => null,
  querySelectorAll: (selector) => (selector === '[data-live^="summary."]' ? [percent, bar] : []),
  dispatchEvent: () => true,
};

const { Binder } = await import("../../../dashboard/static/dashboard/js/bind.js");
const store = { value: () => store.summary, listen: (tell) => (store.tell = tell) };
new Binder(store);

/** Let the summary's cores be this value, and the page draw it. */
function draw(cores) {
  store.summary = { cores };
  store.tell("summary");
  mock.timers.tick(1000);
}

test("a pair is written as percent, and fills its bar", () => {
  draw([1, 4]);
  assert.equal(percent.textContent, "25 %");
  assert.equal(meter[".value"].textContent, "25 %");
  assert.equal(meter.rect.attributes.width, "25%");
  assert.deepEqual(meter.svg.attributes, { "aria-valuenow": 25, "aria-valuetext": "25 %" });
  assert.ok(!bar.classes.has("uncounted"));
});

test("null is what nobody counts: in words, in the meter's too, over an empty bar", () => {
  draw([1, 4]);
  draw(null);
  assert.equal(percent.textContent, "not counted");
  assert.equal(meter[".value"].textContent, "not counted");
  assert.equal(meter.rect.attributes.width, "0%");
  assert.deepEqual(meter.svg.attributes, { "aria-valuenow": 0, "aria-valuetext": "not counted" });
  assert.ok(bar.classes.has("uncounted"));
});

test("what is counted again looks so again; nothing used is 0 %, not uncounted", () => {
  draw(null);
  draw([0, 4]);
  assert.equal(percent.textContent, "0 %");
  assert.equal(meter[".value"].textContent, "0 %");
  assert.ok(!bar.classes.has("uncounted"));
});
