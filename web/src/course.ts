// Small figures for the jobs of a run in progress: throughput and p99 over time, with a value for each second.

import { significant, time } from "./number.js";

type Value = number | null;

/** A job with its completed requests per second and its p99 in nanoseconds. */
interface Course {
  readonly job: string;
  readonly values: readonly [Value[], Value[]];
}

/** Values of all jobs up to an interval, which is the number of a second since time zero (`null` before the first). */
export interface Courses {
  readonly interval: number | null;
  readonly courses: readonly Course[];
}

/** Largest number of seconds that a figure shows, and smallest number that fills its width. */
const MOST = 300;
const FEWEST = 60;

const [WIDTH, HEIGHT] = [300, 60];

const TITLES = ["completed per second", "p99 of the response times"] as const;
const WORDS = [significant, time] as const;

/**
 * Adds the latest values to the earlier ones. Missed seconds become a gap. If the latest interval is earlier, or the
 * number of jobs differs, it belongs to a new run, and the earlier values are dropped.
 */
export function added(all: Courses, latest: Courses): Courses {
  const [from, to] = [all.interval, latest.interval];
  if (to === null || to === from) return all;
  if (from === null || to < from || all.courses.length !== latest.courses.length) return latest;
  const missed = new Array<null>(Math.min(to - from - 1, MOST)).fill(null);
  const join = (before: Value[] = [], now: Value[]) => [...before, ...missed, ...now].slice(-MOST);
  const courses = latest.courses.map(({ job, values: [rate, p99] }, place): Course => {
    const before = all.courses[place]?.values;
    return { job, values: [join(before?.[0], rate), join(before?.[1], p99)] };
  });
  return { interval: to, courses };
}

/** Returns the greatest of the known values; `null` if none is known. */
export function greatest(values: readonly Value[]): Value {
  const known = values.filter((value) => value !== null);
  return known.length > 0 ? Math.max(...known) : null;
}

/**
 * Returns the line through values, the latest at the right, with an axis from zero to the greatest value.
 * Values of a minute or more fill the whole width.
 */
export function line(values: readonly Value[]): string {
  const top = greatest(values) || 1;
  const seconds = Math.max(values.length, FEWEST);
  const [step, left] = [WIDTH / (seconds - 1), seconds - values.length];
  let out = "";
  for (const [place, value] of values.entries()) {
    if (value === null) continue;
    const before = values[place - 1] ?? null;
    const [x, y] = [(left + place) * step, HEIGHT - 2 - (value / top) * (HEIGHT - 4)];
    out += `${before === null ? "M" : "L"}${x.toFixed(1)},${y.toFixed(1)}${before === null ? "h0" : ""}`;
  }
  return out;
}

/** Returns a line as an element. It uses only attributes, because the policy of the page forbids styles. */
function drawn(values: readonly Value[], words: string): SVGSVGElement {
  const made = <T extends "svg" | "path">(name: T, attributes: Record<string, string>) => {
    const element = document.createElementNS("http://www.w3.org/2000/svg", name);
    for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
    return element;
  };
  const svg = made("svg", { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: "img", "aria-label": words });
  const [d, stroke] = [line(values), "currentColor"];
  svg.append(
    made("path", { d: `M0,${HEIGHT - 1}H${WIDTH}`, stroke, "stroke-opacity": ".3" }),
    made("path", { d, stroke, fill: "none", "stroke-linejoin": "round", "stroke-linecap": "round" }),
  );
  return svg;
}

/** Returns the figures of all jobs: throughput and p99 of each. */
export function figures({ courses }: Courses): HTMLElement[] {
  const figure = (job: string, values: readonly Value[], place: 0 | 1) => {
    const words = (value: Value | undefined) => (value === null || value === undefined ? "–" : WORDS[place](value));
    const figure = document.createElement("figure");
    const caption = document.createElement("figcaption");
    const name = document.createElement("bdi");
    name.textContent = job;
    caption.append(name, `: ${TITLES[place]}, last ${words(values.at(-1))}, at most ${words(greatest(values))}`);
    figure.append(caption, drawn(values, caption.textContent ?? ""));
    return figure;
  };
  return courses.flatMap(({ job, values: [rate, p99] }) => [figure(job, rate, 0), figure(job, p99, 1)]);
}
