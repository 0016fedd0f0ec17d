//! The command line as typed by the user.

use std::convert::Infallible;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use analyze::compare::ObjectionKind;
use base::units::{UnitError, parse_duration};
use base::{Nanos, Seed, Target, TargetError, is_terminal_control};
use clap::builder::{PathBufValueParser, PossibleValue, PossibleValuesParser, TypedValueParser};
use clap::{Args as ClapArgs, Parser, Subcommand, ValueEnum};
use serve::ListenAddress;
use workload::{Observe, Rates, RemoteHost, Warmup};

/// Database load generator and benchmark laboratory: a question in a text file, an answer that a
/// sceptic can believe.
#[derive(Debug, Parser)]
#[command(name = "assay", version = env!("ASSAY_VERSION"))]
#[command(max_term_width = 100, disable_help_subcommand = true)]
#[command(after_help = EXAMPLES, after_long_help = EXAMPLES)]
pub(crate) struct Args {
    #[command(subcommand)]
    pub(crate) command: Command,
}

const EXAMPLES: &str = "\
Examples:
  assay workloads                             list the example files
  assay workloads shop > shop.ini             a file to begin with
  assay run shop.ini --url sqlite:shop.db     run a workload, print the answer
  assay run shop.ini --url testbed:postgres   the same on a server that is started for it
  assay run shop.ini --url mysql://db1/shop   the same on an existing server
  assay run shop.ini --url sim:mm1 --virtual  an hour of load in seconds
  assay check shop.ini                        what would be run, without a database
  assay report run-20261121T201502Z.assay     the answer of a record, again
  assay compare 'main-*.assay' 'pr-*.assay'   two groups of runs
  assay history nightly                       when did the figures of a folder change?
  assay serve nightly                         the records of a folder in a browser
  assay repeat experiment-….assay --seed 2    does the answer hold?
  assay note run-….assay '#bad full disk'     add a remark, which its answers show
  assay explain send-lag                      what a check, limiter or metric means
  assay doctor postgres://db1/shop            what would spoil a run here
  assay calibrate                             measure the generator here, for all later runs
  assay selftest                              check its measurements on known servers
  assay dbbench --driver sqlite load.ini      a file of dbbench, with that program's flags

Exit codes: 0 success, 1 a threshold missed, 2 an error in usage, file or statement,
3 the run is INVALID, 4 the target was unreachable, 130 interrupted.";

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Run a workload file or an experiment file, and print the answer.
    Run(RunArgs),
    /// Print the plan of a workload file without touching a database.
    Check(CheckArgs),
    /// Set up and fill the tables of a workload file, without running it.
    Load(LoadArgs),
    /// Print the answer of a record.
    Report(ReportArgs),
    /// Compare recorded runs or arms of experiments.
    Compare(CompareArgs),
    /// Find changes over the records of a folder.
    History(HistoryArgs),
    /// Show the records of a folder in a browser.
    Serve(ServeArgs),
    /// Run the experiment or the workload of a record again, and compare both answers.
    Repeat(RepeatArgs),
    /// Add a note to a record; every answer from it shows the note.
    Note(NoteArgs),
    /// Write an archive to pass on: a record with its answer, files and checksums.
    Publish(PublishArgs),
    /// Explain a check, a limiter, a metric, an exit code or a term.
    Explain(ExplainArgs),
    /// Write a record in an open format.
    Export(ExportArgs),
    /// Check machine and server for problems that would distort a run, and name remedies.
    Doctor(DoctorArgs),
    /// Watch another program, and report what limits it.
    Observe(ObserveArgs),
    /// Measure the overhead of the load generator on this machine, once for all later runs.
    Calibrate(CalibrateArgs),
    /// Run a file of dbbench, with that program's flags.
    #[command(disable_help_flag = true)]
    Dbbench(DbbenchArgs),
    /// List the workload files that come with the program, or print one.
    Workloads(WorkloadsArgs),
    /// Measure servers whose response times are known in closed form.
    Selftest(SelftestArgs),
    /// Serve the simulated database that `assay calibrate` measures over loopback.
    #[command(name = lab::calibrate::WIRE_SERVER_COMMAND, hide = true)]
    WireServer(WireServerArgs),
}

/// A record whose files were unpacked to be run again.
#[derive(Clone, Debug)]
pub(crate) struct UnpackedRecord {
    /// The record, as named on the command line.
    pub(crate) record: PathBuf,
    /// The file or folder that the command in the record names.
    pub(crate) file: PathBuf,
    /// The temporary folder with the unpacked files.
    pub(crate) folder: PathBuf,
}

