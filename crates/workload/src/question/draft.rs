//! Checks of the keys of `[question]`.

use base::{Diagnostic, Span};

use super::bet::{Bet, bet};
use super::delta::{Deltas, deltas};
use super::experiment::{Design, Restore, Rounds};
use super::fields::Fields;
use super::statement_key::StatementKey;
use crate::folder::{Folder, unreadable};
use crate::keys::{self, SectionKind};
use crate::read::{Excerpt, File, LARGEST_FILE, decode, parse};
use crate::sink::Sink;
use crate::wording::{nearest, quoted};

/// Maximum number of bets.
const MOST_BETS: usize = 20;

/// Values of `restore` that are not statements.
const RESTORE_WORDS: [&str; 2] = ["none", "reload"];

/// The content of `[question]`, which can be read without the arms.
pub(super) struct QuestionDraft<'f> {
    pub(super) ask: Option<String>,
    pub(super) workload: Option<WorkloadSource<'f>>,
    /// The bets with their places.
    pub(super) bets: Vec<(Bet, Excerpt<'f>)>,
    pub(super) rounds: Rounds,
    pub(super) restore: Restore,
    /// Position of the first line of `restore`.
    pub(super) restore_span: Option<Span>,
    pub(super) has_several_differences: bool,
    pub(super) design: Design,
    pub(super) deltas: Deltas,
}

/// The workload of an experiment.
pub(super) enum WorkloadSource<'f> {
    /// A workload file that was read.
    File {
        /// Its name in the experiment file.
        name: Excerpt<'f>,
        /// Its text.
        text: String,
    },
    /// The other sections of the experiment file.
    Own,
}

/// Returns the workload inside an experiment file: the file without the sections of the experiment.
pub(super) fn own_workload<'t>(file: &File<'t>) -> File<'t> {
    let mut file = file.clone();
    file.sections.retain(|section| !keys::is_of_experiment(&section.name));
    file
}

impl WorkloadSource<'_> {
    /// Returns the parsed workload of an experiment file, and the diagnostics of parsing it. They
    /// are empty if the workload is inside the experiment file, whose diagnostics include them.
    pub(super) fn parsed<'t>(&'t self, file: &File<'t>) -> (File<'t>, Vec<Diagnostic>) {
        match self {
            WorkloadSource::File { text, .. } => parse(text),
            WorkloadSource::Own => (own_workload(file), Vec::new()),
        }
    }

    /// Returns the name of the workload file; `None` if the experiment file contains the workload.
    pub(super) fn name(&self) -> Option<&str> {
        match self {
            WorkloadSource::File { name, .. } => Some(name.text()),
            WorkloadSource::Own => None,
        }
    }

    /// Returns the position of the name; `None` if the experiment file contains the workload.
    pub(super) fn span(&self) -> Option<Span> {
        match self {
            WorkloadSource::File { name, .. } => name.span(),
            WorkloadSource::Own => None,
        }
    }
}

/// Reads the keys of `[question]` and the workload file.
pub(super) fn read<'f>(
    fields: &Fields<'f>,
    folder: &dyn Folder,
    sink: &mut Sink,
) -> QuestionDraft<'f> {
    let design = fields.choice(SectionKind::Question, "design", sink);
    let differences = fields.choice(SectionKind::Question, "differences", sink);
    QuestionDraft {
        ask: fields.one("ask").map(|value| value.text().to_owned()),
        workload: match fields.one("workload") {
            Some(name) => workload(name, folder, sink),
            None => Some(WorkloadSource::Own),
        },
        bets: bets(fields, sink),
        rounds: fields.one("rounds").map_or(Rounds::Auto, |value| rounds(value, sink)),
        restore: restore(fields, sink),
        restore_span: fields.one(StatementKey::Restore.name()).and_then(Excerpt::span),
        has_several_differences: differences == Some(1),
        design: if design == Some(1) { Design::Aa } else { Design::Arms },
        deltas: read_deltas(fields, sink),
    }
}

