"use strict";
(() => {
  const at = (id) => document.getElementById(id);
  const say = (text) => { at("connection").textContent = text; };
  const cell = (text, place) => {
    const made = document.createElement(place === 0 ? "th" : "td");
    made.className = place === 0 ? "text" : "number";
    made.textContent = text;
    return made;
  };
  const source = new EventSource("events");
  source.onopen = () => say("updated while the run goes on");
  source.onerror = () => say("no connection to the run: it has ended, or cannot be reached");
  source.onmessage = (event) => {
    const run = JSON.parse(event.data);
    at("doing").textContent = run.doing;
    at("progress").hidden = run.progress === null;
    at("progress").value = run.progress === null ? 0 : run.progress;
    at("notes").textContent = run.notes.join(" · ");
    at("rows").replaceChildren(...run.rows.map((cells) => {
      const row = document.createElement("tr");
      row.append(...cells.map(cell));
      return row;
    }));
  };
  source.addEventListener("end", (event) => {
    source.close();
    at("doing").textContent = "the run has ended";
    at("progress").hidden = true;
    say(event.data);
  });
})();
