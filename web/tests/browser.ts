// Tests of the pages of records in a browser: `npm run browser PROGRAM`. All tests use one browser.
// A message on the console, or a request to another site, fails the test of a page.

import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { after, before, test } from "node:test";
import axe from "axe-core";
import { type Browser, type BrowserContextOptions, chromium, type Locator, type Page } from "playwright-core";
import { DRAWN, NAMES, Records } from "./records.js";

const PROGRAM = process.argv[2] ?? "../target/release/assay";
const OBSERVED = process.argv[3] ?? "../target/debug/examples/observed";
const DESKTOP: BrowserContextOptions = { viewport: { width: 1280, height: 900 }, colorScheme: "light" };
const PHONE: BrowserContextOptions = { viewport: { width: 390, height: 844 }, colorScheme: "dark" };

let browser: Browser;
let records: Records;
let live: Promise<void>;

before(async () => {
  records = new Records(PROGRAM, OBSERVED);
  const args = process.getuid?.() === 0 ? ["--no-sandbox"] : [];
  const executablePath = process.env["CHROMIUM"] ?? "/usr/bin/chromium";
  browser = await chromium.launch({ executablePath, args });
  // Other records, and a run in real time, are made while pages are tested.
  records.begin(NAMES);
  live = livePage();
  live.catch(() => {});
});

after(async () => {
  await Promise.allSettled([live, records.all()]);
  await browser?.close();
  for (const line of records.measures) console.log(`measure: ${line}`);
  await records.remove();
});

/** Opens a page and passes it to `use`. Fails if the page writes to the console or requests another address. */
async function opened(address: string, options: BrowserContextOptions, use: (page: Page) => Promise<void>) {
  const context = await browser.newContext(options);
  const page = await context.newPage();
  const complaints: string[] = [];
  page.on("console", (message) => complaints.push(message.text()));
  page.on("pageerror", (error) => complaints.push(error.message));
  page.on("request", (request) => {
    const url = request.url();
    const { origin, protocol } = new URL(url);
    const isOwn = protocol === "file:" ? url === address : origin === new URL(address).origin;
    if (!isOwn && protocol !== "data:") complaints.push(`request of ${url}`);
  });
  try {
    await page.goto(address);
    await use(page);
    assert.deepEqual(complaints, []);
  } finally {
    await context.close();
  }
}

/** Opens the page of a record as soon as the record is made. */
async function shown(name: string, options: BrowserContextOptions, use: (page: Page) => Promise<void>) {
  await records.made(name);
  await opened(`file://${records.path(`${name}.html`)}`, options, use);
}

/** Asserts that axe (a checker of accessibility) finds nothing serious, and that the page fits the screen's width. */
async function isAccessible(page: Page): Promise<void> {
  await page.evaluate(axe.source);
  const { violations } = await page.evaluate(() =>
    (globalThis as unknown as { axe: typeof axe }).axe.run({ resultTypes: ["violations"] }),
  );
  const serious = violations.filter(({ impact }) => impact === "serious" || impact === "critical");
  assert.deepEqual(
    serious.map(({ id, nodes }) => `${id}: ${nodes[0]?.html}`),
    [],
  );
  const [width, room] = await page.evaluate(() => [document.documentElement.scrollWidth, innerWidth]);
  assert.ok((width ?? 0) <= (room ?? 0), `${width} pixels in ${room}`);
}

/** Returns the line of values below each figure over time. */
const readouts = (page: Page): Promise<string[]> =>
  page.locator("figure:has(svg[data-x^=time]) .readout").allTextContents();

/** Returns the paths of all marks of a figure. */
const paths = (page: Page, figure: string): Promise<string[]> =>
  page
    .locator(`${figure} [data-part=marks] path`)
    .evaluateAll((all) => all.map((path) => path.getAttribute("d") ?? ""));

/** Returns the sentence about the limiter in the answer of a run or of an experiment. */
const limiter = (page: Page): Locator =>
  page
    .locator("#answer .lead", { hasText: /limit/i })
    .or(page.locator("#answer dt", { hasText: /^limiter$/ }).locator("+ dd"))
    .first();

