// Builds the scripts of pages into the crate that embeds them, and writes the hashes of the scripts and of the style
// into `style.rs`. `node build.mjs --check` writes nothing, and fails if the files in the tree are out of date.

import { createHash } from "node:crypto";
import { readFile, writeFile } from "node:fs/promises";
import { build } from "esbuild";

const FOLDER = new URL("../crates/report/src/html/", import.meta.url);
const POLICY = new URL("style.rs", FOLDER);
const SCRIPTS = [
  { name: "figures.js", source: "FIGURES_SCRIPT_SOURCE", most: 20_000 },
  { name: "live.js", source: "LIVE_SCRIPT_SOURCE", most: 4_000 },
];

/** Returns a policy with the hash of a text in a constant. */
function withHash(policy, constant, text) {
  const hash = createHash("sha256").update(text).digest("base64");
  return policy.replace(new RegExp(`(${constant}: &str = "'sha256-)[^']*`), `$1${hash}`);
}

const isCheck = process.argv.includes("--check");
const kept = await readFile(POLICY, "utf8");
let policy = withHash(kept, "STYLE_SOURCE", await readFile(new URL("style.css", FOLDER)));
const complaints = [];
for (const { name, source, most } of SCRIPTS) {
  const { outputFiles } = await build({
    entryPoints: [name.replace(".js", ".ts")].map((file) => new URL(`src/${file}`, import.meta.url).pathname),
    bundle: true,
    minify: true,
    format: "iife",
    target: "es2022",
    charset: "utf8",
    write: false,
  });
  const text = outputFiles[0].text;
  const size = Buffer.byteLength(text);
  if (size > most) complaints.push(`${name} has ${size} bytes; the most are ${most}`);
  if (/<\/script|<!--/i.test(text)) complaints.push(`${name} would end the element that it is in`);
  policy = withHash(policy, source, text);
  const path = new URL(name, FOLDER);
  if (!isCheck) {
    await writeFile(path, text);
    console.log(`${name}: ${size} bytes`);
  } else if ((await readFile(path, "utf8").catch(() => "")) !== text) {
    complaints.push(`${name} differs from its source: run \`npm run build\``);
  }
}
if (isCheck && policy !== kept) complaints.push("style.rs has other hashes: run `npm run build`");
if (!isCheck) await writeFile(POLICY, policy);
for (const complaint of complaints) console.error(complaint);
process.exitCode = complaints.length > 0 ? 1 : 0;
