//! `assay observe`: watches another program and reports its limiter.

use std::borrow::Cow;
use std::ffi::OsStr;
use std::process::Command;

use base::{Target, names_secret, password_option, printable, shell_word, without_passwords};
use engine::Stop;
use lab::{AttachError, AttachOrder, AttachResult, Subject};
use workload::{Observe, RemoteHost};

use crate::args::{AnswerArgs, ObserveArgs};
use crate::commands::answer::{self, TextForm};
use crate::commands::order;
use crate::complain::Complaint;
use crate::display::Interruption;
use crate::exit::Exit;
use crate::reading::target_of;
use crate::{outputs, signals, stderr};

/// Replacement for a part of a command that may be a secret.
const HIDDEN: &str = "…";

pub(crate) fn observe(args: &ObserveArgs) -> Result<Exit, Complaint> {
    if args.stdio {
        return serve_samples(args);
    }
    let target = target_of(args.url.as_ref())?;
    let subject = subject(args)?;
    let hosts: Result<Vec<RemoteHost>, String> = args.host.iter().cloned().collect();
    let hosts = hosts.map_err(|error| Complaint::new(format!("the value of --host {error}")))?;
    let stop = Stop::default();
    let (description, command) = (description(args), command(args, target.as_ref()));
    let record = order::record(args.out.as_ref(), "observe");
    outputs::check_observation(target.as_ref(), record.path())?;
    let order = AttachOrder {
        subject,
        description,
        target,
        duration: args.duration,
        observe: Observe {
            every: args.every,
            processes: args.server.clone(),
            hosts,
            ..Observe::default()
        },
        record,
        command,
        version: env!("CARGO_PKG_VERSION").to_owned(),
        commit: option_env!("ASSAY_COMMIT").map(str::to_owned),
        stop: stop.clone(),
        warn: Box::new(|text| Complaint::warning(text).print()),
    };
    let say = |_: Interruption| {};
    match args.command.is_empty() {
        true => signals::listen(stop, say)?,
        false => signals::listen_beside_program(stop, say)?,
    }
    let AttachResult { record, end, status, record_error } =
        lab::attach(order).map_err(|error| attach_complaint(&error))?;
    if let Some(status) = status.filter(|status| !status.success()) {
        Complaint::warning(format!("the observed program ended with {status}")).print();
    }
    let args = AnswerArgs { json: args.json, ..AnswerArgs::default() };
    let exit = answer::print_run(&record, end, record_error.as_ref(), &args, TextForm::Short)?;
    // An interruption takes precedence over the loss of the record.
    Ok(Exit::of_end(end).unwrap_or(exit))
}

/// Returns the complaint about a program that cannot be observed.
fn attach_complaint(error: &AttachError) -> Complaint {
    let complaint = Complaint::of(error);
    match error {
        AttachError::Run(_) => complaint,
        AttachError::Start(_) => {
            complaint.help("write a program that the shell finds, or its path, after `--`")
        }
        AttachError::NoProcess(_) => {
            complaint.help("name the number of a process that runs, as `ps -e` lists it")
        }
    }
}

/// Sends samples of this machine to the `assay` on another machine that started this process.
fn serve_samples(args: &ObserveArgs) -> Result<Exit, Complaint> {
    let scope = lab::remote::scope(args.every, args.port.clone(), args.server.clone());
    let served = lab::remote::serve(scope, std::io::stdin(), std::io::stdout());
    served.map_err(|error| Complaint::new(format!("cannot write samples: {error}")))?;
    Ok(Exit::Success)
}

/// Returns the program to observe.
fn subject(args: &ObserveArgs) -> Result<Subject, Complaint> {
    match (args.command.as_slice(), args.pid) {
        ([program, rest @ ..], None) => {
            let mut command = Command::new(program);
            command.args(rest);
            // Stdout is for the document, so the program's own output goes to stderr.
            if args.json {
                command.stdout(stderr::as_child_output());
            }
            Ok(Subject::Command(command))
        }
        ([], Some(number)) => Ok(Subject::Process(number)),
        ([], None) if args.duration.is_some() => Ok(Subject::NoProgram),
        ([], None) => Err(Complaint::new("there is nothing to observe")
            .help("name a command after `--`, a process with --pid, or a time with --duration")),
        (_, Some(_)) => Err(Complaint::new("a command and --pid are two programs: name one")),
    }
}