/** Records whose first screen is checked. */
const JUDGED = ["run", "hour", "comparison", "suspect", "sweep", "capacity"];

/** The height of a small screen, in pixels. */
const SCREEN = 800;

/** Asserts that the first screen has question, answer, verdict, limiter and the beginning of a figure. */
async function answersAtOnce(page: Page): Promise<void> {
  const parts = { question: page.locator("h1"), answer: page.locator(".answer"), verdict: page.locator(".badge") };
  for (const [part, place] of Object.entries({ ...parts, limiter: limiter(page) })) {
    const box = await place.first().boundingBox();
    assert.ok(box && box.y + box.height <= SCREEN, `${part}: ${JSON.stringify(box)}`);
  }
  const drawing = await page.locator("#answer figure svg[data-plot]").first().boundingBox();
  assert.ok(drawing && drawing.y + 40 <= SCREEN, `figure: ${JSON.stringify(drawing)}`);
}

/** The order is the order in which the records become ready: the week takes longest. */
for (const name of [...NAMES.filter((name) => name !== "week"), "week"]) {
  test(`${name}: figures are drawn, and the page is accessible on a desk and on a phone`, async () => {
    await shown(name, DESKTOP, async (page) => {
      const drawn = await page.evaluate(() =>
        [...document.querySelectorAll("svg[data-plot]")].map((svg) => svg.querySelectorAll("[data-kind] path").length),
      );
      assert.ok(
        drawn.every((marks) => marks > 0),
        `${drawn}`,
      );
      const all = await page.locator("figure").count();
      const silent = await page.locator("figure svg[role=img]:not([data-plot])").allTextContents();
      assert.equal(drawn.length + silent.length, all);
      assert.ok(
        silent.every((text) => /\w+ .*\./.test(text)),
        `an empty figure says why: ${silent}`,
      );
      assert.ok(drawn.length > 0);
      const captions = (await page.locator("figcaption").allTextContents()).filter((caption) => caption !== "");
      const others = captions.filter((caption) => !caption.endsWith(".") || caption.includes(". "));
      assert.deepEqual(others, [], "every caption is one sentence");
      const files = await page
        .locator("figure a.file")
        .evaluateAll((all) => all.map((file) => file.getAttribute("download") ?? ""));
      const missing = DRAWN.get(name)?.filter((figure) => !files.includes(`${figure}.svg`));
      assert.deepEqual(missing, [], `figures without marks in ${name}`);
      if (JUDGED.includes(name)) await answersAtOnce(page);
      await isAccessible(page);
    });
    await shown(name, PHONE, isAccessible);
  });
}

test("a page of an hour has at most 1 MB, and one of a week at most 3 MB", async () => {
  await records.all();
  assert.ok(records.bytes("hour") <= 1e6, `${records.bytes("hour")}`);
  assert.ok(records.bytes("week") <= 3e6, `${records.bytes("week")}`);
});

test("a record of a week with three jobs and all observers has at most 200 MB", async () => {
  await records.all();
  assert.ok(records.size("week") <= 200e6, `${records.size("week")}`);
});

/** Goals for writing a page in seconds of processor time. */
const TO_WRITE: Record<string, number> = { hour: 1, week: 3, comparison: 2, suspect: 2 };

/** Largest allowed multiple of a goal, because the machine of the tests is slow and busy. */
const TOLERANCE = 3;

test("pages are written within three times their goals, in processor time", async () => {
  await records.all();
  for (const [name, goal] of Object.entries(TO_WRITE)) {
    const seconds = records.seconds.get(name) ?? Number.POSITIVE_INFINITY;
    assert.ok(seconds > 0 && seconds <= TOLERANCE * goal, `${name}: ${seconds} s`);
  }
});

test("the page of a database has its statements, loads, side effects and settings", async () => {
  await shown("sqlite", DESKTOP, async (page) => {
    const text = (await page.locator("main").textContent()) ?? "";
    for (const words of ["Examples of read", "result", "Columns of account", "beside [scan]", "journal_mode"]) {
      assert.ok(text.includes(words), words);
    }
  });
});

