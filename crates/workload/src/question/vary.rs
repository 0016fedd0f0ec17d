//! Keys that differ between runs of a workload: set by an arm, or varied by a sweep or a search.

use std::fmt;

use base::{Diagnostic, Endpoint, Target, TargetError};

use super::difference::{Difference, OPTION_KEY, SERVER_KEY};
use crate::keys::{self, Key, SectionKind};
use crate::read::{Excerpt, File, Section, section_name};
use crate::wording::{enumeration, name_list, nearest, quoted};

/// The word for the number of hosts.
const NODES: &str = "nodes";

const HELP: &str = "write for example `concurrency(read): 1..128 x2`; `set.NAME`, `option.NAME`, \
                    `server.NAME` and `nodes` can be varied too";

/// A key that takes several values.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Vary {
    /// `KEY(SECTION)`: a pacing key of a job.
    Key {
        /// Name of the section.
        section: String,
        /// Name of the key.
        key: String,
    },
    /// `set.NAME`: a parameter.
    Param(String),
    /// `option.NAME`: an option of the target's URL.
    Option(String),
    /// `server.NAME`: a setting of a `testbed:` server.
    Server(String),
    /// `nodes`: the number of leading hosts of the target's URL.
    Nodes,
}

impl Vary {
    /// Splits `WHAT: RANGE` and parses `WHAT`; `workload` is the parsed workload file.
    ///
    /// # Errors
    /// There is no range, or an error of [`Vary::parse`].
    pub(super) fn split<'p>(
        item: Excerpt<'p>,
        workload: &File<'_>,
    ) -> Result<(Vary, Excerpt<'p>), Box<Diagnostic>> {
        let Some((what, range)) = item.split_once(b':') else {
            let error = item.error(format!("{} has no range of values", quoted(item.text())));
            return Err(Box::new(error.help(HELP)));
        };
        Ok((Vary::parse(what, workload)?, range))
    }

    /// Parses `KEY(SECTION)`, `set.NAME`, `option.NAME`, `server.NAME` or `nodes`.
    ///
    /// # Errors
    /// The text has a different form, or names a key, parameter or job that the workload lacks; the
    /// error then suggests the nearest one.
    pub(super) fn parse(what: Excerpt<'_>, workload: &File<'_>) -> Result<Vary, Box<Diagnostic>> {
        let text = what.text();
        if text == NODES {
            return Ok(Vary::Nodes);
        }
        match keys::find(SectionKind::Arm, text).filter(|key| key.is_pattern) {
            Some(key) => Vary::of_key(key, what, workload),
            None => Err(Box::new(unknown(what, workload))),
        }
    }

    /// Parses a key as a line of an arm writes it, such as `set.batch` for the pattern `set.NAME`;
    /// `key` is the pattern.
    ///
    /// # Errors
    /// As for [`Vary::parse`].
    pub(super) fn of_key(
        key: &Key,
        name: Excerpt<'_>,
        workload: &File<'_>,
    ) -> Result<Vary, Box<Diagnostic>> {
        let rest = |prefix: &str| name.part(prefix.len()..name.text().len());
        Ok(match key.name {
            "option.NAME" => Vary::Option(url_option(rest(OPTION_KEY))?),
            "server.NAME" => Vary::Server(rest(SERVER_KEY).text().to_owned()),
            "set.NAME" => Vary::Param(param(rest("set."), workload)?),
            _ => {
                let (key, section) = pacing_key(name, workload)?;
                Vary::Key { section, key }
            }
        })
    }

    /// Returns the difference from the workload file that gives the varied key this value, written
    /// as in a file.
    pub fn difference(&self, value: &str) -> Difference {
        let value = value.to_owned();
        match self {
            Vary::Key { section, key } => {
                let (section, key) = (section.clone(), key.clone());
                Difference::Key { section, key, value }
            }
            Vary::Param(name) => Difference::Param { name: name.clone(), value },
            Vary::Option(name) => Difference::Option { name: name.clone(), value },
            Vary::Server(name) => Difference::Server { name: name.clone(), value },
            Vary::Nodes => Difference::Nodes(value),
        }
    }

    /// Returns the option of the target's URL, or the setting of its server, that a difference sets
    /// in a line of its own; `None` for other differences.
    pub fn option_of_target(difference: &Difference) -> Option<Vary> {
        match difference {
            Difference::Option { name, .. } => Some(Vary::Option(name.clone())),
            Difference::Server { name, .. } => Some(Vary::Server(name.clone())),
            Difference::Url(_)
            | Difference::Param { .. }
            | Difference::Key { .. }
            | Difference::Nodes(_)
            | Difference::Before(_)
            | Difference::After(_)
            | Difference::BeforeCommand(_)
            | Difference::AfterCommand(_) => None,
        }
    }

    /// Returns true if a difference sets the varied key, under any of its names or in a URL.
    pub(super) fn is_set_by(&self, difference: &Difference) -> bool {
        match (self, difference) {
            (Vary::Key { section, key }, Difference::Key { section: other, key: by, .. }) => {
                section == other
                    && keys::find(SectionKind::Job, key).is_some_and(|key| key.is_named(by))
            }
            (Vary::Option(name), Difference::Url(target)) => target.option(name).is_some(),
            (Vary::Server(name), Difference::Url(target)) => {
                let mut settings =
                    target.options.iter().filter_map(|(option, _)| option.strip_prefix(SERVER_KEY));
                settings.any(|other| is_same_setting(name, other))
            }
            (Vary::Server(name), Difference::Server { name: other, .. }) => {
                is_same_setting(name, other)
            }
            _ => self.to_string() == difference.key(),
        }
    }

    /// Returns an error for a value that the target cannot have: a number of nodes that is not
    /// between 1 and the number of the URL's hosts.
    pub(super) fn refuse_value(
        &self,
        value: &str,
        place: Excerpt<'_>,
        target: Option<&Target>,
    ) -> Result<(), Box<Diagnostic>> {
        if *self != Vary::Nodes {
            return Ok(());
        }
        let hosts = match target.map(|target| &target.endpoint) {
            Some(Endpoint::Network { addresses, .. }) => addresses.len(),
            _ => 1,
        };
        let message = match value.parse::<usize>() {
            Ok(nodes) if (1..=hosts).contains(&nodes) => return Ok(()),
            Ok(0) | Err(_) => format!("{} is not a number of nodes", quoted(value)),
            Ok(nodes) => match hosts {
                1 => format!("{nodes} nodes are asked for, and the URL has one host"),
                _ => format!("{nodes} nodes are asked for, and the URL has {hosts} hosts"),
            },
        };
        let help = "name the hosts in the URL, `postgres://db1,db2,db3/shop`: `nodes` takes the \
                    first ones";
        Err(Box::new(place.error(message).help(help)))
    }
}

