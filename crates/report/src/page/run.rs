//! The run, its events and its resource usage: enough to repeat the run.

use analyze::{Check, CheckKind, ClientSummary, ProgramSummary, Status};
use base::shell_word;
use base::units::grouped;
use record::environment::{assay, generator, is_environment_fact, known};
use record::{Event, EventKind, Note};
use workload::{NamedTarget, Warmup};

use super::quantity::Quantity;
use super::remark::{Line, Remark};
use crate::note;
use crate::number::seconds;
use crate::number::{bytes, count, percent, time};
use crate::view::{RunDetails, View};
use crate::words;

/// Maximum number of listed events; the record has all.
const MOST_EVENTS: usize = 20;

/// Maximum number of events in the short answer.
const MOST_SHORT_EVENTS: usize = 5;

/// Maximum number of listed settings; the record has all.
const MOST_SETTINGS: usize = 24;

/// Facts about the run.
#[derive(Clone, Debug, PartialEq)]
pub struct RunSection {
    /// Workload, target, time and end.
    pub about: RunDetails,
    /// Named targets.
    pub targets: Vec<NamedTarget>,
    /// True if a database is on the generator's machine; `None` if there is none, or its location
    /// is unknown.
    pub shares_its_host: Option<bool>,
    /// Workload, targets, and measured period, in words.
    pub subject: Vec<Line>,
    /// Resource usage of the generator.
    pub client: Option<ClientSummary>,
    /// Throughput of an observed program.
    pub program: Option<ProgramSummary>,
    /// Fraction of one processor used for observing.
    pub observing_share: Option<f64>,
    /// Resources of the generator, settings of the servers, and command, in words.
    pub resources: Vec<Line>,
    /// Path of the record.
    pub record: Line,
    /// File name of the record, for documents that must not depend on the record's folder.
    pub record_file: Line,
    /// Notes of reviewers, in words.
    pub reviews: Vec<Line>,
    /// The server and the machine of the load generator, in words; empty if both are unknown.
    pub measured_on: Vec<Line>,
    /// Commands that show more of the record.
    pub commands: Vec<String>,
    /// Commands that show more of the record, for use in its folder.
    pub commands_in_folder: Vec<String>,
    /// Commands to continue with, each labelled with its purpose.
    pub next: Vec<Line>,
}

/// The events of the run as a whole, not of single requests.
#[derive(Clone, Debug, PartialEq)]
pub struct EventsSection {
    /// The events that are listed, by time. Events of the kind [`EventKind::FirstError`] are listed
    /// only if all other events leave room.
    pub events: Vec<EventRow>,
    /// Remark on the events that are not shown.
    pub more: Option<Remark>,
}

/// An event.
#[derive(Clone, Debug, PartialEq)]
pub struct EventRow {
    /// Time since time zero.
    pub at: Quantity,
    /// Job and kind of the event, and its text.
    pub text: String,
}

impl RunSection {
    pub(super) fn of(view: &View) -> RunSection {
        let path = view.about.record.to_string_lossy().into_owned();
        let file = view.about.file();
        let record = |name: &str| Line::unwrapped("record", shell_word(name));
        RunSection {
            about: view.about.clone(),
            targets: view.evidence.plan.named_targets().cloned().collect(),
            shares_its_host: view.shares_its_host(),
            subject: subject(view),
            client: view.summary.client,
            program: view.summary.program,
            observing_share: view.summary.observing_share,
            resources: resources(view),
            record: record(&path),
            record_file: record(&file),
            reviews: view.about.notes.iter().map(review_line).collect(),
            measured_on: measured_on(&view.about),
            commands: commands(view, &path),
            commands_in_folder: commands(view, &file),
            next: next_commands(view),
        }
    }
}

fn review_line(note: &Note) -> Line {
    Line::new("note", note::sentence(note))
}

/// Returns the workload, its targets, and the measured period.
fn subject(view: &View) -> Vec<Line> {
    let about = &view.about;
    let workload = format!("{}, seed {}", about.workload, about.seed.0);
    let mut lines = vec![Line::new("workload", workload)];
    if !about.target.is_empty() {
        lines.push(Line::new("target", about.target_in_words() + &encryption(view, "tls")));
    }
    for named in view.evidence.plan.named_targets() {
        let words = named.target.display_url() + &encryption(view, &format!("{}.tls", named.name));
        lines.push(Line::new(format!("target {}", named.name), words));
    }
    lines.push(Line::new("measured", measured_period(view)));
    lines
}

/// Formats the encryption of the traffic with a target, which the target's URL does not always
/// show. Empty if the record lacks the setting, for example for a target without a network.
fn encryption(view: &View, setting: &str) -> String {
    let found = view.about.settings.iter().find(|(name, _)| name == setting);
    found.map_or(String::new(), |(_, mode)| format!(", tls {mode}"))
}

