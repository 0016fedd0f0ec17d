//! The permissions of a workload file on this machine.
//!
//! A workload file may come from an untrusted source. Without a flag it reads files below its own
//! folder, creates new files below the folder of the record, opens databases and certificates below
//! the current folder, and sends statements to databases; docs/trust.md describes the remaining
//! risks. Anything else needs the user's permission: `--allow-commands` for programs,
//! `--allow-files` for files elsewhere and for passwords.

use std::collections::BTreeSet;
use std::io;
use std::path::Path;

use base::{Endpoint, Target, TargetKind, printable};
use workload::question::{Arm, Difference};
use workload::{Job, JobTarget, Placeholders, Plan};

use crate::args::FileArgs;
use crate::complain::Complaint;
use crate::workload_file::WorkloadFile;

/// Options of a URL whose values are paths of local files.
const PATH_OPTIONS: [&str; 4] = ["tls-ca", "tls-cert", "tls-key", "server-public-key"];

/// Option of a URL whose value is the path of a Unix socket. Over a socket, a server may admit the
/// operating-system user by name alone, with all rights of that user.
const SOCKET_OPTION: &str = "socket";

/// The environment variable with the password for every server whose URL has none.
const PASSWORD_VARIABLE: &str = "ASSAY_PASSWORD";

/// Refuses a workload file that runs programs: for jobs, ssh or private servers.
///
/// # Errors
/// The file runs programs. The error lists them and names the flag that allows them.
pub(crate) fn refuse_programs(file: &WorkloadFile, is_url_typed: bool) -> Result<(), Complaint> {
    // The displayable plan, without secret parameters.
    let plan = file.plan.with_secrets_hidden();
    refuse_if_any(&programs(&plan, is_url_typed))
}

/// Refuses an arm of an experiment that runs programs, or that changes settings of a private
/// server: some of these settings name programs.
///
/// # Errors
/// As for [`refuse_programs`].
pub(crate) fn refuse_programs_of_arm(
    file: &WorkloadFile,
    arm: &Arm,
    is_url_typed: bool,
) -> Result<(), Complaint> {
    let mut wanted = programs(&file.plan.with_secrets_hidden(), is_url_typed);
    let asks = |one: &&Difference| match one {
        Difference::BeforeCommand(_) | Difference::AfterCommand(_) => true,
        Difference::Server { .. } => true,
        Difference::Option { name, .. } => name.starts_with("via."),
        Difference::Url(_)
        | Difference::Param { .. }
        | Difference::Key { .. }
        | Difference::Before(_)
        | Difference::After(_)
        | Difference::Nodes(_) => false,
    };
    let own = arm.differences.iter().filter(asks);
    let line = |one: &Difference| format!("  [arm {}]  {} = {}", arm.name, one.key(), one.value());
    wanted.extend(own.map(|one| printable(&line(one)).into_owned()));
    refuse_if_any(&wanted)
}

fn refuse_if_any(wanted: &[String]) -> Result<(), Complaint> {
    if wanted.is_empty() {
        return Ok(());
    }
    let wanted = wanted.join("\n");
    Err(Complaint::new(format!("the file wants to run these programs:\n{wanted}"))
        .help("if they may run, add --allow-commands"))
}

/// Returns the programs that a workload file runs, one per line.
fn programs(plan: &Plan, is_url_typed: bool) -> Vec<String> {
    let command = |job: &Job| {
        let text = job.command()?.text(Placeholders::Question);
        Some(format!("  [{}]  {text}", job.name()))
    };
    let hosts = plan.observe.hosts.iter().map(|host| format!("  [observe]  ssh to {host}"));
    let private = targets(plan, is_url_typed).into_iter();
    let private = private.filter(|(_, target)| target.kind == TargetKind::Testbed);
    let private = private.map(|(key, target)| format!("  {key}  {target}"));
    let all = plan.jobs.iter().filter_map(command).chain(hosts).chain(private);
    // Each program is printed on one line: a second line could imitate this program's own advice.
    all.map(|program| printable(&program).into_owned()).collect()
}

/// Refuses a workload file with a URL that names a Unix socket, a server that would receive a
/// password not meant for it, or a path that is not allowed, such as one outside the current
/// folder. [`confine::check_database_below_here`] checks the path of a database, and
/// [`confine::check_below_here`] every other path.
///
/// # Errors
/// A URL names such a path, socket or server, or a path cannot be checked. A refusal names the URL
/// and the flag that allows it.
pub(crate) fn check_files(file: &WorkloadFile, args: &FileArgs) -> Result<(), Complaint> {
    if args.allow_files {
        return Ok(());
    }
    for (key, target) in targets(&file.plan, args.has_typed_url()) {
        if let Endpoint::File(path) = &target.endpoint {
            let allowed = confine::check_database_below_here(path);
            allowed.map_err(|error| path_complaint(file, &key, path, &error))?;
        }
        for path in paths(target) {
            let allowed = confine::check_below_here(path);
            allowed.map_err(|error| path_complaint(file, &key, path, &error))?;
        }
        if let Some(socket) = target.option(SOCKET_OPTION) {
            return Err(socket_complaint(file, &key, socket));
        }
        refuse_password(file, &key, target)?;
    }
    Ok(())
}

