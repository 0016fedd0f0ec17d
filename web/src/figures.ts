// The script of pages with figures. The page has all its content without the script. The script adds
// a cursor over all figures of one run, zooms into a part of the time, hides series and changes the
// vertical axis. It makes no network connection.

import { clock } from "./number.js";
import { type Listener, Panel } from "./panel.js";

const panels: Panel[] = [];

/** Announces changes to screen readers. */
const status = document.createElement("p");
status.className = "status";
status.setAttribute("role", "status");

const times = () => panels.filter((panel) => panel.isTime);

const listener: Listener = {
  cursor(panel, place) {
    const value = place === undefined ? undefined : panel.plot.valueOfX(place);
    for (const other of panel.isTime ? times() : [panel]) {
      other.show(value === undefined ? undefined : other === panel ? place : other.plot.placeOfX(value));
    }
  },
  zoom(panel, from, to) {
    const { plot } = panel;
    const ends = [plot.valueOfX(from), plot.valueOfX(to)];
    let [begin = 0, end = 0] = ends;
    const middle = (begin + end) / 2;
    if (end - begin < panel.shortest) {
      [begin, end] = [middle - panel.shortest / 2, middle + panel.shortest / 2];
    }
    const length = Math.min(end - begin, plot.x.to - plot.x.from);
    begin = Math.min(Math.max(begin, plot.x.from), plot.x.to - length);
    drawTime(begin, begin + length);
  },
  reset() {
    const [first] = times();
    if (first) drawTime(first.plot.x.from, first.plot.x.to);
  },
};

function drawTime(from: number, to: number): void {
  for (const panel of times()) panel.drawTime(from, to);
  const end = times()[0]?.plot.x.to ?? to;
  const [begin, last] = [from, to].map((at) => clock(at, end, (to - from) / 400));
  status.textContent = `Time shown: ${begin} to ${last}`;
}

for (const svg of document.querySelectorAll<SVGSVGElement>("svg[data-plot]")) panels.push(new Panel(svg, listener));
document.body.append(status);