/// Returns the description of the program for the record; empty without a program.
fn description(args: &ObserveArgs) -> String {
    match args.pid {
        Some(number) => {
            // A process that does not exist is refused later.
            let name = std::fs::read(format!("/proc/{number}/comm")).unwrap_or_default();
            process_description(number, &name)
        }
        None => command_without_secrets(&args.command),
    }
}

/// Returns the description of a process: `process 4711 (sysbench)`. `name` is the content of its
/// file `comm`, which the process itself can set (`proc_pid_comm(5)`).
fn process_description(number: u32, name: &[u8]) -> String {
    let name = String::from_utf8_lossy(name.strip_suffix(b"\n").unwrap_or(name));
    match name.is_empty() {
        true => format!("process {number}"),
        false => format!("process {number} ({})", printable(&name)),
    }
}

/// Returns the program's command line without anything that may be a secret.
fn command_without_secrets(words: &[impl AsRef<OsStr>]) -> String {
    let words: Vec<Cow<'_, str>> =
        words.iter().map(|word| word.as_ref().to_string_lossy()).collect();
    let line = words.join(" ");
    let mut last = "";
    let shown = words.iter().map(|word| {
        let before = std::mem::replace(&mut last, word);
        // `-p` is the password option of some programs, and the port option of others.
        let is_number = word.parse::<u16>().is_ok();
        let is_secret =
            announces_secret(&line, before) || matches!(before, "-p" | "-P") && !is_number;
        match (is_secret, before, word.split_once(':')) {
            (true, _, _) => HIDDEN.to_owned(),
            (false, "-u" | "--user", Some((user, _))) => shell_word(&format!("{user}:{HIDDEN}")),
            (false, _, _) => shell_word(&without_secret(&line, word)),
        }
    });
    shown.collect::<Vec<_>>().join(" ")
}

/// Characters that separate the parts of a script, of connection settings or of a URL's options.
const DIVIDERS: [char; 6] = [';', '&', '?', '|', '"', '\''];

/// Returns true if the word that follows `word` in a command is a secret, as in `--password abc`.
fn announces_secret(command: &str, word: &str) -> bool {
    let is_option = word.starts_with('-') && !word.contains('=');
    is_option && (names_secret(word) || password_option(command, word) == Some(word))
}

/// Returns true if the word has several parts, one of which may be a secret: a script, settings, a
/// URL.
fn holds_secret(word: &str) -> bool {
    let is_divider = |c: char| c.is_whitespace() || DIVIDERS.contains(&c);
    let is_option = |part: &str| part.starts_with("-p") || password_option(word, part).is_some();
    word.contains(is_divider) && (names_secret(word) || word.split(is_divider).any(is_option))
}

/// Options of curl with a user and a password in the same word.
const USER_OPTIONS: [&str; 2] = ["--user=", "-u"];

/// Returns the part of a word before its password: `-uann` of `-uann:abc`; `None` if the word has
/// none of the [`USER_OPTIONS`] or no password.
fn user_before_password(word: &str) -> Option<&str> {
    let option = USER_OPTIONS.iter().find(|option| word.starts_with(**option))?;
    let colon = word[option.len()..].find(':')?;
    Some(&word[..option.len() + colon])
}

/// Returns a word of a command without the secret in it: `--password=…`, `-p…` of MySQL's clients,
/// `-P…` of sqlcmd, `-u…` of curl, a variable, a URL.
fn without_secret(command: &str, word: &str) -> String {
    if holds_secret(word) {
        return HIDDEN.to_owned();
    }
    if let Some(user) = user_before_password(word) {
        return format!("{user}:{HIDDEN}");
    }
    if let Some(option) = password_option(command, word).filter(|option| *option != word) {
        return format!("{option}{HIDDEN}");
    }
    match word.split_once('=') {
        Some((name, _)) if names_secret(name) => format!("{name}={HIDDEN}"),
        _ if word.starts_with("-p") && word.len() > 2 && !word.starts_with("--") => {
            format!("-p{HIDDEN}")
        }
        _ => without_passwords(word),
    }
}

/// Returns the command line for the record.
fn command(args: &ObserveArgs, target: Option<&Target>) -> String {
    let mut words = vec!["assay observe".to_owned()];
    words.extend(target.map(|target| shell_word(&target.to_string())));
    words.extend(args.pid.map(|number| format!("--pid {number}")));
    words.extend(args.duration.map(|duration| format!("--duration {duration}")));
    words.extend(args.server.iter().map(|number| format!("--server {number}")));
    let hosts = args.host.iter().flatten();
    words.extend(hosts.map(|host| format!("--host {}", shell_word(&host.to_string()))));
    words.extend((args.every != Observe::EVERY).then(|| format!("--every {}", args.every)));
    if !args.command.is_empty() {
        words.push(format!("-- {}", command_without_secrets(&args.command)));
    }
    words.join(" ")
}

