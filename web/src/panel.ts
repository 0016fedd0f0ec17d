// The controls around one figure: its legend as buttons, the toggles of its axis, and the values at
// the cursor.

import { type AxisMode, made, Plot } from "./plot.js";
import { spacing } from "./reading.js";

/**
 * A receiver of events from the controls. All figures over time share the cursor and the part of the time that is
 * shown. Places are in pixels of the whole figure: the figure before a part of the time was chosen.
 */
export interface Listener {
  /** Moves the cursor to a place of the whole figure; the place is `undefined` if the pointer has left the figure. */
  cursor(panel: Panel, place: number | undefined): void;
  /** Draws only the part of the time between two places of the whole figure. */
  zoom(panel: Panel, from: number, to: number): void;
  /** Draws the whole run. */
  reset(): void;
}

/** Number of points that the cursor moves by a large step of the keyboard. */
const LARGE = 10;

/** Shortest pointer movement that counts as a drag, in pixels of the figure. */
const DRAG = 5;

function button(text: string, className: string, isPressed?: boolean): HTMLButtonElement {
  const made = document.createElement("button");
  made.type = "button";
  made.className = className;
  made.textContent = text;
  if (isPressed !== undefined) made.setAttribute("aria-pressed", String(isPressed));
  return made;
}

export class Panel {
  readonly plot: Plot;
  readonly isTime: boolean;
  private readonly line: SVGElement;
  private readonly dots: SVGElement;
  private readonly selection: SVGElement;
  private readonly readout: HTMLElement;
  private readonly whole: HTMLButtonElement;
  private readonly title: string;
  private at: number | undefined;

  constructor(
    readonly svg: SVGSVGElement,
    private readonly listener: Listener,
  ) {
    this.plot = new Plot(svg);
    this.isTime = this.plot.x.scale === "time";
    this.title = svg.querySelector("title")?.textContent ?? "";
    const { top, bottom } = this.plot;
    this.line = made("path", { stroke: "currentColor", "stroke-opacity": 0.7, "pointer-events": "none" });
    this.dots = made("path", { stroke: "currentColor", "stroke-width": 5, "stroke-linecap": "round" });
    this.selection = made("rect", { y: top, height: bottom - top, width: 0, "fill-opacity": 0.15, display: "none" });
    svg.append(this.selection, this.line, this.dots);
    this.whole = button("whole run", "axis");
    this.whole.onclick = () => listener.reset();
    this.readout = document.createElement("p");
    const tools = this.tools();
    if (tools.childElementCount > 0) svg.before(tools);
    if (this.plot.x.scale !== "names" && this.plot.places.length > 0) this.addCursor();
    if (this.isTime) this.addDrag();
  }

  private tools(): HTMLElement {
    const tools = document.createElement("div");
    tools.className = "tools";
    tools.setAttribute("role", "group");
    tools.setAttribute("aria-label", `Series and axes: ${this.title}`);
    const entries = this.plot.entries.map((_, entry) => this.series(entry));
    tools.append(...entries, ...(this.plot.isMovable ? [this.axes()] : []));
    this.cutLegend();
    return tools;
  }

  /** Returns the button that hides a series, with a sample of its line. */
  private series(entry: number): HTMLElement {
    const { group, name } = this.plot.entries[entry] ?? { group: this.svg, name: "" };
    const hasMarks = this.plot.hasMarks(entry);
    const made = hasMarks ? button("", "", true) : document.createElement("span");
    const sample = document.createElementNS("http://www.w3.org/2000/svg", "svg");
    const text = group.querySelector("text");
    const left = Number(text?.getAttribute("x")) - 35;
    sample.setAttribute("viewBox", `${left} ${Number(text?.getAttribute("y")) - 12} 30 16`);
    sample.setAttribute("aria-hidden", "true");
    sample.append(...[...group.children].filter((child) => child !== text).map((child) => child.cloneNode(true)));
    const label = document.createElement("bdi");
    label.textContent = name;
    made.append(sample, label);
    if (hasMarks) {
      made.onclick = () => {
        made.setAttribute("aria-pressed", String(!this.plot.toggle(entry)));
        this.show(this.at);
      };
    }
    return made;
  }

