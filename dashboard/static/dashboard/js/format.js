// Numbers to what a person reads; the twin of dashboard/presenters.py.

export const UNKNOWN = "—";
const GIB = 1024;

const language = globalThis.document?.documentElement.lang || "en";
const whole = new Intl.NumberFormat(language, { maximumFractionDigits: 0 });
const tenth = new Intl.NumberFormat(language, { minimumFractionDigits: 1, maximumFractionDigits: 1 });

export const number = (value) => (value === null || value === undefined ? UNKNOWN : whole.format(value));
export const tenths = (value) => (value === null || value === undefined ? UNKNOWN : tenth.format(value));
export const pair = (value) => (value ? `${number(value[0])}/${number(value[1])}` : UNKNOWN);
export const total = (value) => (value ? number(value[1]) : UNKNOWN);

export function percent(value) {
  if (!value || !value[1]) return UNKNOWN;
  return `${Math.round((value[0] * 100) / value[1])} %`;
}

export function ratio(value) {
  if (!value || !value[1]) return 0;
  return Math.max(0, Math.min(100, Math.round((value[0] * 100) / value[1])));
}

/** The step of the usage ramp: 0 for nothing, then 1 to 10 for each started tenth. */
export function step(used, of) {
  if (!of || used <= 0) return 0;
  return Math.max(1, Math.min(10, Math.ceil((used * 10) / of - 1e-9)));
}

export function gib(mib) {
  const value = mib / GIB;
  return value < 100 ? tenth.format(value) : whole.format(value);
}

export function memory(mib) {
  if (mib === null || mib === undefined) return UNKNOWN;
  return mib >= GIB * GIB ? `${tenth.format(mib / GIB / GIB)} TiB` : `${gib(mib)} GiB`;
}

export function age(ms) {
  if (ms >= 86400000) return `${Math.floor(ms / 86400000)} d`;
  if (ms >= 3600000) return `${Math.floor(ms / 3600000)} h`;
  if (ms >= 60000) return `${Math.floor(ms / 60000)} min`;
  return `${Math.floor(Math.max(ms, 0) / 1000)} s`;
}

export const clock = (ms) => new Date(ms).toLocaleTimeString(language, { hour12: false });

/** Put arguments into a pattern; they are data and never read as a pattern. */
export const fill = (pattern, values) => pattern.replace(/\{(\w+)\}/g, (_, name) => values[name] ?? "");