test("the cursor shows the values of one moment in all figures over time", async () => {
  await shown("hour", DESKTOP, async (page) => {
    const box = await page.locator("svg[data-plot]").first().boundingBox();
    assert.ok(box);
    await page.mouse.move(box.x + box.width / 2, box.y + box.height / 2);
    const texts = await readouts(page);
    assert.ok(texts.length >= 8, `${texts.length}`);
    const moments = new Set(texts.map((text) => /^at (\d+:\d\d):/.exec(text)?.[1]));
    assert.equal(moments.size, 1, texts.join("\n"));
    assert.match(texts[0] ?? "", /read: completed [\d.]+ \([\d.]+ to [\d.]+\), read: offered [\d.]+, write: completed/);
    assert.match(texts[1] ?? "", /p50 1\.\d\d ms, p95 [4-9]\.\d\d ms, p99 [\d.]+ ms, max [\d.]+ ms/);
    await page.mouse.move(2, 2);
    assert.ok((await readouts(page)).every((text) => text === ""));
  });
});

test("dragging shows a part of the run in all figures over time, and a double click all of it", async () => {
  await shown("hour", DESKTOP, async (page) => {
    const box = await page.locator("svg[data-plot]").first().boundingBox();
    assert.ok(box);
    const whole = await paths(page, "#figure-2");
    const [y, from, to] = [box.y + box.height / 2, box.x + box.width * 0.4, box.x + box.width * 0.6];
    await page.mouse.move(from, y);
    await page.mouse.down();
    await page.mouse.move(to, y, { steps: 4 });
    await page.mouse.up();
    const shown = await page.locator(".status").textContent();
    assert.match(shown ?? "", /^Time shown: 2[0-4]:\d\d to 3[4-8]:\d\d$/);
    assert.notDeepEqual(await paths(page, "#figure-2"), whole);
    const ticks = await page.locator("#figure-2 [data-part=x] text").allTextContents();
    assert.ok(ticks.length > 3 && ticks.every((tick) => /^[23]\d:\d\d$/.test(tick)), `${ticks}`);
    await page.mouse.dblclick(from, y);
    assert.deepEqual(await paths(page, "#figure-2"), whole);
    assert.equal(await page.locator("button:visible", { hasText: "whole run" }).count(), 0);
  });
});

test("the keyboard moves the cursor, zooms and goes back", async () => {
  await shown("hour", DESKTOP, async (page) => {
    const whole = await paths(page, "#figure-1");
    const readout = page.locator("#figure-1 .readout");
    await readout.focus();
    const value = async () => Number(await readout.getAttribute("aria-valuenow"));
    await page.keyboard.press("ArrowRight");
    const first = await value();
    await page.keyboard.press("Shift+ArrowRight");
    const further = await value();
    await page.keyboard.press("ArrowLeft");
    assert.ok(first > 0 && (await value()) < further && further > 5 * first, `${first} ${further}`);
    await page.keyboard.press("End");
    assert.ok((await value()) > 3_580);
    assert.match((await readout.getAttribute("aria-valuetext")) ?? "", /^at 59:\d\d: read: completed/);
    await page.keyboard.press("+");
    await page.keyboard.press("+");
    assert.match((await page.locator(".status").textContent()) ?? "", /^Time shown: 4\d:\d\d to (59:5\d|60:00)$/);
    await page.keyboard.press("-");
    await page.keyboard.press("Escape");
    assert.deepEqual(await paths(page, "#figure-1"), whole);
    const reached = new Set<string>();
    for (let step = 0; step < 30; step++) {
      await page.keyboard.press("Tab");
      reached.add(await page.evaluate(() => document.activeElement?.textContent ?? ""));
    }
    assert.ok(reached.has("p99") && reached.has("logarithmic"), [...reached].join(", "));
  });
});

test("a series is hidden by its name in the legend, and its values with it", async () => {
  await shown("hour", DESKTOP, async (page) => {
    const button = page.locator("#figure-2 button", { hasText: "p99" });
    const mark = page.locator("#figure-2 [data-kind=line]").nth(2);
    await button.click();
    assert.equal(await button.getAttribute("aria-pressed"), "false");
    assert.equal(await mark.getAttribute("display"), "none");
    await page.locator("#figure-2 .readout").focus();
    await page.keyboard.press("ArrowRight");
    const text = (await page.locator("#figure-2 .readout").textContent()) ?? "";
    assert.ok(text.includes("p95") && !text.includes("p99"), text);
    await button.press("Space");
    assert.equal(await mark.getAttribute("display"), null);
  });
});

