//! `assay dbbench`: runs a file of dbbench, with that program's flags.
//!
//! The flags are translated into the arguments of `assay run`, which then runs the file. The
//! language of the file is the same, except that a `rate` is a timetable.

use std::ffi::OsString;
use std::path::PathBuf;

use archive::OpLogPlan;
use base::go::{parse_float, parse_int};
use base::units::{UnitError, parse_duration};
use base::{
    Endpoint, HostPort, Nanos, Secret, Target, TargetError, TargetKind, closest, shell_word,
};
use record::OpFormat;
use workload::{Plan, Rates};

use crate::args::{DbbenchArgs, FileArgs, RunArgs, Url};
use crate::commands::answer::print;
use crate::commands::run::{self, RunMode};
use crate::complain::Complaint;
use crate::display::{ProgressStyle, ReportInterval};
use crate::exit::Exit;
use crate::go_drivers::{self, TranslatedOptions};
use crate::go_flags::{self, Flag, FlagArgument};
use crate::workload_file::file_name;

const fn value(name: &'static str, what: &'static str, help: &'static str) -> Flag {
    Flag { name, argument: FlagArgument::Value(what), help }
}

const fn switch(name: &'static str, help: &'static str) -> Flag {
    Flag { name, argument: FlagArgument::Switch, help }
}

/// The host if no flag names one, or if the flag is empty, as in dbbench.
const DEFAULT_HOST: &str = "localhost";
/// The user if no flag names one, or if the flag is empty, as in dbbench.
const DEFAULT_USER: &str = "root";

/// The default and shortest interval between two reports.
const SECOND: Nanos = Nanos::from_secs(1);

/// Every flag of dbbench, and `--allow-commands` for jobs that run programs.
const FLAGS: &[Flag] = &[
    value("driver", "NAME", "mysql (the default), postgres, sqlite or sim"),
    value("host", "HOST", "host of the server (default localhost)"),
    value("port", "PORT", "port of the server (default that of the driver)"),
    value("username", "USER", "user (default root)"),
    value("password", "PASSWORD", "password; visible in the list of processes, not in the record"),
    value("database", "NAME", "database; with sqlite the file, with sim the kind of server"),
    value("params", "A=B&C=D", "parameters of dbbench's driver, or options of Assay's URLs"),
    value("url", "URL", "all of these in one, or testbed:mariadb; later flags win"),
    value("base-dir", "FOLDER", "folder of relative paths (default that of the file)"),
    switch("intermediate-stats", "report the jobs while they run (default; off with `=false`)"),
    value("intermediate-stats-interval", "D", "interval (default 1s), in whole seconds"),
    value("max-active-conns", "N", "largest number of connections of a job with a rate"),
    value(
        "query-stats-file",
        "FILE",
        "file with a row per request, replaced; relative to the \
                                       current folder",
    ),
    value("confidence", "LEVEL", "accepted: the answer has quantiles, and no `±` next to a mean"),
    value("max-idle-conns", "N", "accepted: no connection is closed before the end"),
    value("max-sample-count", "N", "accepted: it does nothing in dbbench either"),
    switch("allow-commands", "let jobs with a `command` (not in dbbench) run programs"),
    switch("version", "print the version of assay"),
];

/// Flags that are accepted without effect, and the reasons.
const WITHOUT_EFFECT: &[(&str, &str)] = &[
    ("confidence", "the answer has whole distributions instead of a `±` next to a mean"),
    ("max-idle-conns", "a connection that was opened stays open to the end"),
    ("max-sample-count", "every request is counted, and dbbench itself never reads it"),
];