impl fmt::Display for Vary {
    /// Formats the varied key as written in a file.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.difference("").key())
    }
}

/// Returns true if two names mean the same setting: servers ignore case, and treat `-` like `_`.
fn is_same_setting(one: &str, other: &str) -> bool {
    let plain = |name: &str| name.to_ascii_lowercase().replace('-', "_");
    plain(one) == plain(other)
}

/// Returns the error about a text that names nothing that can be varied.
fn unknown(what: Excerpt<'_>, workload: &File<'_>) -> Diagnostic {
    let text = what.text();
    let error = what.error(format!("{} cannot be varied", quoted(text)));
    let is_param = |section: &Section<'_>| {
        section.name == "params" && section.entries.iter().any(|one| one.key().text() == text)
    };
    if workload.sections.iter().any(is_param) {
        return error.help(format!("did you mean the parameter `set.{text}`?"));
    }
    let pacing = keys::of(SectionKind::Job).filter(|key| key.is_pacing()).flat_map(Key::names);
    let jobs = workload.sections.iter().find(|section| is_job(section));
    match (nearest(text, pacing.chain([NODES])), jobs) {
        (Some(NODES), _) => error.help("did you mean `nodes`?"),
        (Some(near), Some(job)) => error.help(format!("did you mean `{near}({})`?", job.name)),
        _ => error.help(HELP),
    }
}

