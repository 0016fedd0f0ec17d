// Pictures of pages: `npm run pictures [PROGRAM]` makes the pictures of the guide, from the records
// of the tests in a browser, so the same program makes the same pictures.
// `npm run pictures PROGRAM RECORD IMAGE …` makes one of each record, for the studies.

import { join, resolve } from "node:path";
import { chromium } from "playwright-core";
import { Records } from "./records.js";

const FOLDER = resolve("../docs/images");

/** Pages, and the height of each that is shown, in pixels. */
const PICTURES = { run: 830, comparison: 1000, sweep: 780, capacity: 1000 };

/** The same of a study's page. */
const OF_STUDY = 1300;

/** A page, the image of its first screen, and the largest height of the image, in pixels. */
interface Picture {
  readonly page: string;
  readonly image: string;
  readonly most: number;
}

const [program = "../target/release/assay", ...studies] = process.argv.slice(2);
const records = new Records(program, "../target/debug/examples/observed");

async function ofGuide(): Promise<Picture[]> {
  records.begin(Object.keys(PICTURES));
  await records.all();
  const picture = ([name, most]: [string, number]) => {
    return { page: records.path(`${name}.html`), image: join(FOLDER, `${name}.png`), most };
  };
  return Object.entries(PICTURES).map(picture);
}

/** The pages of records, given with their images in turn. */
async function ofStudies(named: string[]): Promise<Picture[]> {
  const pictures: Picture[] = [];
  for (let at = 0; at + 1 < named.length; at += 2) {
    const [record = "", image = ""] = named.slice(at, at + 2);
    const page = records.path(`study-${at}.html`);
    await records.assay(["report", resolve(record), "--html", page]);
    pictures.push({ page, image, most: OF_STUDY });
  }
  return pictures;
}

const args = process.getuid?.() === 0 ? ["--no-sandbox"] : [];
const browser = await chromium.launch({ executablePath: process.env["CHROMIUM"] ?? "/usr/bin/chromium", args });
try {
  const pictures = await (studies.length > 0 ? ofStudies(studies) : ofGuide());
  const page = await browser.newPage({ viewport: { width: 1080, height: 1000 }, colorScheme: "light" });
  for (const { page: file, image, most } of pictures) {
    await page.goto(`file://${file}`);
    const end = await page.evaluate(() => document.getElementById("answer")?.getBoundingClientRect().bottom ?? 0);
    const height = Math.ceil(Math.min(end + 16, most));
    await page.screenshot({ path: image, fullPage: true, clip: { x: 0, y: 0, width: 1080, height } });
    console.log(image);
  }
} finally {
  await browser.close();
  records.remove();
}