pub(crate) fn dbbench(args: &DbbenchArgs) -> Result<Exit, Complaint> {
    let typed = go_flags::parse(FLAGS, &args.words).map_err(Complaint::new)?;
    if typed.wants_help {
        print(&help())?;
        return Ok(Exit::Success);
    }
    let flag_options = FlagOptions::of(&typed.flags)?;
    if flag_options.wants_version {
        print(&format!("assay {}\n", env!("ASSAY_VERSION")))?;
        return Ok(Exit::Success);
    }
    let file = file(&typed.rest)?;
    for (name, why) in WITHOUT_EFFECT {
        if typed.flags.iter().any(|(given, _)| given == name) {
            Complaint::warning(format!("--{name} has no effect: {why}")).print();
        }
    }
    flag_options.check_folder()?;
    flag_options.notices().into_iter().for_each(|notice| Complaint::warning(notice).print());
    let (progress_style, stats) = (flag_options.progress_style(), flag_options.stats.clone());
    let run = flag_options.into_run(file);
    let op_log = stats.map(|path| OpLogPlan { path, format: OpFormat::DbbenchStats });
    let command = command(&run);
    let command = Box::new(|_: &Plan| command);
    // Observation would add statements to the server's log that dbbench does not send.
    let run_mode =
        RunMode { progress_style, op_log, command, needs_jobs: false, observes_database: false };
    Ok(run::run_workload(&run, run_mode)?.exit)
}

/// Returns the single file after the flags.
fn file(rest: &[OsString]) -> Result<PathBuf, Complaint> {
    let is_flag = |word: &OsString| word.as_encoded_bytes().starts_with(b"-");
    match rest {
        [file] => Ok(PathBuf::from(file)),
        [] => Err(usage("there is no file to run")),
        [_, more @ ..] if more.iter().any(is_flag) => {
            Err(usage("a flag follows the file: flags come first"))
        }
        [_, _, ..] => Err(usage("there is more than one file to run")),
    }
}

fn usage(sentence: &str) -> Complaint {
    Complaint::new(sentence).help(
        "write `assay dbbench [FLAG…] FILE`, for example `assay dbbench --driver sqlite load.ini`",
    )
}

fn help() -> String {
    let mut text = "Run a file of dbbench, with that program's flags\n\n\
                    Usage: assay dbbench [FLAG]… FILE\n\nFlags:\n"
        .to_owned();
    for flag in FLAGS {
        let name = match flag.argument {
            FlagArgument::Switch => format!("--{}", flag.name),
            FlagArgument::Value(what) => format!("--{} {what}", flag.name),
        };
        text.push_str(&format!("  {name:<32} {}\n", flag.help));
    }
    text.push_str("  --help                           print this\n");
    text.push_str(NOTES);
    text
}

const NOTES: &str = "
A flag has one or two dashes, and its value follows a blank or a `=`. Flags precede the file.
Every `rate` of the file is a timetable: its first batch comes one period after the job's start.
The answer goes to stdout, a record is left in `./run-<UTC time>.assay`, and the exit codes are
those of `assay run`. docs/dbbench.md describes every feature of dbbench, and the differences.
";

/// The parsed flags, read in order: a later flag overrides an earlier one.
struct FlagOptions {
    kind: TargetKind,
    user: Option<String>,
    password: Option<Secret>,
    addresses: Vec<HostPort>,
    database: Option<String>,
    options: Vec<(String, String)>,
    /// The flag that set the options.
    options_flag: &'static str,
    /// Notices about options without effect.
    ignored_options: Vec<String>,
    /// The error of an invalid URL, reported later as by any other command.
    url_error: Option<TargetError>,
    /// The given flags that need a target with a network.
    network_flags: Vec<&'static str>,
    folder: Option<PathBuf>,
    /// The file with one row per request.
    stats: Option<PathBuf>,
    reports: bool,
    interval: Nanos,
    max_connections: Option<u32>,
    allows_commands: bool,
    wants_version: bool,
}