impl UnpackedRecord {
    /// Returns the name of a file for messages: `disk.ini of slower.assay`.
    pub(crate) fn name(&self, path: &Path) -> String {
        let name = path.strip_prefix(&self.folder).unwrap_or(path);
        format!("{} of {}", name.display(), self.record.display())
    }
}

/// The workload file, and the options that change it.
#[derive(Clone, Debug, Default, ClapArgs)]
pub(crate) struct FileArgs {
    /// The workload file or experiment file; a folder means its `experiment.ini`.
    #[arg(value_name = "FILE|FOLDER")]
    pub(crate) file: PathBuf,
    /// The main target: postgres://HOST/DATABASE, mysql://HOST/DATABASE, sqlite:FILE, sim:mm1, or
    /// testbed:postgres, testbed:mariadb or testbed:mysql for a server that is started for the
    /// run. Without one, the file's `url`, or a temporary SQLite database.
    #[arg(long, value_parser = parse_url, value_name = "URL")]
    pub(crate) url: Option<Url>,
    /// Give a parameter of the file another value. Repeatable.
    #[arg(long, value_name = "NAME=VALUE", value_parser = parse_setting)]
    pub(crate) set: Vec<(String, String)>,
    /// Time for which requests are scheduled, warm-up included.
    #[arg(long, value_parser = parse_time, value_name = "D", allow_hyphen_values = true)]
    pub(crate) duration: Option<Nanos>,
    /// Warm-up to exclude from the measurement: a duration, or `auto` to detect it after the run.
    #[arg(long, value_parser = parse_warmup, value_name = "D|auto", allow_hyphen_values = true)]
    pub(crate) warmup: Option<Warmup>,
    /// Distribution of the arrivals of all jobs with a rate, except timetables.
    #[arg(long)]
    pub(crate) arrival: Option<ArrivalArg>,
    /// The seed of every schedule and value.
    #[arg(long, value_parser = parse_seed, value_name = "N", allow_hyphen_values = true)]
    pub(crate) seed: Option<Seed>,
    /// Let the file reach beyond its folder: read files elsewhere and through links, write over
    /// files that exist, attach databases, and give ASSAY_PASSWORD to servers that it names.
    #[arg(long)]
    pub(crate) allow_files: bool,
    /// True if the URL comes from a record, which may be untrusted, and not from the user.
    #[arg(skip)]
    pub(crate) is_url_recorded: bool,
    /// The record whose files were unpacked, if the file is one of them.
    #[arg(skip)]
    pub(crate) unpacked: Option<UnpackedRecord>,
    /// The folder of the files that the workload names, if not its own (`--base-dir` of dbbench);
    /// results are written there too.
    #[arg(skip)]
    pub(crate) folder: Option<PathBuf>,
    /// The meaning of a rate: assay's or dbbench's.
    #[arg(skip)]
    pub(crate) rates: Rates,
    /// The most connections that an open job may open (`--max-active-conns` of dbbench).
    #[arg(skip)]
    pub(crate) max_connections: Option<u32>,
}

impl FileArgs {
    /// Returns true if the user has typed the URL of the main target.
    pub(crate) fn has_typed_url(&self) -> bool {
        self.url.is_some() && !self.is_url_recorded
    }
}

/// The distribution of arrivals.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ArrivalArg {
    /// Independent arrivals: exponential times between them.
    Poisson,
    /// Equal times between arrivals.
    Uniform,
}

/// The options of commands that print an answer.
#[derive(Clone, Debug, Default, ClapArgs)]
pub(crate) struct AnswerArgs {
    /// Print one JSON document instead of text.
    #[arg(long)]
    pub(crate) json: bool,
    /// Print Markdown for a pull request instead of text: at most 40 lines.
    #[arg(long, conflicts_with = "json")]
    pub(crate) markdown: bool,
    /// Also write the answer as test cases to this file (JUnit XML); it must not exist.
    #[arg(long, value_name = "FILE", value_parser = new_file())]
    pub(crate) junit: Option<PathBuf>,
    /// A SUSPECT result ends with exit code 3, like an INVALID one.
    #[arg(long)]
    pub(crate) strict: bool,
}

