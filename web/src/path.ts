// The paths of marks: the points as they are in the page, and the same points on other axes.

export interface Point {
  readonly x: number;
  readonly y: number;
  /** True if an outline begins at this point. */
  readonly isFirst: boolean;
  /** True if an outline is closed at this point. */
  isClosed: boolean;
  /** Relative commands around the point: a symbol, which keeps its size. */
  readonly symbol: string;
}

/**
 * Reads the data of a path. Each outline begins with an absolute `M` and continues with relative `l`, `h` and `v`, or
 * `z`. From the first `m` on, the rest of an outline is the symbol around its point.
 */
export function readPath(data: string): Point[] {
  const points: Point[] = [];
  let [x, y] = [0, 0];
  let begin: [number, number] = [0, 0];
  for (const outline of data.split("M").slice(1)) {
    const symbol = outline.indexOf("m");
    const place = symbol < 0 ? outline : outline.slice(0, symbol);
    const commands = place.match(/[lhvz]|-?\d*\.?\d+/g) ?? [];
    const isNumber = (at: number) => /\d/.test(commands[at] ?? "");
    [x, y] = [Number(commands[0]), Number(commands[1])];
    begin = [x, y];
    points.push({ x, y, isFirst: true, isClosed: false, symbol: symbol < 0 ? "" : outline.slice(symbol) });
    let command = "";
    for (let at = 2; at < commands.length; ) {
      if (!isNumber(at)) command = commands[at++] ?? "";
      const last = points[points.length - 1];
      if (command === "z") {
        if (last) last.isClosed = true;
        [x, y] = begin;
        continue;
      }
      if (command !== "v") x += Number(commands[at++]);
      if (command !== "h") y += Number(commands[at++]);
      points.push({ x, y, isFirst: false, isClosed: false, symbol: "" });
    }
  }
  return points;
}

/** Returns the data of a path after the coordinates of its points have been mapped. */
export function drawPath(points: readonly Point[], x: (x: number) => number, y: (y: number) => number): string {
  const short = (value: number) => String(Math.round(value * 100) / 100);
  return points
    .map((point) => {
      const place = `${point.isFirst ? "M" : "L"}${short(x(point.x))},${short(y(point.y))}`;
      return `${place}${point.symbol}${point.isClosed ? "Z" : ""}`;
    })
    .join("");
}