/// Warns of each password file that is ignored because of its permissions, as the databases' own
/// clients do. A server that needs no password would otherwise hide the mistake.
pub(crate) fn warn_of_ignored_password_files<'t>(targets: impl IntoIterator<Item = &'t Target>) {
    let reasons = targets.into_iter().filter_map(lab::reason_for_ignored_password_file);
    let distinct: BTreeSet<String> = reasons.collect();
    distinct.into_iter().for_each(|reason| Complaint::warning(reason).print());
}

/// Returns the targets that a plan uses, without a temporary main target.
pub(crate) fn used_targets(plan: &Plan) -> impl Iterator<Item = &Target> {
    let main = plan.target.iter().filter(|_| plan.uses(JobTarget::Main));
    main.chain(plan.named_targets().map(|named| &named.target))
}

/// Warns of a secret parameter given with `--set`, because process lists show command lines.
pub(crate) fn warn_of_secret_settings(args: &FileArgs, plan: &Plan) {
    let mut names = args.set.iter().map(|(name, _)| name).filter(|name| plan.is_secret(name));
    if let Some(name) = names.next() {
        let sentence = format!(
            "the password in `--set {name}=…` can be seen in the list of processes: write it into \
             the file, or leave it out of `url` and set ASSAY_PASSWORD"
        );
        Complaint::warning(sentence).print();
    }
}

/// Refuses an arm whose URL options name a Unix socket, or a path that
/// [`confine::check_below_here`] refuses, such as one outside the current folder. The options come
/// from the file, even if the URL was given on the command line.
///
/// # Errors
/// An option names such a path or socket, or the path cannot be checked. A refusal names the option
/// and the flag that allows it.
pub(crate) fn check_options(
    file: &WorkloadFile,
    arm: &Arm,
    args: &FileArgs,
) -> Result<(), Complaint> {
    if args.allow_files {
        return Ok(());
    }
    for one in &arm.differences {
        let Difference::Option { name, value } = one else { continue };
        let key = format!("`{}` of {}", one.key(), arm.heading());
        if name == SOCKET_OPTION {
            return Err(socket_complaint(file, &key, value));
        }
        if is_path(name, value) {
            let path = Path::new(value);
            let allowed = confine::check_below_here(path);
            allowed.map_err(|error| path_complaint(file, &key, path, &error))?;
        }
    }
    Ok(())
}

/// Refuses a remote server that would receive a password not bound to one server: from the
/// environment, or one that the password file gives for any host.
fn refuse_password(file: &WorkloadFile, key: &str, target: &Target) -> Result<(), Complaint> {
    let is_set = std::env::var_os(PASSWORD_VARIABLE).is_some_and(|password| !password.is_empty());
    let (password, remedy) = if is_given_a_password(target) && is_set {
        (format!("the password in {PASSWORD_VARIABLE}"), "unset the variable")
    } else if let Some(path) = lab::password_file_for_any_host(target) {
        let remedy = match target.kind == TargetKind::Postgres {
            true => "give its host a line of its own in that file",
            false => "write its password into the URL",
        };
        (format!("the password for any host from `{}`", path.display()), remedy)
    } else {
        return Ok(());
    };
    let sentence = format!(
        "{}: {key} leads to {}, which would receive {password}",
        file.source.name,
        target.display_url()
    );
    let help = format!("name the server with --url, {remedy}, or add --allow-files");
    Err(Complaint::new(sentence).help(help))
}

/// Returns the targets that a file names, with their keys.
fn targets(plan: &Plan, is_url_typed: bool) -> Vec<(String, &Target)> {
    let main = plan.target.as_ref().filter(|_| !is_url_typed);
    let main = main.map(|target| ("`url`".to_owned(), target));
    let named = plan.named_targets();
    let named = named.map(|named| (format!("`url` of [target {}]", named.name), &named.target));
    main.into_iter().chain(named).collect()
}

/// Returns true if a remote server would receive a password that is set in the environment.
fn is_given_a_password(target: &Target) -> bool {
    match &target.endpoint {
        Endpoint::Network { password: None, addresses, .. } => {
            addresses.iter().any(|address| !address.is_local())
        }
        Endpoint::Network { password: Some(_), .. }
        | Endpoint::Temporary
        | Endpoint::File(_)
        | Endpoint::Named(_) => false,
    }
}

/// Returns the local files that the options of a URL name.
fn paths(target: &Target) -> impl Iterator<Item = &Path> {
    let options = target.options.iter().filter(|(name, value)| is_path(name, value));
    options.map(|(_, value)| Path::new(value))
}

/// Returns true if an option of a URL names a local file.
fn is_path(name: &str, value: &str) -> bool {
    PATH_OPTIONS.contains(&name) && value != "ask"
}

fn path_complaint(file: &WorkloadFile, key: &str, path: &Path, error: &io::Error) -> Complaint {
    let sentence = format!("{}: {key} leads to `{}`: {error}", file.source.name, path.display());
    let help = "without that flag, a file may name only paths below the current folder; --url may \
                name any path";
    Complaint::new(sentence).help(help)
}

fn socket_complaint(file: &WorkloadFile, key: &str, socket: &str) -> Complaint {
    let name = &file.source.name;
    let sentence = format!(
        "{name}: {key} leads to the Unix socket `{socket}`, where a server may admit you by your \
         name alone"
    );
    Complaint::new(sentence).help("name the server with --url, or add --allow-files")
}