test("the vertical axis is drawn from zero, near the values and logarithmically", async () => {
  await shown("hour", DESKTOP, async (page) => {
    const labels = () => page.locator("#figure-2 [data-part=y] text").allTextContents();
    const title = page.locator("#figure-2 [data-part=title]");
    const [logarithmic, whole] = [await labels(), await paths(page, "#figure-2")];
    const read = async () => {
      await page.locator("#figure-2 .readout").focus();
      return page.locator("#figure-2 .readout").textContent();
    };
    const before = await read();
    await page.locator("#figure-2 button", { hasText: "logarithmic" }).click();
    assert.equal((await labels())[0], "0 ms");
    assert.equal(await title.textContent(), "response time");
    assert.equal(await read(), before, "the values are the same on another axis");
    await page.locator("#figure-2 button", { hasText: "from zero" }).click();
    await page.locator("#figure-2 button", { hasText: "logarithmic" }).click();
    assert.deepEqual([await labels(), await paths(page, "#figure-2")], [logarithmic, whole]);
    const areas = page.locator("figure:has([data-kind=area]) button, figure:has([data-kind=bars]) button");
    assert.ok(!(await areas.allTextContents()).includes("logarithmic"), "areas keep their axis");
  });
});

test("the values at the cursor are those of the figure's own axis", async () => {
  await shown("sweep", DESKTOP, async (page) => {
    await page.locator("#figure-1 .readout").focus();
    await page.keyboard.press("Home");
    const text = (await page.locator("#figure-1 .readout").textContent()) ?? "";
    assert.match(text, /^1\.00: mean (9\d\d|1,0\d\d)/, "one client completes 1,000 requests per second at 1 ms each");
  });
});

test("without scripts the page has its figures, legends and answer", async () => {
  await shown("hour", { ...DESKTOP, javaScriptEnabled: false }, async (page) => {
    assert.equal(await page.locator("button").count(), 0);
    assert.ok((await page.locator("svg[data-plot] [data-part=entry]:visible").count()) > 10);
    assert.ok(await page.locator(".badge").isVisible());
  });
});

test("doubts are unfolded without a script, and printed", async () => {
  await shown("suspect", { ...DESKTOP, javaScriptEnabled: false }, async (page) => {
    const doubt = page.locator("#answer details dd").last();
    assert.ok(!(await doubt.isVisible()));
    await page.locator("#answer summary").click();
    assert.ok(await doubt.isVisible());
    await page.locator("#answer summary").click();
    await page.emulateMedia({ media: "print" });
    assert.ok(await doubt.isVisible());
  });
});

/** The content security policy of Jenkins for the files of a build, and of some wikis. */
const STRICT = "sandbox; default-src 'none'; img-src 'self'; style-src 'self'";

/** The table with the numbers of the answer, and one of its columns, by the name of the record. */
const KEY_TABLES = {
  hour: ["Times of read", "p99"],
  comparison: ["Metrics of slow against plain", "change"],
} as const;

test("where scripts and styles are forbidden, answer, verdict, limiter, numbers and figures stand", async () => {
  await records.all();
  for (const name of ["hour", "comparison"] as const) {
    const context = await browser.newContext(DESKTOP);
    const page = await context.newPage();
    const body = readFileSync(records.path(`${name}.html`));
    const headers = { "content-security-policy": STRICT };
    await page.route("**/*", (route) => route.fulfill({ contentType: "text/html; charset=utf-8", headers, body }));
    await page.goto("http://page.test/");
    assert.ok(await page.locator("h1").isVisible());
    for (const part of [page.locator(".answer"), page.locator(".badge"), limiter(page)]) {
      assert.ok(await part.first().isVisible(), `${name}: ${part}`);
    }
    assert.match((await page.locator(".badge").textContent()) ?? "", /^(VALID|SUSPECT|INVALID)(, \d+ of \d+ runs)?$/);
    const [caption, column] = KEY_TABLES[name];
    const table = page.locator("table").filter({ has: page.locator("caption", { hasText: caption }) });
    assert.ok(await table.locator("th", { hasText: column }).first().isVisible(), `${name}: ${column}`);
    assert.match((await table.locator("tbody tr").first().textContent()) ?? "", /\d/);
    const boxes = await page.locator("svg[data-plot]").evaluateAll((all) => all.map((svg) => svg.clientHeight));
    const least = name === "hour" ? 6 : 1;
    assert.ok(boxes.filter((height) => height > 50).length >= least, `${name}: ${boxes}`);
    await context.close();
  }
});

