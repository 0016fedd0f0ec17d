// Pictures of pages, taken in a browser. `npm run pictures [PROGRAM]` makes the pictures of the guide from the records
// of the tests: the same program makes the same pictures, except the picture of a run in progress.
// `npm run pictures PROGRAM RECORD IMAGE …` makes a picture of each given record, for the studies.

import { linkSync, mkdirSync, utimesSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { type BrowserContextOptions, chromium, type Page } from "playwright-core";
import { pixels, small } from "./png.js";
import { Records } from "./records.js";

const FOLDER = resolve("../docs/images");

/** The width of a picture, in pixels. */
const WIDTH = 1080;

/** The largest height of a study's picture, in pixels. */
const OF_STUDY = 1300;

/** A picture of the beginning of a page. */
interface Picture {
  /** Address of the page. */
  readonly page: string;
  /** Name of the picture's file. */
  readonly image: string;
  /** Largest height of the picture, in pixels. */
  readonly most: number;
  /** Width of the screen, in pixels. */
  readonly width?: number;
  readonly colorScheme?: "dark" | "light";
  /** Waits until the page shows the subject of the picture. */
  readonly ready?: (page: Page) => Promise<unknown>;
}

/** The pictures of records in the guide; `page` is the name of the record. */
const OF_RECORDS: Picture[] = [
  { page: "run", image: "run", most: 830 },
  { page: "run", image: "phone", most: 1130, width: 390 },
  { page: "failed", image: "failed", most: 900 },
  { page: "postgres", image: "dark", most: 960, colorScheme: "dark" },
  { page: "comparison", image: "comparison", most: 900 },
  { page: "sweep", image: "sweep", most: 860 },
  { page: "capacity", image: "capacity", most: 960 },
];

/** The records of the list, the newest first. */
const LISTED = ["failed", "run", "comparison", "sweep", "capacity"];

/** A run whose picture is taken after 45 seconds. */
const LIVE = `duration = 1m
[read]
query = select 1
rate = 200
[write]
query = select 2
rate = 50
`;

const [program = "../target/release/assay", ...studies] = process.argv.slice(2);
const records = new Records(program, "../target/debug/examples/observed");

/** Returns the address of a page that lists some records, in the order of the times of their files. */
async function list(): Promise<string> {
  mkdirSync(records.path("nightly"));
  for (const [place, name] of LISTED.entries()) {
    const file = records.path(`nightly/${name}.assay`);
    linkSync(records.path(`${name}.assay`), file);
    utimesSync(file, 0, 1_000_000 - place);
  }
  return records.served(["serve", "nightly", "--listen", "127.0.0.1:0"]);
}

/** Starts a run in real time, and returns the address of its page. */
async function live(): Promise<string> {
  writeFileSync(records.path("live.ini"), LIVE);
  const url = "sim:mm1?service=2ms&stall=200ms&stall-every=11s";
  return records.served(["run", "live.ini", "--url", url, "--quiet", "--out", "live.assay", "--serve=127.0.0.1:0"]);
}

const isAt = (progress: number) => (page: Page) =>
  page.waitForFunction((least) => (document.querySelector("progress")?.value ?? 0) >= least, progress, {
    timeout: 6e4,
  });

async function ofGuide(): Promise<Picture[]> {
  records.begin([...new Set(OF_RECORDS.map(({ page }) => page))]);
  await records.all();
  const ofRecord = (picture: Picture) => ({ ...picture, page: `file://${records.path(`${picture.page}.html`)}` });
  const pictures: Picture[] = [
    ...OF_RECORDS.map(ofRecord),
    { page: await list(), image: "records", most: 880 },
    { page: await live(), image: "live", most: 700, ready: isAt(0.75) },
  ];
  return pictures.map((picture) => ({ ...picture, image: join(FOLDER, `${picture.image}.png`) }));
}

/** Returns the pictures of studies; the arguments are records and images in turn. */
async function ofStudies(named: string[]): Promise<Picture[]> {
  const pictures: Picture[] = [];
  for (let at = 0; at + 1 < named.length; at += 2) {
    const [record = "", image = ""] = named.slice(at, at + 2);
    const page = records.path(`study-${at}.html`);
    await records.assay(["report", resolve(record), "--html", page]);
    pictures.push({ page: `file://${page}`, image, most: OF_STUDY });
  }
  return pictures;
}

const args = process.getuid?.() === 0 ? ["--no-sandbox"] : [];
const browser = await chromium.launch({ executablePath: process.env["CHROMIUM"] ?? "/usr/bin/chromium", args });

async function take({
  page: address,
  image,
  most,
  width = WIDTH,
  colorScheme = "light",
  ready,
}: Picture): Promise<void> {
  const screen: BrowserContextOptions = { viewport: { width, height: 1000 }, colorScheme };
  const page = await browser.newPage(screen);
  await page.goto(address);
  await ready?.(page);
  const end = await page.evaluate(() => document.getElementById("answer")?.getBoundingClientRect().bottom ?? 0);
  const height = Math.ceil(Math.min(end + 16, most));
  const picture = await page.screenshot({ fullPage: true, clip: { x: 0, y: 0, width, height } });
  await page.close();
  const bytes = small(pixels(picture));
  writeFileSync(image, bytes);
  console.log(`${image}: ${Math.ceil(bytes.length / 1000)} kB`);
}

try {
  for (const picture of await (studies.length > 0 ? ofStudies(studies) : ofGuide())) await take(picture);
} finally {
  await browser.close();
  await records.remove();
}