#[derive(Debug, Default, ClapArgs)]
#[command(after_long_help = workload::reference::help())]
pub(crate) struct RunArgs {
    #[command(flatten)]
    pub(crate) file: FileArgs,
    #[command(flatten)]
    pub(crate) answer: AnswerArgs,
    /// Print the full answer, not only the part that fits a screen; of an experiment also its
    /// checks, environment, settings and plan.
    #[arg(long, conflicts_with_all = ["json", "markdown"])]
    pub(crate) full: bool,
    /// Number of threads that send requests.
    #[arg(long, default_value_t = 1, value_parser = parse_threads, value_name = "N")]
    #[arg(allow_hyphen_values = true)]
    pub(crate) threads: u16,
    /// The processors that the threads are bound to in turn: 0,2-3.
    #[arg(long, value_name = "LIST", value_parser = parse_cpus, allow_hyphen_values = true)]
    pub(crate) cpus: Option<Cpus>,
    /// Spin instead of sleeping until shortly before a request is due: almost no send lag, if each
    /// thread has an idle processor to itself.
    #[arg(long)]
    pub(crate) spin: bool,
    /// The record; it must not exist. Default: `./run-<UTC time>.assay`, or
    /// `./experiment-<UTC time>.assay`.
    #[arg(long, value_name = "R.assay", value_parser = new_file())]
    pub(crate) out: Option<PathBuf>,
    /// A label for the record, such as a version or a commit; `assay history` shows it.
    #[arg(long, value_name = "TEXT", value_parser = parse_label, conflicts_with = "resume")]
    pub(crate) label: Option<String>,
    /// Continue the interrupted experiment of this record: make only the missing runs.
    #[arg(long, value_name = "R.assay", conflicts_with = "out")]
    pub(crate) resume: Option<PathBuf>,
    /// Also write one row per request to this file (CSV); it must not exist.
    #[arg(long, value_name = "FILE", value_parser = new_file())]
    pub(crate) op_log: Option<PathBuf>,
    /// Show the run in a browser while it goes on, at 127.0.0.1:8600 or another address.
    #[arg(long, value_name = "HOST:PORT", num_args = 0..=1, require_equals = true)]
    #[arg(default_missing_value = SERVE, conflicts_with = "is_virtual")]
    pub(crate) serve: Option<ListenAddress>,
    /// Serve the figures of the run for Prometheus at this address, while it goes on.
    #[arg(long, value_name = "HOST:PORT", conflicts_with = "is_virtual")]
    pub(crate) metrics: Option<ListenAddress>,
    /// Skip setup and loads, but check the number of rows of each table.
    #[arg(long)]
    pub(crate) loaded: bool,
    /// Run the programs that the file asks for: `command` of jobs, `before-command` and
    /// `after-command` of arms, ssh for `[observe] host`, private servers that its `testbed:` URLs
    /// or `server.NAME` ask for. Without it, a file that asks for any is refused.
    #[arg(long)]
    pub(crate) allow_commands: bool,
    /// Run a simulated server in virtual time: an hour takes seconds, one seed one result.
    #[arg(long = "virtual", conflicts_with_all = ["cpus", "spin"])]
    pub(crate) is_virtual: bool,
    /// Show no progress.
    #[arg(long)]
    pub(crate) quiet: bool,
}

#[derive(Debug, ClapArgs)]
#[command(after_long_help = workload::reference::help())]
pub(crate) struct CheckArgs {
    #[command(flatten)]
    pub(crate) file: FileArgs,
    /// Check for a run in virtual time: servers are simulated, and requests or pauses take time.
    #[arg(long = "virtual")]
    pub(crate) is_virtual: bool,
}

#[derive(Debug, ClapArgs)]
#[command(after_long_help = workload::reference::help())]
pub(crate) struct LoadArgs {
    #[command(flatten)]
    pub(crate) file: FileArgs,
    #[command(flatten)]
    pub(crate) answer: AnswerArgs,
    /// Print the full answer, not only the part that fits a screen.
    #[arg(long, conflicts_with_all = ["json", "markdown"])]
    pub(crate) full: bool,
    /// The record; it must not exist. Default: `./load-<UTC time>.assay`.
    #[arg(long, value_name = "R.assay", value_parser = new_file())]
    pub(crate) out: Option<PathBuf>,
    /// Run the programs that the file asks for: ssh for `[observe] host`, private servers of its
    /// `testbed:` URLs. Without it, a file that asks for any is refused.
    #[arg(long)]
    pub(crate) allow_commands: bool,
    /// Show no progress.
    #[arg(long)]
    pub(crate) quiet: bool,
}

