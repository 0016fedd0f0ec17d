// The script of the page of a run in progress: updates the page with each event of the run.

import { added, type Courses, figures } from "./course.js";

interface Run extends Courses {
  readonly doing: string;
  readonly progress: number | null;
  readonly notes: string[];
  readonly rows: string[][];
}

function element(id: string): HTMLElement {
  const found = document.getElementById(id);
  if (!found) throw new Error(`the page has no element ${id}`);
  return found;
}

const progress = element("progress") as HTMLProgressElement;

const say = (text: string): void => {
  element("connection").textContent = text;
};

/** Returns the cell of a name. The writing direction of the name does not affect the text around it. */
function nameCell(text: string): HTMLElement {
  const made = document.createElement("th");
  made.scope = "row";
  made.className = "text";
  const name = document.createElement("bdi");
  name.textContent = text;
  made.append(name);
  return made;
}

function cell(text: string, place: number): HTMLElement {
  if (place === 0) return nameCell(text);
  const made = document.createElement("td");
  made.className = "number";
  made.textContent = text;
  return made;
}

const course = element("courses");
let courses = JSON.parse(course.dataset["soFar"] ?? "") as Courses;
course.replaceChildren(...figures(courses));

const source = new EventSource("events");
source.onopen = () => say("updated while the run goes on");
source.onerror = () => say("no connection to the run: it has ended, or cannot be reached");
source.onmessage = (event: MessageEvent<string>) => {
  const run = JSON.parse(event.data) as Run;
  element("doing").textContent = run.doing;
  progress.hidden = run.progress === null;
  progress.value = run.progress ?? 0;
  element("notes").textContent = run.notes.join(" · ");
  const rows = run.rows.map((cells) => {
    const row = document.createElement("tr");
    row.append(...cells.map(cell));
    return row;
  });
  element("rows").replaceChildren(...rows);
  const now = added(courses, run);
  if (now !== courses) course.replaceChildren(...figures(now));
  courses = now;
};
source.addEventListener("end", (event: MessageEvent<string>) => {
  source.close();
  element("doing").textContent = "the run has ended";
  progress.hidden = true;
  say(event.data);
});