#[cfg(test)]
mod tests {
    use clap::Parser as _;

    use super::*;
    use crate::args;

    #[test]
    fn recorded_command_has_every_option_that_affects_the_observation() {
        let line = "assay observe postgres://ann@db1/shop --pid 4711 --duration 1m --server 7 \
                    --server 8 --host ssh://db1 --every 2s";
        let parsed = args::Args::try_parse_from(line.split(' ')).unwrap().command;
        let args::Command::Observe(args) = parsed else { panic!("another command") };
        let target = args.url.as_ref().map(|url| url.as_ref().unwrap());
        assert_eq!(command(&args, target), line);
    }

    #[test]
    fn process_is_described_by_its_number_and_name() {
        let names: [(&[u8], &str); 3] = [
            (b"sysbench\n", "process 4711 (sysbench)"),
            (b"a\n\x1b[2J\xe9\n", "process 4711 (a \u{fffd}[2J\u{fffd})"),
            (b"", "process 4711"),
        ];
        for (name, expected) in names {
            assert_eq!(process_description(4711, name), expected);
        }
    }

    #[test]
    fn a_command_is_recorded_without_its_secrets() {
        let shown = |line: &str| {
            let words: Vec<String> = line.split(' ').map(str::to_owned).collect();
            command_without_secrets(&words)
        };
        for (line, expected) in [
            ("sysbench --mysql-password=geheim run", "sysbench '--mysql-password=…' run"),
            ("mysql -pgeheim -e x", "mysql '-p…' -e x"),
            ("x --password geheim y", "x --password '…' y"),
            ("env PGPASSWORD=geheim psql", "env 'PGPASSWORD=…' psql"),
            ("pgbench -c 8 -T 60", "pgbench -c 8 -T 60"),
            ("pgbench -p 5432 shop", "pgbench -p 5432 shop"),
            ("go-tpc -p geheim run", "go-tpc -p '…' run"),
            ("redis-cli -h db1 -a geheim ping", "redis-cli -h db1 -a '…' ping"),
            ("sqlcmd -S db1 -P geheim", "sqlcmd -S db1 -P '…'"),
            ("sqlcmd -S db1 -P 1234", "sqlcmd -S db1 -P '…'"),
            ("sqlcmd -S db1 -Pgeheim", "sqlcmd -S db1 '-P…'"),
            ("env ROOT_PW=geheim x", "env 'ROOT_PW=…' x"),
            ("tar -a -c x", "tar -a -c x"),
            ("curl -u ann:geheim x", "curl -u 'ann:…' x"),
            ("curl -uann:geheim x", "curl '-uann:…' x"),
            ("curl --user=ann:geheim x", "curl '--user=ann:…' x"),
            ("mysql -uann shop", "mysql -uann shop"),
            ("x jdbc:mysql://h/d?user=u&password=geheim", "x '…'"),
            ("loader --dsn root:geheim@tcp(h:3306)/shop", "loader --dsn '…'"),
            ("loader --dsn=root:geheim@tcp(h:3306)/shop", "loader '--dsn=…'"),
            ("loader root:geheim@tcp(h:3306)/shop", "loader root:******@tcp(h:3306)/shop"),
        ] {
            let text = shown(line);
            assert!(!text.contains("geheim"), "{text}");
            assert_eq!(text.replace('\'', ""), expected.replace('\'', ""), "{line}");
        }
        assert!(!shown("x postgres://u:geheim@h/d").contains("geheim"));
        for script in [
            "sysbench --threads=4 --mysql-password=geheim run",
            "cd /tmp; mysql -pgeheim -e x",
            "go-tpc -p geheim run",
            "redis-cli -a geheim ping",
            "sqlcmd -Pgeheim -Q x",
            "host=h user=u password=geheim",
            "Authorization: Bearer geheim",
            "loader --dsn root:geheim@unix(/s)/shop",
        ] {
            let words = ["sh", "-c", script].map(str::to_owned);
            assert_eq!(command_without_secrets(&words).replace('\'', ""), "sh -c …", "{script}");
        }
        let plain = ["sh", "-c", "psql -q < a.sql"].map(str::to_owned);
        assert_eq!(command_without_secrets(&plain), "sh -c 'psql -q < a.sql'");
    }
}
