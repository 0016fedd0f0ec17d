// Tests of the parts of the scripts that need no page.

import assert from "node:assert/strict";
import { test } from "node:test";
import { type Axis, linear, logarithmic, placeOf, readAxis, ticks, valueAt } from "../src/axis.js";
import { added, type Courses, greatest, line } from "../src/course.js";
import { clock, shown, significant, time } from "../src/number.js";
import { drawPath, readPath } from "../src/path.js";
import { heightAt, heights, spacing } from "../src/reading.js";
import { pixels, small } from "./png.js";

const labels = (axis: Axis): string[] =>
  ticks(axis)
    .map(({ label }) => label)
    .filter((label) => label !== "");

test("numbers have three digits and the unit that suits them", () => {
  assert.deepEqual([0, 7, 945_400, 1_399_999, 999_500_000, 3.6e12].map(time), [
    "0",
    "7 ns",
    "945 µs",
    "1.40 ms",
    "1.00 s",
    "3,600 s",
  ]);
  assert.deepEqual([0, 1_234.4, 0.01234, 12.34, -4.1].map(significant), ["0", "1,234", "0.0123", "12.3", "−4.10"]);
  assert.equal(shown("share", 0.162), "16.2 %");
  assert.equal(shown("change", 0.162), "+16.2 %");
});

test("times since the start have the form of their axis", () => {
  assert.equal(clock(12.34, 60, 0.1), "12.3 s");
  assert.equal(clock(754.6, 3_600, 10), "12:35");
  assert.equal(clock(90_061, 604_800, 10), "25:01:01");
  assert.equal(clock(90_061, 604_800, 60), "25:01");
});

test("places and values of every scale are inverses", () => {
  const axes = ["linear number 5 25", "log ns 1000 5000000", "ratio change -0.5 19", "tail share 0 0.9999"];
  for (const text of [...axes, "time number 0 3600"]) {
    const axis = readAxis(text);
    for (const place of [0, 0.25, 0.5, 1]) {
      assert.ok(Math.abs(placeOf(axis, valueAt(axis, place)) - place) < 1e-9, `${text} at ${place}`);
    }
  }
  assert.ok(Math.abs(placeOf(readAxis("tail share 0 0.9999"), 0.99) - 0.5) < 1e-9);
  assert.ok(Math.abs(placeOf(readAxis("ratio change -0.5 1"), 0) - 0.5) < 1e-9);
});

test("axes have the ticks of the painter", () => {
  assert.deepEqual(labels(linear("number", 0, 2_345)), ["0", "500", "1,000", "1,500", "2,000", "2,500"]);
  assert.deepEqual(labels(linear("ns", 0, 4.1e6)), ["0 ms", "1 ms", "2 ms", "3 ms", "4 ms", "5 ms"]);
  assert.deepEqual(labels(linear("share", 0, 0.011)), ["0.0 %", "0.2 %", "0.4 %", "0.6 %", "0.8 %", "1.0 %", "1.2 %"]);
  const hour = readAxis("time number 0 3600");
  assert.deepEqual(labels(hour), ["0:00", "10:00", "20:00", "30:00", "40:00", "50:00", "60:00"]);
  assert.deepEqual(labels({ ...hour, from: 1_805, to: 1_920 }), ["30:20", "30:40", "31:00", "31:20", "31:40", "32:00"]);
});

test("a logarithmic axis has the labels of the painter between powers of ten", () => {
  const check = (low: number, high: number, expected: string) =>
    assert.equal(labels(logarithmic("ns", low, high)).join(", "), expected);
  check(4.1e6, 66.9e6, "2 ms, 5 ms, 10 ms, 20 ms, 50 ms, 100 ms");
  check(220e3, 48e6, "200 µs, 500 µs, 1 ms, 2 ms, 5 ms, 10 ms, 20 ms, 50 ms");
  check(120e3, 80e6, "100 µs, 300 µs, 1 ms, 3 ms, 10 ms, 30 ms, 100 ms");
  check(1e3, 1e9, "1 µs, 10 µs, 100 µs, 1 ms, 10 ms, 100 ms, 1 s");
  check(1.1e6, 6e6, "1 ms, 2 ms, 5 ms, 10 ms");
  assert.equal(ticks(logarithmic("ns", 1e3, 1e9)).length, 7 + 6 * 2);
  const wide = logarithmic("number", 1, 1e10);
  assert.deepEqual([labels(wide).length, ticks(wide).length], [6, 11]);
  assert.deepEqual(labels(logarithmic("share", 0.002, 0.3)), [
    "0.2 %",
    "0.5 %",
    "1 %",
    "2 %",
    "5 %",
    "10 %",
    "20 %",
    "50 %",
  ]);
});

