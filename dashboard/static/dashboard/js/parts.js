// Parts of a page whose shape changes, not only their numbers: fetched anew as HTML, and put in where they differ.

// One node is small, and a share must show within a second of its binding; lists may hold thousands of rows.
const LEAST_MS = location.pathname.startsWith("/nodes/") ? 600 : 2000;

export class Parts {
  constructor(store) {
    this.doneAt = 0;
    if (!document.querySelector("[data-part]")) return;
    store.listen((name, change) => {
      if (name !== "summary" && name !== "fleet" && !change.seed) this.#later();
    });
  }

  #later() {
    if (this.timer) return;
    const wait = Math.max(200, LEAST_MS - (performance.now() - this.doneAt));
    this.timer = setTimeout(() => this.#fetch(), wait);
  }

  async #fetch() {
    this.timer = null;
    this.doneAt = performance.now();
    try {
      const response = await fetch(location.href, { headers: { Accept: "text/html" } });
      if (!response.ok) return;
      const page = new DOMParser().parseFromString(await response.text(), "text/html");
      for (const part of document.querySelectorAll("[data-part]")) {
        const fresh = page.querySelector(`[data-part="${part.dataset.part}"]`);
        if (fresh && fresh.innerHTML !== part.dataset.last) replace(part, fresh);
      }
    } catch {
      // The chip says that we are disconnected; the next change tries again.
    }
  }
}

/** Put the new content in, and the focus back on the link that had it. */
function replace(part, fresh) {
  const focused = part.contains(document.activeElement) ? document.activeElement.getAttribute("href") : null;
  part.dataset.last = fresh.innerHTML;
  part.replaceChildren(...document.adoptNode(fresh).childNodes);
  if (focused) part.querySelector(`[href="${CSS.escape(focused)}"]`)?.focus();
}
