// Bundles a test as JavaScript for Node.js 18 or later, and runs it: `node run.mjs tests/unit.test.ts`.

import { spawnSync } from "node:child_process";
import { build } from "esbuild";

const [file, ...rest] = process.argv.slice(2);
const outfile = `out/${file.replace(/^.*\//, "").replace(/\.ts$/, ".mjs")}`;
await build({ entryPoints: [file], outfile, bundle: true, platform: "node", format: "esm", packages: "external" });
process.exitCode = spawnSync(process.execPath, [outfile, ...rest], { stdio: "inherit" }).status ?? 1;
