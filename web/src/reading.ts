// Readings: the values of the series of a figure at the cursor.

import type { Point } from "./path.js";

/** A mark whose values are read. */
export interface Series {
  readonly kind: string;
  readonly points: readonly Point[];
}

/**
 * The height of a mark at a place, in pixels from the top of the figure. `low` and `high` are equal for a line; they
 * are the lower and the upper edge of an area.
 */
export interface Height {
  /** Horizontal place of the point, in pixels. */
  readonly at: number;
  readonly low: number;
  readonly high: number;
}

/** Kinds of marks that have a value at each place. */
export const READ = ["line", "steps", "area", "spread"];

/** Largest distance from the cursor at which a point is still read, as a multiple of the median distance of points. */
const REACH = 1.5;

/** Returns the heights of a mark, from left to right. */
export function heights({ kind, points }: Series): Height[] {
  if (kind === "line" || kind === "steps") return points.map(({ x, y }) => ({ at: x, low: y, high: y }));
  // An area has its upper edge first, from left to right, then its lower edge.
  const found: Height[] = [];
  for (let begin = 0; begin < points.length; ) {
    const next = points.findIndex((point, place) => place > begin && point.isFirst);
    const end = next < 0 ? points.length : next;
    for (let place = 0; 2 * place < end - begin - 1; place++) {
      const [upper, lower] = [points[begin + place], points[end - 1 - place]];
      if (upper && lower) found.push({ at: upper.x, high: upper.y, low: lower.y });
    }
    begin = end;
  }
  return found;
}

/** Returns the median distance between two neighbours, in pixels; infinity if there are no two different places. */
export function spacing(places: readonly number[]): number {
  const gaps = places.slice(1).map((place, number) => place - (places[number] ?? place));
  const sorted = gaps.filter((gap) => gap > 0).sort((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? Number.POSITIVE_INFINITY;
}

/**
 * Returns the height that is nearest to a place; `undefined` in a gap. Steps keep their height until the next point, so
 * for them it is the last height at or before the place.
 */
export function heightAt(all: readonly Height[], kind: string, place: number): Height | undefined {
  if (kind === "steps") return all.findLast(({ at }) => at <= place + 1e-6) ?? all[0];
  let nearest = all[0];
  for (const height of all) {
    if (nearest && Math.abs(height.at - place) < Math.abs(nearest.at - place)) nearest = height;
  }
  const reach = REACH * spacing(all.map(({ at }) => at));
  return nearest && Math.abs(nearest.at - place) <= reach ? nearest : undefined;
}
