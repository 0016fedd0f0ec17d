// Pictures of pages for the guide: `npm run pictures PROGRAM`. The records are those of the tests in a browser, so that
// the same program makes the same pictures.

import { resolve } from "node:path";
import { chromium } from "playwright-core";
import { Records } from "./records.js";

const FOLDER = resolve("../docs/images");

/** Pages, and the most of each that is shown, in pixels. */
const PICTURES = { run: 830, comparison: 1000, sweep: 780, capacity: 1000 };

const records = new Records(process.argv[2] ?? "../target/release/assay");
const args = process.getuid?.() === 0 ? ["--no-sandbox"] : [];
const browser = await chromium.launch({ executablePath: process.env["CHROMIUM"] ?? "/usr/bin/chromium", args });
try {
  await records.make(Object.keys(PICTURES));
  const page = await browser.newPage({ viewport: { width: 1080, height: 1000 }, colorScheme: "light" });
  for (const [name, most] of Object.entries(PICTURES)) {
    await page.goto(`file://${records.path(`${name}.html`)}`);
    const end = await page.evaluate(() => document.getElementById("answer")?.getBoundingClientRect().bottom ?? 0);
    const height = Math.ceil(Math.min(end + 16, most));
    await page.screenshot({ path: `${FOLDER}/${name}.png`, fullPage: true, clip: { x: 0, y: 0, width: 1080, height } });
    console.log(`${FOLDER}/${name}.png`);
  }
} finally {
  await browser.close();
  records.remove();
}