#[derive(Debug, ClapArgs)]
pub(crate) struct ReportArgs {
    /// The record, or a published bundle.
    #[arg(value_name = "RUN.assay")]
    pub(crate) record: PathBuf,
    #[command(flatten)]
    pub(crate) answer: AnswerArgs,
    /// Print the full answer, not only the part that fits a screen; of an experiment also its
    /// checks, environment, settings and plan.
    #[arg(long, conflicts_with_all = ["json", "markdown", "environment", "figures", "svg"])]
    pub(crate) full: bool,
    /// Print the answer of a single run of an experiment, by its number.
    #[arg(long, value_name = "N")]
    pub(crate) run: Option<u32>,
    /// Print the environment of the run instead: the facts of machine and network, and the settings
    /// of the servers.
    #[arg(long)]
    #[arg(conflicts_with_all = ["strict", "markdown", "junit", "html", "figures", "picture"])]
    pub(crate) environment: bool,
    #[command(flatten)]
    pub(crate) figures: FigureArgs,
}

/// The figures of an answer, and its page.
#[derive(Debug, ClapArgs)]
pub(crate) struct FigureArgs {
    /// Also write the answer as a page with figures to this file (HTML, complete in itself); it
    /// must not exist.
    #[arg(long, value_name = "FILE", value_parser = new_file())]
    pub(crate) html: Option<PathBuf>,
    /// Print the names of the figures instead, each with a sentence.
    #[arg(long)]
    #[arg(conflicts_with_all = ["json", "strict", "markdown", "junit", "html"])]
    pub(crate) figures: bool,
    /// Print a figure as SVG instead, by its name.
    #[arg(long, value_name = "FIGURE")]
    #[arg(conflicts_with_all = ["json", "strict", "markdown", "junit", "html", "figures"])]
    #[arg(group = "picture")]
    pub(crate) svg: Option<String>,
    /// Write a figure as PNG instead, by its name, to the file of --out.
    #[arg(long, value_name = "FIGURE", requires = "out")]
    #[arg(conflicts_with_all = ["json", "strict", "markdown", "junit", "html", "figures"])]
    #[arg(group = "picture")]
    pub(crate) png: Option<String>,
    /// Write the figure to this file instead of stdout; it must not exist.
    #[arg(long, value_name = "FILE", value_parser = new_file(), requires = "picture")]
    pub(crate) out: Option<PathBuf>,
}

impl FigureArgs {
    /// Returns true if figures are to be drawn or listed.
    pub(crate) fn are_requested(&self) -> bool {
        self.html.is_some() || self.figures || self.svg.is_some() || self.png.is_some()
    }
}

/// The groups of runs to compare.
#[derive(Debug, ClapArgs)]
#[command(after_long_help = COMPARE_HELP)]
pub(crate) struct CompareArgs {
    /// Groups of runs, each one argument: the record of a run, a quoted glob of such records, an
    /// arm of an experiment (R.assay#ARM), or the record of an experiment, for all of its arms.
    #[arg(value_name = "RECORDS", required = true)]
    pub(crate) records: Vec<String>,
    /// The group that the others are compared with. Default: the first one.
    #[arg(long, value_name = "RECORDS")]
    pub(crate) baseline: Option<String>,
    /// End with exit code 1 if a change for the worse is significant and beyond a limit:
    /// `throughput < -3%, response.p99(read) > +10%`.
    #[arg(long, value_name = "LIMITS")]
    pub(crate) fail_on: Option<String>,
    /// Compare despite the objection of this name; the answer is then SUSPECT. Repeatable.
    #[arg(long, value_name = "NAME", value_parser = objections())]
    pub(crate) despite: Vec<ObjectionKind>,
    #[command(flatten)]
    pub(crate) answer: AnswerArgs,
    #[command(flatten)]
    pub(crate) figures: FigureArgs,
}

const COMPARE_HELP: &str = "\
Examples:
  assay compare experiment.assay                       the arms of an experiment
  assay compare first.assay second.assay               two executions of an experiment
  assay compare e.assay#plain e.assay#tls              two of its arms
  assay compare 'main-*.assay' 'pr-*.assay'            groups of single runs
  assay compare --baseline 'main-*.assay' 'pr-*.assay' --fail-on 'throughput < -3%'
  assay compare first.assay second.assay --html page.html   the answer as a page with figures

Arms of one experiment are compared in pairs, by round. Other groups were not interleaved: their
changes contain the drift of the machine. A group of one run has figures and no conclusion.

Exit codes: 0 success, 1 a limit exceeded or the first answer contradicted, 2 an error in usage or
a file, 3 the comparison is refused, a declared metric is not compared, a group has a single run,
or the comparison is SUSPECT with --strict.";