fn measured_period(view: &View) -> String {
    let window = view.summary.window;
    let started = if view.about.is_virtual {
        "in virtual time".to_owned()
    } else {
        format!("started {}", view.about.started)
    };
    let threads = count(u64::from(view.about.threads), "thread");
    if view.summary.jobs.is_empty() {
        let what = if view.summary.loads.is_empty() { "nothing" } else { "loads alone" };
        return format!("{what}, {started}");
    }
    let length = seconds(window.end_s - window.start_s);
    let warmup = match window.warmup_s {
        0.0 => String::new(),
        warmup => format!(" after a warm-up of {}{}", seconds(warmup), warm_up_method(view)),
    };
    format!("{length}{warmup}, {started}, {threads}")
}

/// Returns the method by which the end of the warm-up was found; empty if the user gave it.
fn warm_up_method(view: &View) -> &'static str {
    match view.evidence.plan.warmup {
        Warmup::Lasts(_) => "",
        Warmup::Auto => ", found by MSER-5",
    }
}

impl EventsSection {
    pub(super) fn of(view: &View) -> EventsSection {
        let events: Vec<&Event> = view.evidence.events.iter().collect();
        EventsSection::list_events(view, &events, MOST_EVENTS)
    }

    /// Returns the events of the short answer: all except first errors whose texts are in `shown`.
    pub(super) fn short(view: &View, shown: &[String]) -> EventsSection {
        let is_shown =
            |event: &Event| event.kind == EventKind::FirstError && shown.contains(&event.text);
        let others: Vec<&Event> =
            view.evidence.events.iter().filter(|event| !is_shown(event)).collect();
        EventsSection::list_events(view, &others, MOST_SHORT_EVENTS)
    }

    fn list_events(view: &View, events: &[&Event], most: usize) -> EventsSection {
        let row = |event: &Event| {
            let job = job_of(view, event).map(|job| format!("[{job}] ")).unwrap_or_default();
            EventRow {
                at: Quantity::Span(event.at.as_secs_f64()),
                text: format!("{job}{}: {}", name_of(view, event), event.text),
            }
        };
        let more = match events.len().saturating_sub(most) {
            0 => None,
            more => {
                let more = count(more as u64, "more event");
                Some(Remark::note(format!("and {more} in the record, table `event`")))
            }
        };
        EventsSection { events: choose(events, most).into_iter().map(row).collect(), more }
    }
}

/// Returns at most `most` of the events, by time. First errors are left out before other events: a
/// mix may have a first error for each of its parts, and all of these would hide the reason why the
/// mix ended.
fn choose<'e>(events: &[&'e Event], most: usize) -> Vec<&'e Event> {
    let mut chosen: Vec<(usize, &Event)> = events.iter().copied().enumerate().collect();
    chosen.sort_by_key(|(_, event)| event.kind == EventKind::FirstError);
    chosen.truncate(most);
    // Events at the same time stay in the order in which they became known.
    chosen.sort_by_key(|(place, event)| (event.at, *place));
    chosen.into_iter().map(|(_, event)| event).collect()
}

/// Returns the name of an event. The event of an incomplete op-log is named after the option that
/// requested the log: `op-log-incomplete` or `query-stats-file-incomplete`.
fn name_of(view: &View, event: &Event) -> String {
    match (event.kind, &view.about.op_log) {
        (EventKind::OpLogIncomplete, Some(log)) => format!("{}-incomplete", log.format.option()),
        _ => event.kind.name().to_owned(),
    }
}

fn measured_on(about: &RunDetails) -> Vec<Line> {
    let value = |name: &str| known(&about.settings, name).map(ToOwned::to_owned);
    let words = super::measured_on(value);
    words.map(|words| Line::new("measured on", words)).into_iter().collect()
}

fn job_of<'a>(view: &'a View, event: &Event) -> Option<&'a str> {
    let job = view.summary.jobs.get(event.account?.index())?;
    Some(job.name.as_str())
}

/// Returns the resources of the generator, the settings of the servers, and the command.
fn resources(view: &View) -> Vec<Line> {
    let about = &view.about;
    let mut lines = Vec::new();
    if let Some(generator) = generator(view) {
        lines.push(Line::new("generator", generator));
    }
    if let Some(share) = view.summary.observing_share {
        let what = "of one core for looking at the machine and the database";
        lines.push(Line::new("observing", format!("{} {what}", percent(share))));
    }
    let is_reported =
        |check: &&Check| check.kind == CheckKind::Checkpoints && check.status == Status::Pass;
    if let Some(check) = view.summary.verdict.checks.iter().find(is_reported) {
        // No number of the page shows whether the run had checkpoints, so the sentence of the check
        // is shown although the check passed.
        lines.push(Line::new(check.name(), words::check_sentence(check)));
    }
    let (facts, servers): (Vec<_>, Vec<_>) =
        settings_and_facts(about).partition(|(name, _)| is_environment_fact(name));
    if !servers.is_empty() {
        lines.push(Line::new("settings", settings(&servers)));
    }
    if !facts.is_empty() {
        let count = count(facts.len() as u64, "fact");
        let text =
            format!("{count} of machine, network and servers; the option --environment shows them");
        lines.push(Line::new("surroundings", text));
    }
    if let Some(log) = &about.op_log {
        let rows = format!("{}, {} missing", count(log.rows, "request"), grouped(log.dropped));
        lines.push(Line::new(log.format.option(), rows));
    }
    if let Some(label) = about.label() {
        lines.push(Line::new("label", label));
    }
    lines.push(Line::unwrapped("command", about.command.as_str()));
    lines.push(Line::new("assay", about.version.as_str()));
    lines
}