test("a page prints with its legends and without its controls", async () => {
  await shown("run", DESKTOP, async (page) => {
    await page.emulateMedia({ media: "print" });
    assert.equal(await page.locator(".axis:visible, .readout:visible, nav:visible").count(), 0);
    assert.ok(await page.locator("#figure-1 .tools button").first().isVisible());
    assert.ok((await page.pdf()).length > 20_000);
  });
});

/** Runs in real time, and watches the page of the run until it ends. */
async function livePage() {
  writeFileSync(records.path("live.ini"), "duration = 15s\n[read]\nquery = select 1\nrate = 50\n");
  const args = ["run", "live.ini", "--url", "sim:mm1?service=2ms", "--quiet", "--out", "live.assay"];
  const address = await records.served([...args, "--serve=127.0.0.1:0"]);
  await opened(address, DESKTOP, async (page) => {
    const doing = page.locator("#doing");
    await page.locator("#rows td").first().waitFor();
    const first = await doing.textContent();
    await page.waitForFunction((text) => document.getElementById("doing")?.textContent !== text, first);
    const course = page.locator("#courses figure");
    await course.first().waitFor();
    assert.match((await course.first().textContent()) ?? "", /^\w+: completed per second, last [\d.,]+, at most/);
    const path = () => course.locator("path").nth(1).getAttribute("d");
    const before = await path();
    await page.waitForFunction((d) => document.querySelectorAll("#courses path")[1]?.getAttribute("d") !== d, before);
    assert.equal(await page.locator("#rows th[scope=row] > bdi").count(), 1);
    assert.equal(await course.first().locator("figcaption > bdi").textContent(), "read");
    await isAccessible(page);
    await doing.filter({ hasText: "the run has ended" }).waitFor();
    assert.match((await page.locator("#connection").textContent()) ?? "", /assay report live\.assay/);
  });
}

test("the page of a run that goes on is updated until it ends", () => live);

/** The address of a server of some records. */
let list: Promise<string> | undefined;

/** Starts this server as soon as the records are made, unless it was started before; returns its address. */
function served(): Promise<string> {
  list ??= records.all().then(() => records.served(["serve", records.listed(), "--listen", "127.0.0.1:0"]));
  return list;
}

test("the pages of a server have the same controls", async () => {
  const address = await served();
  await opened(`${address}report/run.assay`, DESKTOP, async (page) => {
    assert.ok((await page.locator("#figure-1 .tools button").count()) > 3);
    await page.locator("#figure-1 .readout").focus();
    assert.match((await page.locator("#figure-1 .readout").textContent()) ?? "", /^at 0/);
  });
  await opened(address, PHONE, isAccessible);
});

test("two single runs are marked in the list and drawn over each other", async () => {
  const address = await served();
  const out = `${records.listed()}/again.assay`;
  const again = ["run", "run.ini", "--virtual", "--quiet", "--seed", "2", "--out", out];
  await records.assay([...again, "--url", "sim:mm1?service=2ms&stall=1s&stall-every=100s"]);
  await opened(address, DESKTOP, async (page) => {
    await page.getByLabel("run.assay as a", { exact: true }).check();
    await page.getByLabel("again.assay as b", { exact: true }).check();
    await page.getByRole("button", { name: "Compare a and b" }).click();
    await page.locator("#figure-1 .readout").waitFor({ state: "attached" });
    const marked = new URL(page.url()).searchParams;
    assert.deepEqual([marked.get("a"), marked.get("b")], ["run.assay", "again.assay"]);
    const titles = await page.locator("figure h3").allTextContents();
    assert.equal(titles[0], "Throughput of both runs: read");
    assert.equal(titles.filter((title) => /of both runs: (read|write|scan)$/.test(title)).length, 9, `${titles}`);
    assert.match((await page.locator("#answer").textContent()) ?? "", /One run against one run is no verdict/);
    const readout = page.locator("#figure-1 .readout");
    await readout.focus();
    await page.keyboard.press("Home");
    assert.match((await readout.textContent()) ?? "", /^at 0.*run\.assay \d+.*again\.assay \d+/);
    await isAccessible(page);
  });
  await opened(`${address}overlay?a=run.assay&b=again.assay`, PHONE, isAccessible);
});