const REPEAT_HELP: &str = "\
Files and options come from the record. The first answer holds if both executions conclude the
same about each declared metric, or find equivalent changes. It is contradicted if a change differs
significantly, and by more than matters. Two single runs are printed side by side, without a
verdict.

Exit codes: 0 the first answer holds, or is neither confirmed nor contradicted, 1 it is
contradicted, otherwise the exit code of the new execution.";

/// Returns the parser of the objections that the user accepts.
fn objections() -> impl TypedValueParser<Value = ObjectionKind> {
    let meaning = |kind| match kind {
        ObjectionKind::Incomplete => "A run or an experiment was not completed",
        ObjectionKind::Invalid => "Runs are INVALID",
        ObjectionKind::Plan => "The plans differ in more than target and seed",
        ObjectionKind::Data => "The sizes of the data differ",
        ObjectionKind::Durability => {
            "The settings that decide whether commits survive a crash differ"
        }
        ObjectionKind::Environment => "Machine, network, threads or the kind of time differ",
    };
    let value = |kind: ObjectionKind| PossibleValue::new(kind.name()).help(meaning(kind));
    PossibleValuesParser::new(ObjectionKind::ALL.map(value)).try_map(|name| {
        let named = ObjectionKind::ALL.into_iter().find(|kind| kind.name() == name);
        named.ok_or("unknown objection")
    })
}

/// The records of a history.
#[derive(Debug, ClapArgs)]
pub(crate) struct HistoryArgs {
    /// The folder of the records; the folders in it are searched too.
    #[arg(value_name = "DIR")]
    pub(crate) folder: PathBuf,
    /// Judge this metric, such as `response.p99` or `throughput(read)`, instead of the usual ones.
    /// Repeatable.
    #[arg(long, value_name = "M")]
    pub(crate) metric: Vec<String>,
    /// End with exit code 1 if a metric changed within its newest N values; older changes, and
    /// series that have ended, do not count. At least 4.
    #[arg(long, value_name = "N")]
    pub(crate) fail_within: Option<usize>,
    /// Print one JSON document instead of text.
    #[arg(long)]
    pub(crate) json: bool,
}

/// The default address of pages.
const SERVE: &str = "127.0.0.1:8600";

/// The records to show in a browser.
#[derive(Debug, ClapArgs)]
pub(crate) struct ServeArgs {
    /// The folder of the records; the folders in it are searched too.
    #[arg(value_name = "DIR", default_value = ".")]
    pub(crate) folder: PathBuf,
    /// The address to listen at; port 0 takes a free one. Other machines can reach an address
    /// beyond the loopback, and pages are not encrypted.
    #[arg(long, value_name = "HOST:PORT", default_value = SERVE)]
    pub(crate) listen: ListenAddress,
    /// Take no notes: records are only read.
    #[arg(long)]
    pub(crate) read_only: bool,
}

#[derive(Debug, ClapArgs)]
#[command(after_long_help = REPEAT_HELP)]
pub(crate) struct RepeatArgs {
    /// The record, or a published bundle.
    #[arg(value_name = "R.assay")]
    pub(crate) record: PathBuf,
    /// The main target, in place of that of the first run.
    #[arg(long, value_parser = parse_url, value_name = "URL")]
    pub(crate) url: Option<Url>,
    /// Give a parameter a different value from the first run, or a secret that is not in the
    /// record. Repeatable.
    #[arg(long, value_name = "NAME=VALUE", value_parser = parse_setting)]
    pub(crate) set: Vec<(String, String)>,
    /// The seed of every schedule and value, in place of that of the first run.
    #[arg(long, value_parser = parse_seed, value_name = "N", allow_hyphen_values = true)]
    pub(crate) seed: Option<Seed>,
    /// The new record; it must not exist. Default: `./experiment-<UTC time>.assay`, or
    /// `./run-<UTC time>.assay`.
    #[arg(long, value_name = "R.assay", value_parser = new_file())]
    pub(crate) out: Option<PathBuf>,
    /// Run the programs that the files ask for; this is not taken from the record.
    #[arg(long)]
    pub(crate) allow_commands: bool,
    /// Let the files reach beyond their folder; this is not taken from the record.
    #[arg(long)]
    pub(crate) allow_files: bool,
    #[command(flatten)]
    pub(crate) answer: AnswerArgs,
    /// Print the full answer of an experiment, not only the part that fits a screen.
    #[arg(long, conflicts_with_all = ["json", "markdown"])]
    pub(crate) full: bool,
    /// Show no progress.
    #[arg(long)]
    pub(crate) quiet: bool,
}