/// Returns the commands that show more of the record with this path, and the command that explains
/// the limiter and the suspect or invalid checks.
fn commands(view: &View, record: &str) -> Vec<String> {
    let about = &view.about;
    let of_run = about.run.map_or_else(String::new, |run| format!(" --run {run}"));
    let record = format!("{}{of_run}", shell_word(record));
    let mut commands = vec![format!("assay report {record}")];
    if settings_and_facts(about).any(|(name, _)| is_environment_fact(name)) {
        commands.push(format!("assay report {record} --environment"));
    }
    commands.extend(explain_command(view));
    commands.push(format!("assay export {record} --format hlog"));
    commands
}

/// Returns the command that explains the suspect or invalid checks, the gravest first, and the
/// limiter; `None` if there is nothing to explain.
fn explain_command(view: &View) -> Option<String> {
    let verdict = &view.summary.verdict;
    let grave = [Status::Invalid, Status::Suspect].into_iter();
    let objecting = grave.flat_map(|status| verdict.with(status).map(|check| check.name()));
    let limiter = (!view.has_only_loads()).then(|| view.summary.limiter.component.name());
    let mut names: Vec<&str> = objecting.collect();
    // "Other programs" is the name of both a check and a limiter.
    names.extend(limiter.filter(|name| !names.contains(name)));
    (!names.is_empty()).then(|| format!("assay explain {}", names.join(" ")))
}

/// Returns the commands that print the whole answer, write its page, explain its terms and repeat
/// the run.
fn next_commands(view: &View) -> Vec<Line> {
    let about = &view.about;
    let file = about.file();
    let stem = file.strip_suffix(".assay").unwrap_or(&file);
    let (of_run, page) = match about.run {
        Some(run) => (format!(" --run {run}"), format!("{stem}-{run}.html")),
        None => (String::new(), format!("{stem}.html")),
    };
    let report = format!("assay report {}{of_run}", shell_word(&about.record.to_string_lossy()));
    let mut lines = commands_to_continue(&report, &page, explain_command(view));
    lines.push(Line::new("repeat", about.repeat()));
    lines
}

/// Returns the commands that print the whole answer, write its page and explain its terms; `report`
/// is the command that prints the short answer.
pub(crate) fn commands_to_continue(
    report: &str,
    page: &str,
    explanation: Option<String>,
) -> Vec<Line> {
    let mut lines = vec![
        Line::new("more", format!("{report} --full")),
        Line::new("", format!("{report} --html {}", shell_word(page))),
    ];
    lines.extend(explanation.map(|command| Line::new("why", command)));
    lines
}

fn settings(settings: &[&(String, String)]) -> String {
    let shown = settings.iter().take(MOST_SETTINGS);
    let shown = shown.map(|(name, value)| format!("{name} = {value}"));
    let text = shown.collect::<Vec<_>>().join("; ");
    match settings.len().saturating_sub(MOST_SETTINGS) {
        0 => text,
        more => format!("{text}; and {more} more in the record, table `setting`"),
    }
}

/// Returns all settings and facts of the record except the label and the reasons why loads used
/// inserts, which are written separately.
fn settings_and_facts(about: &RunDetails) -> impl Iterator<Item = &(String, String)> {
    let is_beside = |name: &str| name == assay::LABEL || name.starts_with(generator::INSERTS);
    about.settings.iter().filter(move |(name, _)| !is_beside(name))
}

/// Formats the resource usage of the load generator's own process; `None` if it is unknown.
fn generator(view: &View) -> Option<String> {
    let client = view.summary.client?;
    let window = view.summary.window;
    let busy = client.user_s + client.system_s;
    let length = window.end_s - window.start_s;
    let memory = format!("at most {} of memory", bytes(client.peak_rss_bytes));
    if length <= 0.0 {
        return Some(memory);
    }
    let mut text = format!(
        "{} of processor time ({} user, {} system), {} of one core",
        time(busy * 1e9),
        time(client.user_s * 1e9),
        time(client.system_s * 1e9),
        percent(busy / length)
    );
    if let Some(us) = client.us_per_query {
        text.push_str(&format!(", {} per completed request", time(us * 1e3)));
    }
    if view.has_database_inside() {
        text.push_str(", the database's own included");
    }
    Some(format!("{text}; {memory}"))
}
