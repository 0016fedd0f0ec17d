// Axes: the places of values, and ticks at round numbers. The rules are those of the program that
// draws the figures of the page, so an axis drawn here looks like the original one.

import { clock, count, time, type Unit } from "./number.js";

export type Scale = "linear" | "log" | "ratio" | "tail" | "time" | "names";

export interface Axis {
  readonly scale: Scale;
  readonly unit: Unit;
  /** Value at the left or lower end. */
  readonly from: number;
  readonly to: number;
}

export interface Tick {
  readonly at: number;
  /** Empty between labelled ticks of a logarithmic axis. */
  readonly label: string;
}

/** Reads an axis from an attribute of a figure, which has its scale, its unit and the values at its ends. */
export function readAxis(text: string): Axis {
  const [scale, unit, from, to] = text.split(" ");
  return { scale: scale as Scale, unit: unit as Unit, from: Number(from), to: Number(to) };
}

function straight(scale: Scale, value: number): number {
  if (scale === "log") return Math.log(value);
  if (scale === "ratio") return Math.log1p(value);
  return scale === "tail" ? -Math.log(1 - value) : value;
}

function unstraight(scale: Scale, value: number): number {
  if (scale === "log") return Math.exp(value);
  if (scale === "ratio") return Math.expm1(value);
  return scale === "tail" ? 1 - Math.exp(-value) : value;
}

/** Returns the place of a value as a fraction of the axis: below 0 or above 1 for a value beyond the ends. */
export function placeOf(axis: Axis, value: number): number {
  const [from, to] = [straight(axis.scale, axis.from), straight(axis.scale, axis.to)];
  return (straight(axis.scale, value) - from) / (to - from);
}

/** Returns the value at a fraction of the axis. */
export function valueAt(axis: Axis, place: number): number {
  const [from, to] = [straight(axis.scale, axis.from), straight(axis.scale, axis.to)];
  return unstraight(axis.scale, from + place * (to - from));
}

/** Steps of a time axis, in seconds. */
const SECONDS = [
  0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 30, 60, 120, 300, 600, 1200, 1800, 3600, 7200, 14400, 21600, 43200, 86400, 172800,
  432000, 864000,
];

function step(length: number, parts: number): number {
  const least = length / parts;
  const power = 10 ** Math.floor(Math.log10(least));
  return [1, 2, 5].map((factor) => factor * power).find((size) => size >= least * 0.8) ?? 10 * power;
}

/** Returns a linear axis between round numbers that enclose a range. */
export function linear(unit: Unit, low: number, high: number): Axis {
  const to = high > low ? high : low + Math.max(Math.abs(low), 1);
  const size = step(to - low, 5);
  return {
    scale: "linear",
    unit,
    from: Math.floor(low / size) * size,
    to: Math.ceil(to / size - 1e-9) * size,
  };
}

/** Returns the exponents of the powers of ten that enclose a range of positive numbers. */
function powersAround(low: number, high: number): [number, number] {
  const first = Math.floor(Math.log10(low) + 1e-9);
  return [first, Math.max(Math.ceil(Math.log10(high) - 1e-9), first + 1)];
}

/** Returns the numbers 1, 2 and 5 times a power of ten in and just around a range of positive numbers. */
function steps(low: number, high: number): number[] {
  const [first, last] = powersAround(low, high);
  const powers = Array.from({ length: last - first + 1 }, (_, place) => first + place);
  const all = powers.flatMap((power) => [1, 2, 5].map((factor) => factor * 10 ** power));
  const from = Math.max(
    all.findLastIndex((at) => at <= low * (1 + 1e-9)),
    0,
  );
  const to = all.findIndex((at) => at >= high * (1 - 1e-9));
  return all.slice(from, Math.max(to < 0 ? all.length - 1 : to, from + 1) + 1);
}

/** Returns a logarithmic axis that encloses a range of positive numbers. */
export function logarithmic(unit: Unit, low: number, high: number): Axis {
  const all = steps(low, high);
  return { scale: "log", unit, from: all[0] ?? low, to: all[all.length - 1] ?? high };
}