#[derive(Debug, ClapArgs)]
pub(crate) struct ExportArgs {
    /// The record, or a published bundle.
    #[arg(value_name = "RUN.assay")]
    pub(crate) record: PathBuf,
    /// The number of a run, if the record is that of an experiment.
    #[arg(long, value_name = "N")]
    pub(crate) run: Option<u32>,
    /// The format.
    #[arg(long)]
    pub(crate) format: Format,
    /// Write to this file instead of stdout.
    #[arg(long, value_name = "FILE", value_parser = new_file())]
    pub(crate) out: Option<PathBuf>,
}

#[derive(Debug, ClapArgs)]
pub(crate) struct NoteArgs {
    /// The record of a run that has ended, or of an experiment that is not in progress.
    #[arg(value_name = "R.assay")]
    pub(crate) record: PathBuf,
    /// The note: a paragraph of at most 4,000 characters. Words that begin with # are tags.
    #[arg(value_name = "TEXT")]
    pub(crate) text: String,
    /// The name of the author. Default: that of the user.
    #[arg(long, value_name = "NAME")]
    pub(crate) author: Option<String>,
}

#[derive(Debug, ClapArgs)]
pub(crate) struct PublishArgs {
    /// The record of a run or an experiment that has ended.
    #[arg(value_name = "R.assay")]
    pub(crate) record: PathBuf,
    /// The archive, or with --folder the folder; it must not exist. Default: `./R.tar.gz`,
    /// `./R-published`.
    #[arg(long, value_name = "FILE", value_parser = new_file())]
    pub(crate) out: Option<PathBuf>,
    /// Write a folder in place of an archive.
    #[arg(long)]
    pub(crate) folder: bool,
}

#[derive(Debug, ClapArgs)]
pub(crate) struct ExplainArgs {
    /// Names of checks, limiters or metrics, exit codes, or terms such as SUSPECT; without one, all
    /// names are listed.
    #[arg(value_name = "NAME")]
    pub(crate) names: Vec<String>,
}

#[derive(Debug, ClapArgs)]
pub(crate) struct DoctorArgs {
    /// The server to be measured; without one, only this machine is checked.
    #[arg(value_name = "URL", value_parser = parse_url)]
    pub(crate) url: Option<Url>,
    /// Print one JSON document instead of text.
    #[arg(long)]
    pub(crate) json: bool,
}

/// The program to watch, and the database it uses.
#[derive(Debug, ClapArgs)]
pub(crate) struct ObserveArgs {
    /// The database that the program uses; without one, only the program and this machine are
    /// watched.
    #[arg(value_name = "URL", value_parser = parse_url)]
    pub(crate) url: Option<Url>,
    /// An existing process, watched until it ends.
    #[arg(long, value_name = "NUMBER")]
    pub(crate) pid: Option<u32>,
    /// Longest time to watch; the program continues after that. Without a program, the time for
    /// which machine and database are watched.
    #[arg(long, value_parser = parse_duration)]
    pub(crate) duration: Option<Nanos>,
    /// Sampling interval, from 100ms to 1m; sessions are sampled ten times a second in any case.
    #[arg(long, default_value = "1s", value_parser = parse_sampling_interval)]
    pub(crate) every: Nanos,
    /// A process of the database, if it is not found by its port. Repeatable.
    #[arg(long, value_name = "NUMBER")]
    pub(crate) server: Vec<u32>,
    /// Another machine to watch, by an `assay` that is started there over ssh, as
    /// ssh://USER@HOST:PORT. Repeatable.
    #[arg(long, value_name = "ssh://HOST", value_parser = parse_host)]
    pub(crate) host: Vec<Host>,
    /// The record; it must not exist. Default: `./observe-<UTC time>.assay`.
    #[arg(long, value_name = "R.assay", value_parser = new_file())]
    pub(crate) out: Option<PathBuf>,
    /// Print one JSON document instead of text. The program's stdout then goes to stderr.
    #[arg(long)]
    pub(crate) json: bool,
    /// Send samples of this machine, until standard input ends, to an `assay` on another machine
    /// that started this one.
    #[arg(long, hide = true, conflicts_with_all = ["url", "pid", "duration", "host", "command"])]
    pub(crate) stdio: bool,
    /// A port on which the database may listen on this machine. Repeatable.
    #[arg(long, hide = true, requires = "stdio", value_name = "NUMBER")]
    pub(crate) port: Vec<u16>,
    /// The program and its arguments; it is run and watched until it ends.
    #[arg(last = true, value_name = "COMMAND")]
    pub(crate) command: Vec<OsString>,
}

