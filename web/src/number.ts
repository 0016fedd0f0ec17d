// Formats numbers for readers: three significant digits and a suitable unit, as in the rest of the
// page.

export type Unit = "number" | "ns" | "share" | "change";

/** Formats a number with the given number of decimals, and commas between thousands. */
export function count(value: number, decimals: number): string {
  const [whole = "", rest] = value.toFixed(decimals).split(".");
  const grouped = whole.replace(/\B(?=(\d{3})+$)/g, ",");
  return rest === undefined ? grouped : `${grouped}.${rest}`;
}

/** Returns the power of ten of the first digit, after rounding to three digits. */
function magnitude(value: number): number {
  return Number(value.toExponential(2).split("e")[1]);
}

/** Formats a number with three significant digits, or with all digits before the point if these are more. */
export function significant(value: number): string {
  const sign = value < 0 ? "−" : "";
  const size = Math.abs(value);
  return sign + count(size, size === 0 ? 0 : Math.max(2 - magnitude(size), 0));
}

/** Formats a time that is given in nanoseconds. */
export function time(ns: number): string {
  if (ns === 0) return "0";
  const small: [string, number][] = [
    ["ns", 1],
    ["µs", 1e3],
    ["ms", 1e6],
  ];
  const [unit, size] = small.find(([, size]) => magnitude(ns / size) < 3) ?? ["s", 1e9];
  return unit === "ns" ? `${Math.round(ns)} ns` : `${significant(ns / size)} ${unit}`;
}

/** Formats a value of an axis. */
export function shown(unit: Unit, value: number): string {
  if (unit === "ns") return time(value);
  if (unit === "number") return significant(value);
  return `${unit === "change" && value > 0 ? "+" : ""}${significant(value * 100)} %`;
}

const two = (value: number): string => String(value).padStart(2, "0");

/**
 * Formats a time since the start, in seconds, for an axis that ends at `end`. `step` is the distance to the next tick;
 * it decides whether seconds and tenths of a second are shown.
 */
export function clock(at: number, end: number, step: number): string {
  if (end < 180) return at === 0 ? "0" : `${step < 0.999 ? at.toFixed(1) : Math.round(at)} s`;
  const whole = Math.round(at);
  const [hours, minutes, seconds] = [Math.floor(whole / 3600), Math.floor(whole / 60), whole % 60];
  if (end < 7200) return `${minutes}:${two(seconds)}`;
  const short = `${hours}:${two(minutes % 60)}`;
  return step < 60 ? `${short}:${two(seconds)}` : short;
}
