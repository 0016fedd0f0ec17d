// One figure of the page: its axes and marks, read from its attributes, and the same marks on other
// axes.

import { type Axis, linear, logarithmic, placeOf, readAxis, ticks, valueAt } from "./axis.js";
import { clock, shown } from "./number.js";
import { drawPath, type Point, readPath } from "./path.js";
import { type Height, heightAt, heights, READ } from "./reading.js";

const SVG = "http://www.w3.org/2000/svg";

/** Kinds of marks that keep their meaning on a logarithmic axis, and on an axis that does not begin at zero. */
const MOVABLE = ["line", "steps", "spread", "dots", "symbols", "error-bars", "rule", "level", "period", "text"];

/** Kinds of marks whose value may be beyond the axis if they touch its end. */
const CUT = ["symbols", "error-bars", "dots"];

/** Length of a tick without a label, in pixels. */
const MINOR = 4;

/** A way to draw the vertical axis. */
export type AxisMode = "zero" | "fit" | "log";

interface Mark {
  readonly group: SVGGElement;
  readonly kind: string;
  readonly entry: number;
  readonly paths: { readonly element: Element; readonly data: string; readonly points: Point[] }[];
  readonly heights: Height[];
}

/** A value at the cursor. */
export interface Reading {
  readonly entry: number;
  readonly text: string;
  /** Place of the value in the figure as it is drawn, in pixels; `undefined` for an area or a spread. */
  readonly at: [number, number] | undefined;
}

/** Creates an element of SVG. */
export function made(name: string, attributes: Record<string, string | number>): SVGElement {
  const element = document.createElementNS(SVG, name) as SVGElement;
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, String(value));
  return element;
}

export class Plot {
  readonly left: number;
  readonly top: number;
  readonly right: number;
  readonly bottom: number;
  readonly x: Axis;
  readonly y: Axis;
  /** Entries of the legend: their elements and their texts; empty if the figure has no legend. */
  readonly entries: readonly { readonly group: Element; readonly name: string }[];
  readonly hidden = new Set<number>();
  readonly firstMode: AxisMode;
  mode: AxisMode;
  /** The part of the horizontal axis that is drawn. */
  shownX: Axis;
  private shownY: Axis;
  private readonly marks: Mark[];
  private readonly original: Map<string, Node[]>;
  private readonly title: string;

  constructor(readonly svg: SVGSVGElement) {
    const edges = (svg.dataset["plot"] ?? "").split(" ").map(Number);
    [this.left = 0, this.top = 0, this.right = 0, this.bottom = 0] = edges;
    this.x = readAxis(svg.dataset["x"] ?? "");
    this.y = readAxis(svg.dataset["y"] ?? "");
    this.shownX = this.x;
    this.shownY = this.y;
    this.firstMode = this.y.scale === "log" ? "log" : this.y.from === 0 ? "zero" : "fit";
    this.mode = this.firstMode;
    const entries = [...svg.querySelectorAll('[data-part="entry"]')];
    this.entries = entries.map((group) => ({ group, name: group.querySelector("text")?.textContent ?? "" }));
    this.marks = [...svg.querySelectorAll<SVGGElement>("[data-kind]")].map(readMark);
    this.original = new Map(["x", "y"].map((part) => [part, [...(this.part(part)?.childNodes ?? [])]]));
    this.title = this.part("title")?.textContent ?? "";
    this.clip();
  }

  private part(name: string): Element | null {
    return this.svg.querySelector(`[data-part="${name}"]`);
  }

  /** Adds the clip path that cuts marks at the edges of the plot while a part of an axis is drawn. */
  private clip(): void {
    const id = `${this.svg.getAttribute("aria-labelledby")?.split(" ")[0]}-clip`;
    const clip = made("clipPath", { id });
    const [width, height] = [this.right - this.left, this.bottom - this.top];
    clip.append(made("rect", { x: this.left, y: this.top, width, height }));
    this.svg.append(clip);
    this.svg.dataset["clip"] = `url(#${id})`;
  }

  /** True if the vertical axis can be drawn in other modes without a change of meaning. */
  get isMovable(): boolean {
    // The lower end of a logarithmic axis stands for zero and for every value below the axis.
    const last = this.y.scale === "log" ? this.bottom - 0.02 : Number.POSITIVE_INFINITY;
    const isOutside = ({ y }: Point) => y <= this.top + 0.02 || y >= last;
    const isCut = (mark: Mark) => CUT.includes(mark.kind) && mark.paths.some(({ points }) => points.some(isOutside));
    const isKnown = this.y.scale === "linear" || this.y.scale === "log";
    return (
      isKnown &&
      this.y.from >= 0 &&
      this.y.unit !== "change" &&
      this.marks.some(({ kind }) => READ.includes(kind)) &&
      this.marks.every((mark) => MOVABLE.includes(mark.kind) && !isCut(mark))
    );
  }