/// The options of `assay calibrate`.
#[derive(Debug, ClapArgs)]
pub(crate) struct CalibrateArgs {
    /// A server whose floor is measured as well: one client and a statement that does nothing.
    #[arg(value_name = "URL", value_parser = parse_url)]
    pub(crate) url: Option<Url>,
    /// Measure a disk instead: the durable flushes per second of a temporary file below this
    /// folder, in about eight seconds. The result is not stored.
    #[arg(long, value_name = "DIR", conflicts_with_all = ["url", "no_store"])]
    pub(crate) disk: Option<PathBuf>,
    /// Measure for a third of the time: about five seconds, with more scatter.
    #[arg(long)]
    pub(crate) quick: bool,
    /// Print the result without storing it.
    #[arg(long)]
    pub(crate) no_store: bool,
    /// Print one JSON document instead of text.
    #[arg(long)]
    pub(crate) json: bool,
    /// Show no progress.
    #[arg(long)]
    pub(crate) quiet: bool,
}

#[derive(Debug, ClapArgs)]
pub(crate) struct WireServerArgs {
    /// The protocol: postgres or mariadb.
    pub(crate) protocol: String,
}

/// The arguments of `assay dbbench`, unparsed: dbbench's grammar is not clap's.
#[derive(Debug, ClapArgs)]
pub(crate) struct DbbenchArgs {
    #[arg(value_name = "FLAG|FILE", trailing_var_arg = true, allow_hyphen_values = true)]
    pub(crate) words: Vec<OsString>,
}

#[derive(Debug, ClapArgs)]
pub(crate) struct WorkloadsArgs {
    /// The file to print; without one, all files are listed.
    #[arg(value_name = "NAME")]
    pub(crate) name: Option<String>,
}

/// The options of `assay selftest`.
#[derive(Debug, ClapArgs)]
pub(crate) struct SelftestArgs {
    /// Measure in real time over loopback, in the protocols of PostgreSQL and MySQL, instead of in
    /// virtual time: three minutes.
    #[arg(long, conflicts_with = "mutations")]
    pub(crate) real: bool,
    /// Plant faults into the generator; an oracle must notice each.
    #[arg(long)]
    pub(crate) mutations: bool,
    /// Measure for a tenth of the time, with three times the tolerance and without p99.9. With
    /// `--real`, run only the oracle that needs no statistics: half a minute.
    #[arg(long)]
    pub(crate) quick: bool,
    /// Print one JSON document instead of text.
    #[arg(long)]
    pub(crate) json: bool,
    /// Show no progress.
    #[arg(long)]
    pub(crate) quiet: bool,
}

/// An open format.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    /// HdrHistogram's interval log, with a tag per job and kind.
    Hlog,
    /// One row per second and job.
    Csv,
    /// Plan, settings, events, counts and histograms; no observed metrics and no files.
    Json,
    /// A record of its own, with one run of an experiment; needs --run and --out.
    Assay,
}

/// A list of processors, by number.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Cpus(pub(crate) Vec<usize>);

/// A URL argument. An invalid URL is reported later, because clap's message would repeat the URL
/// with its password.
pub(crate) type Url = Result<Target, TargetError>;

/// A host argument. An invalid host is reported later, for the same reason as an invalid [`Url`].
pub(crate) type Host = Result<RemoteHost, String>;

fn parse_host(text: &str) -> Result<Host, Infallible> {
    Ok(RemoteHost::parse(text))
}

fn parse_url(url: &str) -> Result<Url, Infallible> {
    Ok(Target::parse(url))
}

/// Returns the parser of the name of a new file. Refuses `-`: a user who writes it expects a
/// stream, and not a file of this name.
fn new_file() -> impl TypedValueParser<Value = PathBuf> {
    PathBufValueParser::new().try_map(|path| match path.as_os_str() == "-" {
        false => Ok(path),
        true => Err("it is not a stream; name a new file, or write `./-` for one of this name"),
    })
}

/// Parses the sampling interval.
fn parse_sampling_interval(text: &str) -> Result<Nanos, String> {
    let every = parse_duration(text).map_err(|error| error.to_string())?;
    let (least, most) = Observe::ENDS;
    match (least..=most).contains(&every) {
        true => Ok(every),
        false => Err(format!("is not between {least} and {most}")),
    }
}