fn workload<'f>(
    name: Excerpt<'f>,
    folder: &dyn Folder,
    sink: &mut Sink,
) -> Option<WorkloadSource<'f>> {
    let bytes = match folder.read(name.text(), LARGEST_FILE as u64) {
        Ok(bytes) => bytes,
        Err(error) => {
            let (message, help) = unreadable(name.text(), LARGEST_FILE, &error);
            let help = match error.kind() {
                std::io::ErrorKind::NotFound => {
                    "it is looked for in the folder of the experiment file".to_owned()
                }
                _ => help,
            };
            sink.error(|| name.error(message).help(help));
            return None;
        }
    };
    match decode(&bytes) {
        Ok(text) => Some(WorkloadSource::File { name, text }),
        Err(error) => {
            let message = format!("in {}: {}", quoted(name.text()), error.message);
            sink.error(|| Diagnostic { help: error.help, ..name.error(message) });
            None
        }
    }
}

fn bets<'f>(fields: &Fields<'f>, sink: &mut Sink) -> Vec<(Bet, Excerpt<'f>)> {
    let mut bets = Vec::new();
    for value in fields.values("bet") {
        match bet(value) {
            Ok(_) if bets.len() == MOST_BETS => {
                sink.error(|| {
                    let error = value.error(format!("there are more than {MOST_BETS} bets"));
                    error.help("leave out those that would change no decision")
                });
            }
            Ok(bet) => bets.push((bet, value)),
            Err(error) => sink.error(|| error),
        }
    }
    bets
}

fn rounds(value: Excerpt<'_>, sink: &mut Sink) -> Rounds {
    let text = value.text();
    if text == "auto" {
        return Rounds::Auto;
    }
    let (least, most) = (Rounds::LEAST, Rounds::MOST);
    match text.parse::<u32>() {
        Ok(number) if (least..=most).contains(&number) => return Rounds::Exactly(number),
        Ok(number) if number < least => sink.error(|| {
            let message = format!("{number} is too few rounds: at least {least} are needed");
            value.error(message).help(
                "fewer than 6 pairs cannot show a difference at 95 % confidence, however large \
                 it is",
            )
        }),
        Ok(_) => sink.error(|| {
            value.error(format!("there are at most {most} rounds")).help(
                "a change that needs more is too small for this machine: make the runs longer",
            )
        }),
        Err(_) => sink.error(|| {
            let message =
                format!("unknown value {} for `rounds`; expected auto or a number", quoted(text));
            value.error(message).help("write for example `rounds = 12`")
        }),
    }
    Rounds::Auto
}

fn restore(fields: &Fields<'_>, sink: &mut Sink) -> Restore {
    let values: Vec<Excerpt<'_>> = fields.values(StatementKey::Restore.name()).collect();
    let Some(first) = values.first() else { return Restore::None };
    let word = values.iter().find(|value| RESTORE_WORDS.contains(&value.text()));
    match word {
        None => {
            values.iter().for_each(|value| reject_misspelt_restore(*value, sink));
            Restore::Statements(values.iter().map(|value| value.text().to_owned()).collect())
        }
        Some(word) if values.len() > 1 => {
            sink.error(|| {
                let message =
                    format!("`{}` cannot be combined with other lines of `restore`", word.text());
                word.error(message).help("write this line or the others")
            });
            Restore::None
        }
        Some(_) if first.text() == "reload" => Restore::Reload,
        Some(_) => Restore::None,
    }
}

/// Reports a word that is not a statement, but close to `none` or `reload`.
fn reject_misspelt_restore(value: Excerpt<'_>, sink: &mut Sink) {
    let near = nearest(value.text(), RESTORE_WORDS);
    if let Some(near) = near.filter(|_| !value.text().contains(char::is_whitespace)) {
        sink.error(|| {
            let message = format!("unknown value {} for `restore`", quoted(value.text()));
            value.error(message).help(format!("did you mean `{near}`?"))
        });
    }
}

fn read_deltas(fields: &Fields<'_>, sink: &mut Sink) -> Deltas {
    let Some(value) = fields.one("delta") else { return Deltas::default() };
    deltas(value).unwrap_or_else(|error| {
        sink.error(|| error);
        Deltas::default()
    })
}