  /** Removes the legend from the picture, because the buttons replace it. */
  private cutLegend(): void {
    const texts = this.plot.entries.map(({ group }) => Number(group.querySelector("text")?.getAttribute("y")));
    if (texts.length === 0) return;
    const cut = Math.max(...texts) + 4;
    for (const { group } of this.plot.entries) group.setAttribute("display", "none");
    const { width, height } = this.svg.viewBox.baseVal;
    this.svg.setAttribute("viewBox", `0 ${cut} ${width} ${height - cut}`);
    this.svg.setAttribute("height", String(height - cut));
  }

  /** Returns the buttons of the vertical axis, which stay on one line. */
  private axes(): HTMLElement {
    const axes = document.createElement("span");
    axes.className = "axes";
    const zero = button("from zero", "axis", this.plot.mode === "zero");
    const log = button("logarithmic", "axis", this.plot.mode === "log");
    const choose = (mode: AxisMode) => {
      this.plot.mode = mode;
      zero.setAttribute("aria-pressed", String(mode === "zero"));
      log.setAttribute("aria-pressed", String(mode === "log"));
      this.plot.draw();
      this.show(this.at);
    };
    zero.onclick = () => choose(this.plot.mode === "zero" ? "fit" : "zero");
    log.onclick = () => choose(this.plot.mode === "log" ? "zero" : "log");
    axes.append(zero, log);
    return axes;
  }

  private addCursor(): void {
    const { readout, svg } = this;
    readout.className = "readout";
    readout.tabIndex = 0;
    readout.setAttribute("role", "slider");
    readout.setAttribute("aria-label", `Cursor: ${this.title}`);
    readout.setAttribute("aria-keyshortcuts", this.isTime ? "ArrowLeft ArrowRight + - 0" : "ArrowLeft ArrowRight");
    this.describe("no cursor");
    svg.after(readout);
    readout.onkeydown = (event) => {
      if (!event.ctrlKey && !event.metaKey && !event.altKey && this.key(event.key, event.shiftKey)) {
        event.preventDefault();
      }
    };
    readout.onfocus = () => {
      const first = this.plot.wholeX(this.plot.left);
      const begin = this.plot.places.find((place) => place >= first - 1e-6);
      if (this.at === undefined) this.listener.cursor(this, begin ?? first);
    };
    svg.onpointermove = (event) => this.listener.cursor(this, this.plot.wholeX(this.place(event)));
    svg.onpointerleave = () => {
      if (document.activeElement !== readout) this.listener.cursor(this, undefined);
    };
  }

  /** Returns the horizontal place of a pointer within the plot, in pixels of the figure. */
  private place(event: PointerEvent): number {
    const box = this.svg.getBoundingClientRect();
    const place = ((event.clientX - box.left) / box.width) * this.svg.viewBox.baseVal.width;
    return Math.min(Math.max(place, this.plot.left), this.plot.right);
  }

  private addDrag(): void {
    const { svg, selection } = this;
    let begin: number | undefined;
    // Dragging over the plot selects a time, not text.
    svg.onmousedown = (event) => event.preventDefault();
    svg.onpointerdown = (event) => {
      if (event.button !== 0) return;
      begin = this.place(event);
      svg.setPointerCapture(event.pointerId);
    };
    svg.addEventListener("pointermove", (event) => {
      if (begin === undefined) return;
      const [from, to] = [begin, this.place(event)].sort((a, b) => a - b) as [number, number];
      selection.setAttribute("x", String(from));
      selection.setAttribute("width", String(to - from));
      selection.removeAttribute("display");
    });
    const end = (event: PointerEvent, isDone: boolean) => {
      const [from, to] = [begin ?? 0, this.place(event)].sort((a, b) => a - b) as [number, number];
      const isDrag = begin !== undefined && isDone && to - from >= DRAG;
      begin = undefined;
      selection.setAttribute("display", "none");
      if (isDrag) this.listener.zoom(this, this.plot.wholeX(from), this.plot.wholeX(to));
    };
    svg.onpointerup = (event) => end(event, true);
    svg.onpointercancel = (event) => end(event, false);
    svg.ondblclick = () => this.listener.reset();
  }