  /** Returns true if an entry of the legend has marks; entries without marks explain a symbol. */
  hasMarks(entry: number): boolean {
    return this.marks.some((mark) => mark.entry === entry);
  }

  /** The horizontal places of the values, in pixels of the whole figure, in order. */
  get places(): number[] {
    const all = this.marks
      .filter(({ kind }) => READ.includes(kind))
      .flatMap((mark) => mark.heights.map(({ at }) => at));
    return [...new Set(all)].sort((a, b) => a - b);
  }

  /** Returns the value of the horizontal axis at a place of the whole figure. */
  valueOfX(place: number): number {
    return valueAt(this.x, (place - this.left) / (this.right - this.left));
  }

  /** Returns the place of a value of the horizontal axis, in the whole figure. */
  placeOfX(value: number): number {
    return this.left + placeOf(this.x, value) * (this.right - this.left);
  }

  /** Returns the place at which a place of the whole figure is drawn now. */
  drawnX(place: number): number {
    if (this.shownX === this.x) return place;
    return this.left + placeOf(this.shownX, this.valueOfX(place)) * (this.right - this.left);
  }

  /** Returns the place of the whole figure that is drawn now at the given place. */
  wholeX(drawn: number): number {
    return this.placeOfX(valueAt(this.shownX, (drawn - this.left) / (this.right - this.left)));
  }

  private valueOfY(place: number): number {
    return valueAt(this.y, (this.bottom - place) / (this.bottom - this.top));
  }

  private drawnY(place: number): number {
    if (this.shownY === this.y) return place;
    const value = this.valueOfY(place);
    const drawn = this.shownY.scale === "log" && value <= 0 ? -1 : placeOf(this.shownY, value);
    // Marks far beyond the plot are moved nearer: browsers do not draw very large coordinates.
    return this.bottom - Math.min(Math.max(drawn, -1), 2) * (this.bottom - this.top);
  }

  /** Hides a series or shows it again; returns true if it is now hidden. */
  toggle(entry: number): boolean {
    const isHidden = !this.hidden.delete(entry);
    if (isHidden) this.hidden.add(entry);
    for (const mark of this.marks.filter((mark) => mark.entry === entry)) {
      if (isHidden) mark.group.setAttribute("display", "none");
      else mark.group.removeAttribute("display");
    }
    if (this.mode === "fit") this.draw();
    return isHidden;
  }

  /** Returns the values of the visible series within the part of the time that is drawn. */
  private values(): number[] {
    const isShown = ({ at }: Height) => this.drawnX(at) >= this.left - 0.01 && this.drawnX(at) <= this.right + 0.01;
    return this.marks
      .filter(({ kind, entry }) => READ.includes(kind) && !this.hidden.has(entry))
      .flatMap((mark) => mark.heights.filter(isShown))
      .flatMap(({ low, high }) => [this.valueOfY(low), this.valueOfY(high)]);
  }

  private axis(): Axis {
    if (this.mode === this.firstMode) return this.y;
    const values = this.values();
    const [low, high] = [Math.min(...values), Math.max(...values)];
    if (values.length === 0) return this.y;
    if (this.mode === "zero") return linear(this.y.unit, 0, high);
    if (this.mode === "fit") return linear(this.y.unit, low, high);
    // A value within the lowest tenth of a pixel may be zero: the figure cannot show more.
    const least = this.valueOfY(this.bottom - 0.05);
    const positive = values.filter((value) => value > least);
    return positive.length === 0 ? this.y : logarithmic(this.y.unit, Math.min(...positive), high);
  }

  /** Draws the marks on the chosen axes. */
  draw(): void {
    this.shownY = this.axis();
    const isWhole = this.shownX === this.x && this.shownY === this.y;
    const marks = this.part("marks");
    if (isWhole) marks?.removeAttribute("clip-path");
    else marks?.setAttribute("clip-path", this.svg.dataset["clip"] ?? "");
    for (const { element, data, points } of this.marks.flatMap((mark) => mark.paths)) {
      const [x, y] = [(at: number) => this.drawnX(at), (at: number) => this.drawnY(at)];
      element.setAttribute("d", isWhole ? data : drawPath(points, x, y));
    }
    for (const label of this.svg.querySelectorAll<SVGGElement>("[data-at-x],[data-at-y]")) this.move(label);
    this.drawTicks("x", this.x, this.shownX);
    this.drawTicks("y", this.y, this.shownY);
    const title = this.part("title")?.firstElementChild;
    const name = this.title.replace(/, logarithmic$/, "");
    if (title) title.textContent = this.shownY.scale === "log" ? `${name}, logarithmic` : name;
  }