fn parse_setting(text: &str) -> Result<(String, String), String> {
    let (name, value) = text.split_once('=').ok_or("write NAME=VALUE")?;
    if name.trim().is_empty() {
        return Err("the name is missing: write NAME=VALUE".to_owned());
    }
    Ok((name.trim().to_owned(), value.trim().to_owned()))
}

/// Longest label, in characters.
const LONGEST_LABEL: usize = 200;

fn parse_label(text: &str) -> Result<String, String> {
    let label = text.trim();
    match label.chars().count() {
        0 => Err("the label is empty: write a version or a commit".to_owned()),
        length if length > LONGEST_LABEL => {
            Err(format!("the label has {length} characters; at most {LONGEST_LABEL} are allowed"))
        }
        _ if label.contains(is_terminal_control) => {
            Err("the label has control characters: write it on one line".to_owned())
        }
        _ => Ok(label.to_owned()),
    }
}

fn parse_time(text: &str) -> Result<Nanos, String> {
    parse_duration(text).map_err(|error| match error {
        UnitError::UnitMissing | UnitError::UnknownUnit => format!("it {error}"),
        UnitError::NotANumber
        | UnitError::Negative
        | UnitError::TooLarge
        | UnitError::TooSmall
        | UnitError::NotWhole => {
            format!("it {error}: write for example `10s`, `250ms` or `1h`")
        }
    })
}

fn parse_warmup(text: &str) -> Result<Warmup, String> {
    match text {
        Warmup::AUTO => Ok(Warmup::Auto),
        text => parse_time(text).map(Warmup::Lasts),
    }
}

fn parse_seed(text: &str) -> Result<Seed, String> {
    text.parse().map(Seed).map_err(|_| "expected a whole number from 0 to 2^64 - 1".to_owned())
}

/// The largest number of threads that send requests.
const MOST_THREADS: u16 = 1_024;

fn parse_threads(text: &str) -> Result<u16, String> {
    let number = text.parse().ok().filter(|number| (1..=MOST_THREADS).contains(number));
    number.ok_or_else(|| format!("write a whole number from 1 to {MOST_THREADS}"))
}

/// Parses a list of processors such as `0,2-3`.
fn parse_cpus(text: &str) -> Result<Cpus, String> {
    let mut cpus = Vec::new();
    for part in text.split(',') {
        let number = |text: &str| {
            let number = text.trim().parse::<usize>();
            number.map_err(|_| format!("`{part}` is not a processor: write 0,2-3"))
        };
        match part.split_once('-') {
            None => cpus.push(number(part)?),
            Some((first, last)) => {
                let (first, last) = (number(first)?, number(last)?);
                if first > last || last - first > 4_096 {
                    return Err(format!("`{part}` is not a range of processors: write 0,2-3"));
                }
                cpus.extend(first..=last);
            }
        }
    }
    Ok(Cpus(cpus))
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_table_of_arguments_is_consistent() {
        Args::command().debug_assert();
    }

    #[test]
    fn every_objection_can_be_accepted_by_its_name() {
        for kind in ObjectionKind::ALL {
            let line = ["assay", "compare", "r.assay", "--despite", kind.name()];
            let Command::Compare(compare) = Args::try_parse_from(line).unwrap().command else {
                panic!("another command");
            };
            assert_eq!(compare.despite, [kind]);
        }
    }

    #[test]
    fn lists_of_processors_are_read() {
        assert_eq!(parse_cpus("0,2-3"), Ok(Cpus(vec![0, 2, 3])));
        assert_eq!(parse_cpus("7"), Ok(Cpus(vec![7])));
        for bad in ["", "a", "3-1", "1-", "-1", "0-99999999"] {
            assert!(parse_cpus(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn label_is_one_line_of_limited_length() {
        assert_eq!(parse_label(" v1.2 "), Ok("v1.2".to_owned()));
        assert_eq!(parse_label(&"é".repeat(200)), Ok("é".repeat(200)));
        for bad in [" ", "two\nlines", "\u{1b}[2J", &"x".repeat(201)] {
            assert!(parse_label(bad).is_err(), "{bad:?}");
        }
    }

    #[test]
    fn sampling_interval_has_two_limits() {
        assert_eq!(parse_sampling_interval("500ms"), Ok(Nanos::from_millis(500)));
        assert!(parse_sampling_interval("1ms").is_err() && parse_sampling_interval("2m").is_err());
        assert!(parse_sampling_interval("soon").is_err());
    }
}