  /** Handles a key; returns false if the key has no function. */
  private key(key: string, isShift: boolean): boolean {
    const { plot, listener } = this;
    const [from, to] = [plot.wholeX(plot.left), plot.wholeX(plot.right)];
    const at = this.at ?? from;
    const zoom = (factor: number) => listener.zoom(this, at - (at - from) * factor, at + (to - at) * factor);
    const moves: Record<string, number> = {
      ArrowLeft: isShift ? -LARGE : -1,
      ArrowRight: isShift ? LARGE : 1,
      PageDown: -LARGE,
      PageUp: LARGE,
      Home: Number.NEGATIVE_INFINITY,
      End: Number.POSITIVE_INFINITY,
    };
    const move = moves[key];
    if (move !== undefined) listener.cursor(this, this.neighbour(at, move));
    else if (this.isTime && (key === "+" || key === "=")) zoom(0.5);
    else if (this.isTime && (key === "-" || key === "_")) zoom(2);
    else if (this.isTime && (key === "0" || key === "Escape")) listener.reset();
    else return false;
    return true;
  }

  /** Returns the place that is `move` points to the right (if negative: to the left), in pixels of the whole figure. */
  private neighbour(at: number, move: number): number {
    const { places } = this.plot;
    if (!Number.isFinite(move)) return (move < 0 ? places[0] : places[places.length - 1]) ?? at;
    const next =
      move > 0 ? places.findIndex((place) => place > at + 1e-6) : places.findLastIndex((it) => it < at - 1e-6);
    if (next < 0) return at;
    const further = next + move - Math.sign(move);
    return places[Math.min(Math.max(further, 0), places.length - 1)] ?? at;
  }

  /** Draws a part of the time, given in seconds. */
  drawTime(from: number, to: number): void {
    const { plot } = this;
    const isWhole = from <= plot.x.from && to >= plot.x.to;
    plot.shownX = isWhole ? plot.x : { ...plot.x, from, to };
    // The button is below the drawing: above it, it would move the figure away from the pointer when
    // it appears.
    if (isWhole) this.whole.remove();
    else this.svg.parentElement?.querySelector(".file")?.before(this.whole);
    plot.draw();
    this.show(this.at);
  }

  /** Returns the shortest part of the time that can be chosen, in seconds: four times the usual distance of points. */
  get shortest(): number {
    const { plot } = this;
    const gap = spacing(plot.places);
    return Number.isFinite(gap) ? 4 * (plot.valueOfX(plot.left + gap) - plot.valueOfX(plot.left)) : 0;
  }

  /** Shows the cursor and the values at a place of the whole figure. */
  show(at: number | undefined): void {
    this.at = at;
    const { plot } = this;
    const x = at === undefined ? -1 : plot.drawnX(at);
    if (at === undefined || x < plot.left - 0.1 || x > plot.right + 0.1) {
      this.line.removeAttribute("d");
      this.dots.removeAttribute("d");
      this.describe(at === undefined ? "no cursor" : "beyond the figure");
      return;
    }
    const readings = plot.readings(at);
    const dots = readings.flatMap(({ at }) => (at && at[1] <= plot.bottom + 0.1 ? [`M${at[0]},${at[1]}h0`] : []));
    this.line.setAttribute("d", `M${x},${plot.top}V${plot.bottom}`);
    this.dots.setAttribute("d", dots.join(""));
    const texts = readings.map(({ entry, text }, place) => {
      const isSame = place > 0 && readings[place - 1]?.entry === entry;
      const name = isSame ? "" : `${plot.entries[entry]?.name ?? ""} `;
      return `${place === 0 ? "" : isSame ? " " : ", "}${name}${text}`;
    });
    const prefix = this.isTime ? "at " : "";
    this.describe(`${prefix}${plot.textOfX(at)}: ${texts.join("").trim() || "no value"}`);
  }

  private describe(text: string): void {
    const { plot, readout } = this;
    const value = this.at === undefined ? plot.x.from : plot.valueOfX(this.at);
    const [from, to] = [plot.x.from, plot.x.to].sort((a, b) => a - b);
    readout.setAttribute("aria-valuemin", String(from));
    readout.setAttribute("aria-valuemax", String(to));
    readout.setAttribute("aria-valuenow", String(value));
    readout.setAttribute("aria-valuetext", text);
    readout.textContent = this.at === undefined ? "" : text;
    // The readout keeps the height of its tallest text so far, so nothing below moves with the cursor.
    readout.style.minHeight = `${readout.offsetHeight}px`;
  }
}
