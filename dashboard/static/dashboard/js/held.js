// What a paused page leaves for later. The server holds changes back, but some are on their way when the reader pauses,
// and lists of nodes never wait. No DOM: tests run it in Node.js.

const MOST_FRAMES = 500;

export class Held {
  #frames = [];
  #overflowed = false;

  get count() {
    return this.#frames.length;
  }

  keep(frame) {
    if (this.#frames.length < MOST_FRAMES) this.#frames.push(frame);
    else this.#overflowed = true;
  }

  /** Give back everything in its order. Too much of it is void: each of `topics` is to be fetched anew. */
  release(topics) {
    const frames = this.#overflowed ? topics.map((topic) => ({ t: "resync", topic, within_ms: 0 })) : this.#frames;
    this.clear();
    return frames;
  }

  clear() {
    this.#frames = [];
    this.#overflowed = false;
  }
}