test("a path is read as the points that were written", () => {
  const points = readPath("M10,20l.5-2.25,1.5,.25h1v-9M0,0h0");
  const places = points.map(({ x, y }) => [x, y]);
  assert.deepEqual(places, [[10, 20], [10.5, 17.75], [12, 18], [13, 18], [13, 9], [0, 0], [0, 0]]); // biome-ignore format: pairs
  assert.deepEqual(points.map(({ isFirst }) => isFirst), [true, false, false, false, false, true, false]); // biome-ignore format: short
  assert.equal(drawPath(readPath("M1,5h2v4h-2z"), (x) => 2 * x, (y) => y), "M2,5L6,5L6,9L2,9Z"); // biome-ignore format: short
});

test("a symbol keeps its size on another axis", () => {
  const disc = "m-3.5,0a3.5,3.5,0,1,0,7,0z";
  assert.equal(drawPath(readPath(`M10,20${disc}`), (x) => 2 * x, (y) => y / 2), `M20,10${disc}`); // biome-ignore format: short
  const lone = "m0,0h0m-1.5,0a1.5,1.5,0,1,0,3,0a1.5,1.5,0,1,0-3,0z";
  const path = `M0,1l1,1M10,20${lone}M30,40h5`;
  assert.equal(drawPath(readPath(path), (x) => x, (y) => y), `M0,1L1,2M10,20${lone}M30,40L35,40`); // biome-ignore format: short
});

test("the value of a line is that of the nearest point, and a gap has none", () => {
  const line = heights({ kind: "line", points: readPath("M0,10l1,1,1,1M10,5l1,1") });
  assert.equal(spacing(line.map(({ at }) => at)), 1);
  assert.equal(heightAt(line, "line", 1.2)?.low, 11);
  assert.equal(heightAt(line, "line", 6), undefined);
});

test("steps keep their value up to the next one", () => {
  const steps = heights({ kind: "steps", points: readPath("M0,10h5v-4h5") });
  assert.equal(heightAt(steps, "steps", 4.9)?.low, 10);
  assert.equal(heightAt(steps, "steps", 5.1)?.low, 6);
});

test("an area has a lower and an upper edge", () => {
  const area = heights({ kind: "area", points: readPath("M0,1l1,1v7l-1,1zM5,3v2z") });
  assert.deepEqual(area, [
    { at: 0, high: 1, low: 10 },
    { at: 1, high: 2, low: 9 },
    { at: 5, high: 3, low: 5 },
  ]);
});

const courses = (interval: number | null, rate: (number | null)[], p99: (number | null)[] = []): Courses => {
  return { interval, courses: [{ job: "read", values: [rate, p99] }] };
};

test("each second is added once, a missed one is a gap, and another run begins anew", () => {
  const first = courses(7, [10, 12], [1, null]);
  assert.equal(added(first, courses(7, [12])), first);
  assert.equal(added(first, courses(null, [])), first);
  assert.deepEqual(added(first, courses(8, [11], [2])), courses(8, [10, 12, 11], [1, null, 2]));
  assert.deepEqual(
    added(first, courses(10, [11], [2])),
    courses(10, [10, 12, null, null, 11], [1, null, null, null, 2]),
  );
  assert.deepEqual(added(first, courses(0, [9])), courses(0, [9]));
  assert.deepEqual(added(courses(null, []), courses(0, [9])), courses(0, [9]));
  const long = added(courses(299, new Array<number>(300).fill(1)), courses(300, [2]));
  assert.deepEqual([long.courses[0]?.values[0].length, long.courses[0]?.values[0].at(-1)], [300, 2]);
});

test("the greatest of no known values is unknown", () => {
  assert.equal(greatest([null, 0, 3, null]), 3);
  assert.equal(greatest([0, null]), 0);
  assert.equal(greatest([null, null]), null);
});

test("a course is drawn from zero to its greatest value, with gaps", () => {
  assert.equal(line([]), "");
  assert.equal(line([5]), "M300.0,2.0h0");
  assert.equal(line([0, 10, null, 5]), "M284.7,58.0h0L289.8,2.0M300.0,30.0h0");
  assert.ok(!line([0, 0]).includes("NaN"));
  for (const seconds of [60, 61, 300]) assert.match(line(new Array(seconds).fill(1)), /^M0\.0,2\.0h0L.*L300\.0,2\.0$/);
});

test("a picture of few colours is read as it was written, and one of many keeps those that are unlike others", () => {
  const picture = (colours: number[]) => ({ width: colours.length / 2, height: 2, colours: Uint32Array.from(colours) });
  const few = picture([0xffffff, 0x1a1a1a, 0x004080, 0xffffff, 0x1a1a1a, 0x000001]);
  assert.deepEqual(pixels(small(few)), few);
  const shades = Array.from({ length: 400 }, (_, place) => (place >> 1) * 0x10001 + ((place & 1) << 8));
  const { colours } = pixels(small(picture([...shades, ...shades, 0x00a000, 0x00a000])));
  assert.deepEqual([...colours.slice(-2)], [0x00a000, 0x00a000]);
  assert.equal(new Set(colours).size, 256);
  assert.ok(shades.every((shade, place) => Math.abs(shade - (colours[place] ?? 0)) <= 0x10101));
});