export function ticks(axis: Axis): Tick[] {
  if (axis.scale === "time") return ticksOfTime(axis);
  if (axis.scale === "log") return ticksOfLogarithm(axis);
  const size = step(axis.to - axis.from, 5);
  const first = Math.ceil(axis.from / size - 1e-9);
  const last = Math.floor(axis.to / size + 1e-9);
  const label = labels(axis.unit, Math.max(Math.abs(axis.from), Math.abs(axis.to)), size);
  return Array.from({ length: last - first + 1 }, (_, place) => (first + place) * size).map((at) => ({
    at,
    label: label(at),
  }));
}

/** Returns a formatter of values with one unit and one number of decimals. */
function labels(unit: Unit, highest: number, size: number): (value: number) => string {
  const [divisor, suffix] = sizeOf(unit, highest);
  const decimals = Math.min(Math.max(-Math.floor(Math.log10(size / divisor) + 1e-9), 0), 9);
  return (value) => {
    const digits = count(Math.abs(value / divisor), decimals);
    const isZero = /^[0.]*$/.test(digits);
    const sign = isZero ? "" : value < 0 ? "−" : unit === "change" ? "+" : "";
    return `${sign}${digits}${suffix}`;
  };
}

function sizeOf(unit: Unit, highest: number): [number, string] {
  if (unit === "ns") {
    if (highest >= 1e9) return [1e9, " s"];
    if (highest >= 1e6) return [1e6, " ms"];
    return highest >= 1e3 ? [1e3, " µs"] : [1, " ns"];
  }
  if (unit !== "number") return [0.01, " %"];
  if (highest >= 1e10) return [1e9, " G"];
  if (highest >= 1e7) return [1e6, " M"];
  return highest >= 1e5 ? [1e3, " k"] : [1, ""];
}

/** Largest number of decades of an axis on which every power of ten has a label. */
const MOST_POWERS = 7;

/** Returns the factors at which each power of ten has a tick, each with true if the tick has a label. */
function factors(decades: number, stride: number): [number, boolean][] {
  const few: [number, boolean][] = [[1, true], [2, true], [5, true]]; // biome-ignore format: short
  const some: [number, boolean][] = [[1, true], [2, false], [3, true], [5, false]]; // biome-ignore format: short
  if (decades <= 2.5) return few;
  if (decades <= 4.2) return some;
  return stride === 1 ? few.map(([factor]) => [factor, factor === 1]) : [[1, true]];
}

function ticksOfLogarithm(axis: Axis): Tick[] {
  const [first, last] = powersAround(axis.from, axis.to);
  const stride = Math.floor((last - first) / (MOST_POWERS + 1)) + 1;
  const chosen = factors(Math.log10(axis.to / axis.from), stride);
  const label = (at: number) =>
    axis.unit === "ns"
      ? time(at)
          .replace(/(\.\d*?)0+ /, "$1 ")
          .replace(". ", " ")
      : labels(axis.unit, at, Math.min(at, 1e4))(at);
  return Array.from({ length: last - first + 1 }, (_, place) => place)
    .flatMap((place) =>
      chosen.map(([factor, hasLabel]) => {
        const at = factor * 10 ** (first + place);
        return { at, label: hasLabel && place % stride === 0 ? label(at) : "" };
      }),
    )
    .filter(({ at }) => at >= axis.from * (1 - 1e-9) && at <= axis.to * (1 + 1e-9));
}

function ticksOfTime(axis: Axis): Tick[] {
  const length = axis.to - axis.from;
  const size = SECONDS.find((size) => length / size <= 7) ?? 864000 * 10 ** Math.ceil(Math.log10(length / 6048000));
  const first = Math.ceil(axis.from / size - 1e-9);
  const last = Math.floor(axis.to / size + 1e-9);
  return Array.from({ length: last - first + 1 }, (_, place) => (first + place) * size).map((at) => ({
    at,
    label: clock(at, axis.to, size),
  }));
}