/// Checks that a target's URL may have an option of this name, and returns the name.
fn url_option(name: Excerpt<'_>) -> Result<String, Box<Diagnostic>> {
    match Target::parse(&format!("sim:null?{}=x", name.text())) {
        Err(error @ TargetError::PasswordOption) => {
            let help = "set ASSAY_PASSWORD, or give the arm a `url` of its own";
            Err(Box::new(name.error(error.to_string()).help(help)))
        }
        _ if name.text().starts_with(SERVER_KEY) => {
            let message = format!("{} is a setting of a private server", quoted(name.text()));
            let help = format!("write `{}`: it is changed on one server", name.text());
            Err(Box::new(name.error(message).help(help)))
        }
        _ => Ok(name.text().to_owned()),
    }
}

/// Checks that the workload has a parameter of this name, and returns the name.
fn param(name: Excerpt<'_>, workload: &File<'_>) -> Result<String, Box<Diagnostic>> {
    let params = workload.sections.iter().filter(|section| section.name == "params");
    let mut known = params.flat_map(|section| &section.entries).map(|entry| entry.key().text());
    let wanted = name.text();
    if known.clone().any(|known| known == wanted) {
        return Ok(wanted.to_owned());
    }
    let error = name.error(format!("the workload has no parameter {}", quoted(wanted)));
    Err(Box::new(match nearest(wanted, known.by_ref()) {
        Some(near) => error.help(format!("did you mean `set.{near}`?")),
        None => error.help("parameters are the lines of `[params]` in the workload file"),
    }))
}

/// Returns the key and the section of `KEY(SECTION)`.
fn pacing_key(name: Excerpt<'_>, workload: &File<'_>) -> Result<(String, String), Box<Diagnostic>> {
    let text = name.text();
    let open = text.find('(').unwrap_or(text.len());
    let (key, section) = (name.part(0..open), name.part(open + 1..text.len() - 1).trim());
    let wanted = section_name(section.text());
    let is_pacing = |wanted: &str| {
        keys::of(SectionKind::Job).any(|key| key.is_pacing() && key.is_named(wanted))
    };
    if !is_pacing(key.text()) {
        return Err(Box::new(no_pacing_key(key)));
    }
    let mut jobs = workload.sections.iter().filter(|section| is_job(section));
    if jobs.clone().any(|job| job.name == wanted) {
        return Ok((key.text().to_owned(), wanted));
    }
    let error = section.error(format!("the workload has no job {}", quoted(section.text())));
    let names: Vec<&str> = jobs.by_ref().map(|job| job.name.as_str()).collect();
    Err(Box::new(match nearest(section.text(), names.iter().copied()) {
        Some(near) => error.help(format!("did you mean `{}({near})`?", key.text())),
        None => error.help(format!("its jobs are {}", name_list(names))),
    }))
}

fn is_job(section: &Section<'_>) -> bool {
    let name = section.name.as_str();
    let makes_job = section.entries.iter().any(|entry| keys::makes_a_job(entry.key().text()));
    makes_job && !matches!(name, "setup" | "teardown")
}

fn no_pacing_key(key: Excerpt<'_>) -> Diagnostic {
    let text = key.text();
    let error = key.error(format!("{} is not a pacing key of a job", quoted(text)));
    let known = || keys::of(SectionKind::Job).filter(|key| key.is_pacing()).map(|key| key.name);
    if let Some(near) = nearest(text, known()) {
        return error.did_you_mean(Some(near));
    }
    let listed: Vec<&str> = known().collect();
    match keys::find(SectionKind::Job, text) {
        Some(_) => error.help(format!(
            "make its value a parameter of the workload, `{text} = ${{{text}}}`, and set it here \
             with `set.{text}`"
        )),
        None => error.help(format!("pacing keys are {}", enumeration(&listed, "and"))),
    }
}