impl FlagOptions {
    fn of(flags: &[(&'static str, String)]) -> Result<FlagOptions, Complaint> {
        let mut flag_options = FlagOptions {
            kind: TargetKind::Mysql,
            user: Some(DEFAULT_USER.to_owned()),
            password: None,
            addresses: vec![HostPort { host: DEFAULT_HOST.to_owned(), port: None }],
            database: None,
            options: Vec::new(),
            options_flag: "params",
            ignored_options: Vec::new(),
            url_error: None,
            network_flags: Vec::new(),
            folder: None,
            stats: None,
            reports: true,
            interval: SECOND,
            max_connections: None,
            allows_commands: false,
            wants_version: false,
        };
        for (name, value) in flags {
            flag_options
                .apply_flag(name, value)
                .map_err(|why| Complaint::new(format!("--{name}: {why}")))?;
        }
        flag_options.check_target()?;
        flag_options.translate_options()?;
        Ok(flag_options)
    }

    /// Translates the options into assay's, once the kind of target is known.
    fn translate_options(&mut self) -> Result<(), Complaint> {
        let given = std::mem::take(&mut self.options);
        let TranslatedOptions { options, notices } = go_drivers::translate(self.kind, given)
            .map_err(|why| Complaint::new(format!("--{}: {why}", self.options_flag)))?;
        (self.options, self.ignored_options) = (options, notices);
        Ok(())
    }

    /// Checks that the folder of `--base-dir` exists.
    fn check_folder(&self) -> Result<(), Complaint> {
        match &self.folder {
            Some(folder) if !folder.is_dir() => {
                let sentence = format!("--base-dir: there is no folder `{}`", folder.display());
                Err(Complaint::new(sentence).help(
                    "name the folder where the files of the workload are, or leave the flag out \
                     if they are in its folder",
                ))
            }
            Some(_) | None => Ok(()),
        }
    }

    /// Returns warnings about flags that are not followed exactly, as sentences.
    fn notices(&self) -> Vec<String> {
        let of_options = |notice: &String| format!("--{}: {notice}", self.options_flag);
        let mut notices: Vec<String> = self.ignored_options.iter().map(of_options).collect();
        let given = self.report_interval_s();
        if self.reports && self.interval != Nanos::from_secs(given) {
            notices.push(format!(
                "--intermediate-stats-interval: reports count whole seconds: the jobs are reported \
                 every {}, not every {}",
                Nanos::from_secs(given),
                self.interval
            ));
        }
        notices
    }

    /// Returns the interval between two reports, rounded up to whole seconds.
    fn report_interval_s(&self) -> u64 {
        self.interval.0.div_ceil(SECOND.0)
    }

    /// Applies one flag.
    fn apply_flag(&mut self, name: &'static str, value: &str) -> Result<(), String> {
        let given = || Some(value.to_owned()).filter(|value| !value.is_empty());
        match name {
            "driver" => self.kind = kind(value)?,
            "host" => {
                let port = self.addresses.first().and_then(|address| address.port);
                let host = given().unwrap_or_else(|| DEFAULT_HOST.to_owned());
                self.addresses = vec![HostPort { host, port }];
            }
            "port" => {
                let port = port(value)?;
                self.addresses.iter_mut().for_each(|address| address.port = port);
            }
            "username" => self.user = given().or_else(|| Some(DEFAULT_USER.to_owned())),
            "password" => self.password = given().map(Secret::new),
            "database" => self.database = given(),
            "params" => self.options = options(value)?,
            "url" => match Target::parse(value) {
                Ok(target) => self.apply_url(target),
                Err(error) => self.url_error = Some(error),
            },
            "base-dir" => self.folder = given().map(PathBuf::from),
            "query-stats-file" => self.stats = given().map(PathBuf::from),
            "intermediate-stats" => self.reports = value == "true",
            "intermediate-stats-interval" => self.interval = interval(value)?,
            "max-active-conns" => self.max_connections = parse_pool_size(value)?,
            "allow-commands" => self.allows_commands = value == "true",
            "version" => self.wants_version = value == "true",
            "confidence" => {
                let level = parse_float(value).map_err(|why| format!("it {why}"))?;
                if !(level.as_f64() > 0.0 && level.as_f64() < 1.0) {
                    return Err("it is a number between 0 and 1".to_owned());
                }
            }
            "max-idle-conns" | "max-sample-count" => _ = parse_whole_number(value)?,
            _ => unreachable!("FLAGS has no `{name}`"),
        }
        if matches!(name, "params" | "url") {
            self.options_flag = name;
        }
        if matches!(name, "host" | "port" | "username" | "password") {
            self.network_flags.push(name);
        }
        Ok(())
    }

    /// Applies a URL. If a network URL lacks the user, the password or the database, the earlier
    /// value is kept; all other parts are replaced.
    fn apply_url(&mut self, target: Target) {
        self.kind = target.kind;
        self.options = target.options;
        match target.endpoint {
            Endpoint::Temporary => self.database = None,
            Endpoint::File(path) => self.database = Some(path.to_string_lossy().into_owned()),
            Endpoint::Named(name) => self.database = Some(name),
            Endpoint::Network { user, password, addresses, database } => {
                self.user = user.or(self.user.take());
                self.password = password.or(self.password.take());
                self.addresses = addresses;
                self.database = database.or(self.database.take());
            }
        }
    }

    /// Checks that the flags together describe a target.
    fn check_target(&self) -> Result<(), Complaint> {
        if self.has_network() || self.url_error.is_some() {
            return Ok(());
        }
        let scheme = self.kind.scheme();
        if let Some(name) = self.network_flags.first() {
            let sentence = format!("--{name} has no meaning for `{scheme}:`, which has no network");
            return Err(Complaint::new(sentence).help("leave it out, or name another --driver"));
        }
        let needs_name = self.kind != TargetKind::Sqlite && self.database.is_none();
        match needs_name {
            true => Err(Complaint::new(format!("--driver {scheme} needs a --database"))
                .help("name the kind of server there: `--driver sim --database mm1`")),
            false => Ok(()),
        }
    }

    fn has_network(&self) -> bool {
        match self.kind {
            TargetKind::Postgres | TargetKind::Mysql => true,
            TargetKind::Sqlite | TargetKind::Sim | TargetKind::Testbed => false,
        }
    }

    fn progress_style(&self) -> ProgressStyle {
        ProgressStyle::Lines(match self.reports {
            false => ReportInterval::Never,
            true => ReportInterval::Seconds(self.report_interval_s()),
        })
    }

    fn into_run(self, file: PathBuf) -> RunArgs {
        let allow_commands = self.allows_commands;
        RunArgs {
            file: FileArgs {
                file,
                // Users of dbbench's flags trust the file: it must run as it does in dbbench.
                allow_files: true,
                folder: self.folder.clone(),
                rates: Rates::AsDbbench,
                max_connections: self.max_connections,
                url: Some(self.url()),
                ..FileArgs::default()
            },
            threads: 1,
            allow_commands,
            ..RunArgs::default()
        }
    }

    /// Returns the target. It is built from its parts and not parsed from a text, so passwords and
    /// names need no escapes.
    fn url(self) -> Url {
        if let Some(error) = self.url_error {
            return Err(error);
        }
        let endpoint = match self.kind {
            TargetKind::Postgres | TargetKind::Mysql => Endpoint::Network {
                user: self.user,
                password: self.password,
                addresses: self.addresses,
                database: self.database,
            },
            TargetKind::Sqlite => match self.database {
                Some(file) => Endpoint::File(PathBuf::from(file)),
                None => Endpoint::Temporary,
            },
            TargetKind::Sim | TargetKind::Testbed => {
                Endpoint::Named(self.database.unwrap_or_default())
            }
        };
        Ok(Target { kind: self.kind, endpoint, options: self.options })
    }
}

/// Returns the kind of target of a driver; `testbed` is not a driver name.
fn kind(name: &str) -> Result<TargetKind, String> {
    let kinds = TargetKind::SCHEMES.into_iter().filter(|(_, kind)| *kind != TargetKind::Testbed);
    if let Some((_, kind)) = kinds.clone().find(|(known, _)| *known == name) {
        return Ok(kind);
    }
    let drivers = drivers();
    if matches!(name, "mssql" | "vertica") {
        return Err(format!(
            "dbbench has a driver for `{name}`, assay has none; expected {drivers}"
        ));
    }
    Err(match closest(name, kinds.map(|(known, _)| known)) {
        Some(near) => format!("unknown driver `{name}`; did you mean `{near}`?"),
        None => format!("unknown driver `{name}`; expected {drivers}"),
    })
}

/// Returns the names of the drivers in this build, for messages.
fn drivers() -> String {
    let mut kinds = TargetKind::SCHEMES.map(|(_, kind)| kind).to_vec();
    kinds.dedup();
    // A testbed server is started for a run; it has no driver name.
    kinds.retain(|kind| *kind != TargetKind::Testbed);
    kinds.iter().map(|kind| kind.scheme()).collect::<Vec<_>>().join(", ")
}

/// Parses a port; 0 means that of the driver.
fn port(text: &str) -> Result<Option<u16>, String> {
    let number = parse_int(text).ok().and_then(|number| u16::try_from(number).ok());
    let port = number.ok_or_else(|| "it is not a port from 1 to 65535".to_owned())?;
    Ok(Some(port).filter(|port| *port > 0))
}

/// Parses the options after the `?` of a URL of any kind.
fn options(text: &str) -> Result<Vec<(String, String)>, String> {
    let target = Target::parse(&format!("{}:?{text}", TargetKind::Sqlite.scheme()));
    target.map(|target| target.options).map_err(|error| error.to_string())
}

/// Parses the interval between two reports.
fn interval(text: &str) -> Result<Nanos, String> {
    match parse_duration(text) {
        Ok(Nanos::ZERO) => Err("it is zero: `--intermediate-stats=false` turns reports off".into()),
        Ok(span) => Ok(span),
        Err(UnitError::NotANumber) => Err("it is not a duration: write for example `10s`".into()),
        Err(error) => Err(format!("it {error}")),
    }
}

fn parse_whole_number(text: &str) -> Result<i64, String> {
    parse_int(text).map_err(|_| "it is not a whole number".to_owned())
}

/// Parses the size of a connection pool; zero or less means no limit.
fn parse_pool_size(text: &str) -> Result<Option<u32>, String> {
    let most = i64::from(workload::MOST_CONNECTIONS);
    match parse_whole_number(text)? {
        ..=0 => Ok(None),
        number if number <= most => Ok(u32::try_from(number).ok()),
        _ => Err(format!("it is at most {most}")),
    }
}

/// Returns the command line for the record, rebuilt from the parsed flags, without the password and
/// without flags that do not affect the result.
fn command(run: &RunArgs) -> String {
    let mut words = vec!["assay".to_owned(), "dbbench".to_owned()];
    let mut flag = |name: &str, value: Option<String>| {
        words.extend(value.map(|value| format!("--{name}={}", shell_word(&value))));
    };
    let file = &run.file;
    flag("url", file.url.as_ref().and_then(|url| url.as_ref().ok()).map(Target::to_string));
    flag("base-dir", file.folder.as_ref().map(|folder| folder.display().to_string()));
    flag("max-active-conns", file.max_connections.map(|most| most.to_string()));
    words.extend(run.allow_commands.then(|| "--allow-commands".to_owned()));
    words.push(shell_word(&file_name(&file.file)));
    words.join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the run that a command line describes, or the error message.
    fn run(line: &str) -> Result<RunArgs, String> {
        let words: Vec<OsString> = line.split_whitespace().map(OsString::from).collect();
        let typed = go_flags::parse(FLAGS, &words)?;
        let flag_options =
            FlagOptions::of(&typed.flags).map_err(|complaint| format!("{complaint:?}"))?;
        Ok(flag_options.into_run(PathBuf::from("load.ini")))
    }

    fn target(line: &str) -> Target {
        run(line).unwrap().file.url.unwrap().unwrap()
    }

    fn check(line: &str, expected: &str) {
        assert_eq!(target(line).to_string(), expected, "{line}");
    }

    #[test]
    fn flags_make_a_target() {
        check("", "mysql://root@localhost");
        check("--driver postgres --database shop", "postgres://root@localhost/shop");
        check("-host db -port=3307 -username ann", "mysql://ann@db:3307");
        check("--host ::1 --port 5433 --driver postgres", "postgres://root@[::1]:5433");
        check("--database a --params tls=off", "mysql://root@localhost/a?tls=off");
        check("--driver sqlite", "sqlite:");
        check("--driver sqlite --database shop.db", "sqlite:shop.db");
        check("--driver sim --database mm1 --params service=2ms", "sim:mm1?service=2ms");
    }

    /// Scripts pass variables that may be empty.
    #[test]
    fn empty_flags_and_port_0_mean_the_defaults() {
        check("--port 1 --host db --username=", "mysql://root@db:1");
        check("--host= --port=0 --username= --password= --database=", "mysql://root@localhost");
        check("--driver postgres --port 1 --port 0", "postgres://root@localhost");
        let url = "--url mysql://ann@b:1/shop";
        check(&format!("{url} --host= --port 0x0 --username="), "mysql://root@localhost/shop");
    }

    #[test]
    fn later_flags_override_the_url() {
        check("--url sqlite:shop.db", "sqlite:shop.db");
        check("--host a --url mysql://b/shop", "mysql://root@b/shop");
        check("--url mysql://ann@b/shop --host c", "mysql://ann@c/shop");
        check("--params tls=off --url mysql://b", "mysql://root@b");
        check("--url mysql://b?tls=off --params tls=verify", "mysql://root@b?tls=verify");
        check("--url sqlite:a.db --database b.db", "sqlite:b.db");
    }

    #[test]
    fn driver_parameters_follow_the_driver_in_any_flag_order() {
        let params = "--params sslmode=disable&connect_timeout=5";
        let expected = "postgres://root@localhost?tls=off&connect-timeout=5s";
        check(&format!("{params} --driver postgres"), expected);
        check(&format!("--driver postgres {params}"), expected);
        check("--url postgres://h?sslmode=require", "postgres://root@h?tls=require");
        check("--url mysql://h?tls=skip-verify&parseTime=true", "mysql://root@h?tls=require");
    }

    #[test]
    fn numbers_follow_gos_syntax() {
        check("--port 0x_1F40", "mysql://root@localhost:8000");
        check("--port +8_000 --confidence 0x1p-1", "mysql://root@localhost:8000");
        check("--port 017500", "mysql://root@localhost:8000");
        let most = |line: &str| run(line).unwrap().file.max_connections;
        assert_eq!(most("--max-active-conns 1_000 --max-idle-conns 0b11"), Some(1_000));
    }

    #[test]
    fn names_and_passwords_need_no_escapes() {
        let target = target("--username a@b --password p@ss/w:rd?% --database x/y#1");
        let Endpoint::Network { user, password, database, .. } = target.endpoint else { panic!() };
        assert_eq!(user.as_deref(), Some("a@b"));
        assert_eq!(password.as_ref().map(Secret::expose), Some("p@ss/w:rd?%"));
        assert_eq!(database.as_deref(), Some("x/y#1"));
    }

    #[test]
    fn recorded_command_line_has_no_password_and_can_be_repeated() {
        let line = "--driver postgres --username a@b --password p@ss/w:rd --base-dir /data \
                    --max-active-conns 7 --intermediate-stats=false --database x";
        let recorded = command(&run(line).unwrap());
        let expected = "assay dbbench --url=postgres://a%40b@localhost/x --base-dir=/data \
                        --max-active-conns=7 load.ini";
        assert_eq!(recorded, expected);
        let again = recorded.strip_prefix("assay dbbench ").unwrap();
        assert_eq!(command(&run(again).unwrap()), recorded);
    }

    #[test]
    fn invalid_flags_are_refused() {
        for (line, words) in [
            ("--driver mssql", "dbbench has a driver for `mssql`, assay has none"),
            ("--driver vertica", "dbbench has a driver for `vertica`, assay has none"),
            ("--driver postgers", "did you mean `postgres`?"),
            ("--driver oracle", "unknown driver `oracle`; expected"),
            ("--driver sim", "--driver sim needs a --database"),
            ("--driver sqlite --password x", "--password has no meaning for `sqlite:`"),
            ("--port -1", "--port: it is not a port"),
            ("--port=", "--port: it is not a port"),
            ("--params password=x", "--params: a password cannot be an option"),
            ("--params tls=preferred", "--params: `tls=preferred` is not accepted: encryption"),
            ("--driver postgres --params sslmode=prefer", "--params: `sslmode=prefer` is not"),
            ("--params a=b", "--params: `a` is not accepted"),
            ("--port 65_536", "--port: it is not a port"),
            ("--intermediate-stats-interval 0", "--intermediate-stats-interval: it is zero"),
            ("--intermediate-stats-interval 5", "it has no unit"),
            ("--intermediate-stats-interval -1s", "it is negative"),
            ("--confidence 99", "--confidence: it is a number between 0 and 1"),
            ("--max-active-conns many", "--max-active-conns: it is not a whole number"),
            ("--max-active-conns 100001", "--max-active-conns: it is at most 100000"),
            ("--max-idle-conns 1.5", "--max-idle-conns: it is not a whole number"),
        ] {
            let message = run(line).unwrap_err();
            assert!(message.contains(words), "{line}: {message}");
        }
    }

    #[test]
    fn malformed_url_is_passed_on_with_its_error() {
        let url = run("--url mysq://h --driver sqlite").unwrap().file.url.unwrap();
        assert!(matches!(url, Err(TargetError::Scheme { .. })), "{url:?}");
    }

    #[test]
    fn reports_are_printed_each_second_unless_disabled() {
        let shown = |line: &str| {
            let words: Vec<OsString> = line.split_whitespace().map(OsString::from).collect();
            let parsed = go_flags::parse(FLAGS, &words).unwrap();
            FlagOptions::of(&parsed.flags).unwrap().progress_style()
        };
        assert_eq!(shown(""), ProgressStyle::Lines(ReportInterval::Seconds(1)));
        assert_eq!(shown("--intermediate-stats=f"), ProgressStyle::Lines(ReportInterval::Never));
        assert_eq!(
            shown("--intermediate-stats-interval 1m"),
            ProgressStyle::Lines(ReportInterval::Seconds(60))
        );
        assert_eq!(
            shown("--intermediate-stats-interval 1ms"),
            ProgressStyle::Lines(ReportInterval::Seconds(1))
        );
        assert_eq!(
            shown("--intermediate-stats-interval +1.5s"),
            ProgressStyle::Lines(ReportInterval::Seconds(2))
        );
    }

    #[test]
    fn zero_connections_mean_unlimited() {
        let most = |line: &str| run(line).unwrap().file.max_connections;
        assert_eq!(most("--max-active-conns 0"), None);
        assert_eq!(most("--max-active-conns -1"), None);
        assert_eq!(most("--max-active-conns 20"), Some(20));
    }

    #[test]
    fn every_flag_is_handled() {
        for flag in FLAGS {
            // A wrong value is an error, a flag that is not handled a panic.
            let _ = FlagOptions::of(&[(flag.name, "1".to_owned())]);
        }
        for (name, why) in WITHOUT_EFFECT {
            assert!(FLAGS.iter().any(|flag| flag.name == *name) && !why.is_empty(), "{name}");
        }
    }
}