  private move(label: SVGGElement): void {
    const { atX, atY } = label.dataset;
    const [x, y] = [Number(atX ?? this.left), Number(atY ?? this.top)];
    const [toX, toY] = [atX ? this.drawnX(x) : x, atY ? this.drawnY(y) : y];
    const isInside =
      toX >= this.left - 0.1 && toX <= this.right + 0.1 && toY >= this.top - 0.1 && toY <= this.bottom + 0.1;
    label.setAttribute("transform", `translate(${(toX - x).toFixed(2)} ${(toY - y).toFixed(2)})`);
    if (isInside) label.removeAttribute("display");
    else label.setAttribute("display", "none");
  }

  private drawTicks(part: "x" | "y", whole: Axis, axis: Axis): void {
    const group = this.part(part);
    if (axis === whole) {
      group?.replaceChildren(...(this.original.get(part) ?? []));
      return;
    }
    const isX = part === "x";
    const all = ticks(axis).flatMap(({ at, label }) => {
      const place = placeOf(axis, at);
      const x = this.left + place * (this.right - this.left);
      const y = this.bottom - place * (this.bottom - this.top);
      if (label === "") {
        const minor = isX ? `M${x} ${this.bottom}v-${MINOR}` : `M${this.left} ${y}h${MINOR}`;
        return [made("path", { d: minor, stroke: "currentColor", "stroke-opacity": 0.4 })];
      }
      const path = isX ? `M${x} ${this.top}V${this.bottom}` : `M${this.left} ${y}H${this.right}`;
      const text = isX
        ? made("text", { x, y: this.bottom + 18, "text-anchor": "middle" })
        : made("text", { x: this.left - 6, y: y + 4, "text-anchor": "end" });
      text.textContent = label;
      return [made("path", { d: path, stroke: "currentColor", "stroke-opacity": 0.14 }), text];
    });
    group?.replaceChildren(...all);
  }

  /** Returns the values of the visible series at a place of the whole figure. */
  readings(place: number): Reading[] {
    const found: Reading[] = [];
    for (const mark of this.marks.filter(({ kind, entry }) => READ.includes(kind) && !this.hidden.has(entry))) {
      const height = heightAt(mark.heights, mark.kind, place);
      if (height) this.read(found, mark, height);
    }
    // The spread of a line is reported after its value.
    return found.sort((a, b) => a.entry - b.entry || Number(a.at === undefined) - Number(b.at === undefined));
  }

  private read(found: Reading[], { kind, entry }: Mark, { at, low, high }: Height): void {
    const unit = this.y.unit;
    const [from, to] = [this.valueOfY(low), this.valueOfY(high)].map((value) => this.rounded(value)) as [
      number,
      number,
    ];
    if (kind === "spread") {
      found.push({ entry, text: `(${shown(unit, from)} to ${shown(unit, to)})`, at: undefined });
    } else if (kind === "area") {
      found.push({ entry, text: shown(unit, this.rounded(to - from)), at: undefined });
    } else {
      found.push({ entry, text: shown(unit, to), at: [this.drawnX(at), this.drawnY(high)] });
    }
  }

  /** Rounds a value of a linear axis to the resolution of a hundredth of a pixel. */
  private rounded(value: number): number {
    if (this.y.scale !== "linear") return value;
    const part = (this.y.to - this.y.from) / (this.bottom - this.top) / 100;
    const power = 10 ** Math.floor(Math.log10(part));
    return Number((Math.round(value / power) * power).toPrecision(12));
  }

  /** Formats the value of the horizontal axis at a place of the whole figure. */
  textOfX(place: number): string {
    const value = this.valueOfX(place);
    if (this.x.scale === "time") return clock(value, this.x.to, (this.shownX.to - this.shownX.from) / 400);
    if (this.x.scale !== "tail") return shown(this.x.unit, value);
    const nines = Math.max(0, Math.ceil(-Math.log10(1 - value)) - 1);
    return `${(value * 100).toFixed(nines)} %`;
  }
}

function readMark(group: SVGGElement): Mark {
  const kind = group.dataset["kind"] ?? "";
  const paths = [...group.querySelectorAll("path")].map((element) => {
    const data = element.getAttribute("d") ?? "";
    return { element, data, points: readPath(data) };
  });
  const points = READ.includes(kind) ? paths.flatMap((path) => path.points) : [];
  return { group, kind, entry: Number(group.dataset["entry"] ?? -1), paths, heights: heights({ kind, points }) };
}
