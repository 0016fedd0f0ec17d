// Records for the tests in a browser, and their pages. Most are made in virtual time, one of SQLite in
// real time; one of PostgreSQL is a file of the repository.

import { type ChildProcess, execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, linkSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { gunzipSync } from "node:zlib";

const THREE_JOBS = (length: string, rate: number, think: string) => `duration = ${length}
warmup = 1m
[read]
query = select 1
rate = ${rate}
[write]
query = select 2
rate = ${rate / 2}
[scan]
query = select 3
concurrency = 1
think = exp(${think})
`;

const CLOSED = (url: string, length: string) =>
  `url = sim:${url}\nduration = ${length}\n[read]\nquery = select 1\nconcurrency = 2\n`;

const COMPARISON = (ask: string, workload: string, rounds: number) => `[question]
ask = ${ask}
workload = ${workload}
bet = throughput(read) -40% .. -10%
rounds = ${rounds}
[arm plain]
[arm slow]
option.service = 1.25ms
`;

const SQLITE = `duration = 5s
warmup = 1s
[setup]
query = create table account (id integer primary key, balance integer)
[load account]
rows = 6M
columns = id: row(), balance: uniform(0, 1000)
[read]
query = select balance from account where id = \${uniform(1, 20000)}
rate = 200
[write]
query = update account set balance = balance + 1 where id = \${uniform(1, 20000)}
rate = 50
[scan]
query = select sum(balance) from account
concurrency = 1
start = 2s
stop = 4s
`;

/** Instructions for making a record. */
interface Recipe {
  readonly name: string;
  /** Texts of the files by their names; the first file is run. `undefined` if the record is in the repository. */
  readonly files?: Record<string, string>;
  readonly more?: string[];
  /** True if samples of all observers are added to the record: a run in virtual time has none. */
  readonly isObserved?: boolean;
  /** True if the run is in real time. */
  readonly isReal?: boolean;
  /** Names of the figures of its page that must have marks. */
  readonly drawn: readonly string[];
}

/** A record of PostgreSQL with waits, disks and two processors, compressed. */
const POSTGRES = "../crates/cli/tests/fixtures/records-v1/postgres.assay.gz";

const ofJobs = (jobs: string[]): string[] =>
  ["response", "percentiles", "histogram", "heat-map", "time-parts"].flatMap((name) =>
    jobs.map((job) => `${name}.${job}`),
  );

const MM1 = ["--url", "sim:mm1?service=2ms"];

/** The figures of a run of three jobs in virtual time. */
const OF_THREE_JOBS = ["throughput", ...ofJobs(["read", "write", "scan"]), "queue"];

/** The figures of a server and its machine. */
const OF_SERVER = ["cpu", "waits", "processors", "disk-bytes", "disk-operations", "disk-use", "network"];

/** A run in which, with some seeds, no request is due. */
const SHORT = "duration = 1s\n[read]\nquery = select 1\nrate = 1\nstart = 900ms\n";

/** A name of a job that is longer than file names may be. */
const LONG_NAME = "balance_of_accounts_".repeat(5);

/** The records; the ones that take longest come first. */
const RECIPES: Recipe[] = [
  {
    name: "week",
    files: { "week.ini": THREE_JOBS("168h", 0.2, "10s") },
    more: MM1,
    isObserved: true,
    drawn: [...OF_THREE_JOBS, ...OF_SERVER],
  },
  {
    name: "hour",
    files: { "hour.ini": THREE_JOBS("1h", 20, "100ms") },
    more: MM1,
    isObserved: true,
    drawn: [...OF_THREE_JOBS, ...OF_SERVER],
  },
  {
    name: "run",
    files: { "run.ini": THREE_JOBS("5m", 100, "20ms") },
    more: ["--url", "sim:mm1?service=2ms&stall=1s&stall-every=100s"],
    drawn: OF_THREE_JOBS,
  },
  {
    name: "failed",
    files: { "over.ini": "duration = 20s\n[over]\nquery = select 1\nrate = 700\n" },
    more: ["--url", "sim:mm1?service=2ms&outage=5s..8s"],
    // The rate exceeds the capacity, so response times are withheld.
    drawn: ["throughput", "queue", "errors"],
  },
  {
    name: "long-name",
    files: { "long.ini": `duration = 5s\n[${LONG_NAME}]\nquery = select 1\nrate = 100\n` },
    more: MM1,
    drawn: [
      "throughput",
      ...ofJobs([LONG_NAME.replaceAll("_", "-")]).map((name) => name.slice(0, 60).replace(/-$/, "")),
      "queue",
    ],
  },
  { name: "empty", files: { "empty.ini": SHORT }, more: [...MM1, "--seed", "1"], drawn: ["throughput", "queue"] },
  {
    name: "one-request",
    files: { "one.ini": SHORT },
    more: [...MM1, "--seed", "3"],
    drawn: ["throughput", ...ofJobs(["read"]), "queue"],
  },
  {
    name: "comparison",
    files: {
      "e.ini": COMPARISON("Is slow slower?", "arms.ini", 12),
      "arms.ini": CLOSED("mm1?service=1ms", "20s"),
    },
    drawn: ["effects", "pairs.throughput-read-.slow"],
  },
  {
    name: "suspect",
    files: {
      "d.ini": COMPARISON("Is slow slower on a server that fails?", "doubtful.ini", 20),
      "doubtful.ini": CLOSED("mm1?service=1ms&errors=0.004&outage=9s..10s", "20s"),
    },
    drawn: ["effects", "pairs.throughput-read-.slow"],
  },
  {
    name: "sweep",
    files: {
      "s.ini": `[question]
ask = How many clients?
workload = curve.ini
[sweep]
vary = concurrency(read): 1..64 x2
best = highest throughput(read)
`,
      "curve.ini": CLOSED("usl?service=1ms&contention=0.02&coherency=0.004", "5s"),
    },
    drawn: ["throughput", "response"],
  },
  {
    name: "capacity",
    files: {
      "c.ini": `[question]
ask = How much is sustained?
workload = open.ini
[capacity]
slo = p99(read) < 30ms
vary = rate(read)
trial = 20s
budget = 30m
hold = 20s
`,
      "open.ini": "url = sim:mm1?service=1ms\nduration = 5s\n[read]\nquery = select 1\nrate = 100\n",
    },
    more: ["--seed", "1"],
    drawn: ["boundary", "trials"],
  },
];

RECIPES.push(
  {
    name: "sqlite",
    files: { "sqlite.ini": SQLITE },
    more: ["--url", "sqlite:pages.db"],
    isReal: true,
    drawn: ["throughput", ...ofJobs(["read", "write", "scan"]), "cpu", "queue", "processors", "loads"],
  },
  {
    name: "postgres",
    drawn: ["throughput", ...ofJobs(["read", "pay"]), "queue", ...OF_SERVER],
  },
);

/** The figures that must have marks, by the name of the record. */
export const DRAWN = new Map(RECIPES.map(({ name, drawn }) => [name, drawn]));

/** The names of all records. */
export const NAMES = RECIPES.map(({ name }) => name);

/** The records that the server lists. */
const LISTED = ["run", "hour", "failed", "comparison"];

/** Number of records that are made at the same time. */
const AT_ONCE = 2;

/** The program, and a folder for records and pages. */
export class Records {
  readonly folder = mkdtempSync(join(tmpdir(), "assay-pages-"));
  /** Measured times and sizes, as text to print. */
  readonly measures: string[] = [];
  /** Processor time of writing the page of each record, in seconds. */
  readonly seconds = new Map<string, number>();
  readonly program: string;
  /** The program that adds samples to a record. */
  readonly observed: string;
  /** The promise of each record whose making has begun. */
  private readonly makings = new Map<string, Promise<void>>();
  /** Functions that let a waiting record be made. */
  private readonly waiting: (() => void)[] = [];
  private free = AT_ONCE;
  private readonly servers: ChildProcess[] = [];

  constructor(program: string, observed: string) {
    this.program = resolve(program);
    this.observed = resolve(observed);
  }

  /** Stops the servers, and removes the records. */
  async remove(): Promise<void> {
    const running = this.servers.filter(({ exitCode, signalCode }) => exitCode === null && signalCode === null);
    const ended = running.map((server) => once(server, "exit"));
    for (const server of running) server.kill("SIGINT");
    await Promise.all(ended);
    rmSync(this.folder, { recursive: true });
  }

  path(file: string): string {
    return join(this.folder, file);
  }

  /** Runs Assay, and returns its processor time in seconds. The exit codes 1 and 3 are no failures of the test. */
  assay(args: string[]): Promise<number> {
    return this.execute(this.program, args);
  }

  /** Starts Assay as a server, and returns the address that it prints. `remove` stops the server. */
  served(args: string[]): Promise<string> {
    const child = spawn(this.program, args, { cwd: this.folder, stdio: ["ignore", "pipe", "pipe"] });
    this.servers.push(child);
    return new Promise((resolve, reject) => {
      let printed = "";
      const read = (text: Buffer) => {
        printed += text;
        const found = /http:\/\/\S+/.exec(printed);
        if (found) resolve(found[0]);
      };
      child.stdout.on("data", read);
      child.stderr.on("data", read);
      child.on("exit", () => reject(new Error(printed)));
    });
  }

  /** Runs a program, and returns its processor time in seconds. */
  private execute(program: string, args: string[]): Promise<number> {
    // The last line of `times` has the processor time of the shell's children. Other programs do not affect it.
    const timed = ["-c", '"$0" "$@"; code=$?; times; exit $code', program, ...args];
    return new Promise((resolve, reject) => {
      execFile("sh", timed, { cwd: this.folder }, (error, stdout, stderr) => {
        const code = error === null ? 0 : Number(error.code);
        const used = stdout.trimEnd().split("\n").at(-1) ?? "";
        const parts = [...used.matchAll(/(\d+)m([\d.]+)s/g)];
        const seconds = parts.reduce((sum, [, minutes, rest]) => sum + 60 * Number(minutes) + Number(rest), 0);
        if ([0, 1, 3].includes(code)) resolve(seconds);
        else reject(new Error(`${program} ${args.join(" ")}: ${error}\n${stdout}${stderr}`));
      });
    });
  }

  /** Makes the record of a recipe, and its page. */
  private async record({ name, files, more = [], isReal = false, isObserved = false }: Recipe): Promise<void> {
    if (files) {
      for (const [file, text] of Object.entries(files)) writeFileSync(this.path(file), text);
      const [first = ""] = Object.keys(files);
      const pace = isReal ? [] : ["--virtual"];
      await this.assay(["run", first, ...pace, "--quiet", "--out", `${name}.assay`, ...more]);
    } else {
      writeFileSync(this.path(`${name}.assay`), gunzipSync(readFileSync(POSTGRES)));
    }
    if (isObserved) await this.execute(this.observed, [`${name}.assay`]);
    const seconds = await this.assay(["report", `${name}.assay`, "--html", `${name}.html`]);
    this.seconds.set(name, seconds);
    const [record, page] = [`${name}.assay`, `${name}.html`].map((file) => statSync(this.path(file)).size / 1e6);
    this.measures.push(
      `${name}: page of ${page?.toFixed(2)} MB written in ${seconds.toFixed(2)} s of processor time, record of ${record?.toFixed(1)} MB`,
    );
  }

  /** Waits until a further record may be made. */
  private async turn(): Promise<void> {
    if (this.free > 0) this.free -= 1;
    else await new Promise<void>((resolve) => this.waiting.push(resolve));
  }

  /** Lets the next waiting record be made. */
  private pass(): void {
    const next = this.waiting.shift();
    if (next) next();
    else this.free += 1;
  }

  /** Begins to make the records of these names with their pages. */
  begin(names: readonly string[]): void {
    for (const recipe of RECIPES.filter(({ name }) => names.includes(name))) {
      const made = this.turn().then(() => this.record(recipe).finally(() => this.pass()));
      // The tests that wait for the record report the error.
      made.catch(() => {});
      this.makings.set(recipe.name, made);
    }
  }

  /** Waits until a record and its page are made. */
  async made(name: string): Promise<void> {
    await this.makings.get(name);
  }

  /** Waits until all records are made, and fails if one of them could not be made. */
  async all(): Promise<void> {
    await Promise.allSettled(this.makings.values());
    await Promise.all(this.makings.values());
  }

  /** Returns a folder with only some of the records, because a server reads every record of its folder. */
  listed(): string {
    const folder = "listed";
    if (!existsSync(this.path(folder))) {
      mkdirSync(this.path(folder));
      for (const name of LISTED) linkSync(this.path(`${name}.assay`), this.path(`${folder}/${name}.assay`));
    }
    return folder;
  }

  /** Returns the size of a record, in bytes. */
  size(name: string): number {
    return statSync(this.path(`${name}.assay`)).size;
  }

  /** Returns the size of a page, in bytes. */
  bytes(name: string): number {
    return readFileSync(this.path(`${name}.html`)).length;
  }
}
