// The words of this page's language, from the block that the server wrote.
import { fill } from "./format.js";

const block = document.getElementById("words");
export const words = block ? JSON.parse(block.textContent) : { ui: {}, problems: {}, causes: {}, states: {} };

export const say = (key, values = {}) => fill(words.ui[key] ?? key, values);
export const cause = (word) => words.causes[word] ?? word;
export const state = (word) => words.states[word] ?? word;

export function problemTitle(problem) {
  const [one, many] = words.problems[problem.key] ?? [problem.key, problem.key];
  const args = { ...problem.args, count: problem.count, names: problem.names.slice(0, 3).join(", ") };
  if (problem.args.cause) args.cause = cause(problem.args.cause);
  return fill(problem.count === 1 ? one : many, args);
}
