// Commands are copied, never run.
import { say } from "./words.js";

export function copyButtons() {
  document.addEventListener("click", async (event) => {
    const button = event.target.closest("[data-copy]");
    if (!button) return;
    event.preventDefault();
    await copy(button.dataset.copy);
    button.dataset.done = "";
    setTimeout(() => delete button.dataset.done, 1200);
    announce(say("copied"));
  });
}

export async function copy(value) {
  try {
    await navigator.clipboard.writeText(value);
  } catch {
    const area = Object.assign(document.createElement("textarea"), { value, className: "sr" });
    document.body.append(area);
    area.select();
    document.execCommand("copy");
    area.remove();
  }
}

export function announce(sentence) {
  const region = document.querySelector("[data-say]");
  if (region) region.textContent = sentence;
}