test("a note is added by its form, and found by its tag", async () => {
  const address = await served();
  await opened(address, DESKTOP, async (page) => {
    await page.getByRole("link", { name: "Add a note: failed.assay" }).click();
    await isAccessible(page);
    await page.getByRole("textbox", { name: "Note" }).fill("the #disk was <b>full</b>");
    await page.getByRole("textbox", { name: "Author" }).fill("ann");
    await page.getByRole("button", { name: "Add the note" }).click();
    await page.locator("dd", { hasText: "ann: the #disk was <b>full</b>" }).waitFor();
    await page.getByRole("link", { name: "All records" }).click();
    await page.getByRole("link", { name: "#disk" }).click();
    assert.deepEqual(await page.locator("tbody th").allTextContents(), ["failed.assay"]);
  });
  await opened(`${address}notes/failed.assay`, PHONE, isAccessible);
});

test("records that are not comparable have a page with the reason", async () => {
  const address = await served();
  const context = await browser.newContext(PHONE);
  try {
    const page = await context.newPage();
    const response = await page.goto(`${address}overlay?a=run.assay&b=hour.assay`);
    assert.equal(response?.status(), 409);
    assert.match((await page.locator("#answer").textContent()) ?? "", /Not compared: .*plan/);
    assert.equal(await page.locator("figure h3", { hasText: "of both runs" }).count(), 0);
    await isAccessible(page);
  } finally {
    await context.close();
  }
});

/** Goal for opening and drawing a page, in seconds. */
const TO_OPEN = 1;

/** Returns the time of opening and drawing a page, in seconds. */
async function openedIn(name: string, page: Page): Promise<number> {
  const ready = await page.evaluate(
    () => (performance.getEntriesByType("navigation")[0] as PerformanceNavigationTiming).domComplete,
  );
  const begin = performance.now();
  await page.screenshot();
  const drawn = performance.now() - begin;
  records.measures.push(`${name}: read in ${(ready / 1000).toFixed(2)} s, drawn in ${(drawn / 1000).toFixed(2)} s`);
  assert.ok(ready > 0);
  return (ready + drawn) / 1000;
}

test("pages open and draw within three times their goal", async () => {
  await records.all();
  for (const name of ["hour", "week"]) {
    await shown(name, DESKTOP, async (page) => {
      const seconds = await openedIn(name, page);
      assert.ok(seconds <= TOLERANCE * TO_OPEN, `${name}: ${seconds} s`);
    });
  }
});

/** Goal for writing, opening and drawing the page of an experiment, in seconds. */
const OF_EXPERIMENT = 2;

test("pages of experiments of 24 and 40 runs are written and opened within three times two seconds", async () => {
  await records.all();
  for (const [name, runs] of [
    ["comparison", 24],
    ["suspect", 40],
  ] as const) {
    await shown(name, DESKTOP, async (page) => {
      const table = page.locator("#runs table", { hasText: "Runs, in the order of time" });
      assert.equal(await table.locator("tbody tr").count(), runs);
      const opened = await openedIn(name, page);
      assert.ok(opened <= TOLERANCE * TO_OPEN, `${name}: ${opened} s`);
      const seconds = (records.seconds.get(name) ?? Number.POSITIVE_INFINITY) + opened;
      records.measures.push(`${name}: page of ${runs} runs written and opened in ${seconds.toFixed(2)} s`);
      assert.ok(seconds <= TOLERANCE * OF_EXPERIMENT, `${name}: ${seconds} s`);
    });
  }
});
