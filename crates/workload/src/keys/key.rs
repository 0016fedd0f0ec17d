//! A key and its flags.

use super::form::Form;

/// A group of keys in the reference.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeyGroup {
    /// Above the first section.
    Global,
    /// `[setup]` and `[teardown]`.
    Fixed,
    /// `[load TABLE]`.
    Load,
    /// `[target NAME]`.
    Target,
    /// In a job: its statements.
    Statements,
    /// In a job: its pacing.
    Arrivals,
    /// In a job: the treatment of errors.
    Errors,
    /// In a job: its conditions.
    Conditions,
    /// `[threshold]`.
    Threshold,
    /// `[observe]`.
    Observe,
    /// `[question]` of an experiment file.
    Question,
    /// `[arm NAME]` of an experiment file.
    Arm,
    /// `[capacity]` of an experiment file.
    Capacity,
    /// `[sweep]` of an experiment file.
    Sweep,
    /// `[saturate]` of an experiment file.
    Saturate,
}

impl KeyGroup {
    /// Every group, in the order of the reference.
    pub const ALL: [KeyGroup; 15] = [
        KeyGroup::Global,
        KeyGroup::Fixed,
        KeyGroup::Load,
        KeyGroup::Target,
        KeyGroup::Statements,
        KeyGroup::Arrivals,
        KeyGroup::Errors,
        KeyGroup::Conditions,
        KeyGroup::Threshold,
        KeyGroup::Observe,
        KeyGroup::Question,
        KeyGroup::Arm,
        KeyGroup::Capacity,
        KeyGroup::Sweep,
        KeyGroup::Saturate,
    ];

    /// Returns the heading in the reference.
    pub fn title(self) -> &'static str {
        match self {
            KeyGroup::Global => "above the first section",
            KeyGroup::Fixed => "[setup], [teardown]",
            KeyGroup::Load => "[load TABLE]",
            KeyGroup::Target => "[target NAME]",
            KeyGroup::Statements => "job: statements",
            KeyGroup::Arrivals => "job: arrivals",
            KeyGroup::Errors => "job: errors",
            KeyGroup::Conditions => "job: conditions",
            KeyGroup::Threshold => "[threshold]",
            KeyGroup::Observe => "[observe]",
            KeyGroup::Question => "[question] of an experiment file",
            KeyGroup::Arm => "[arm NAME] of an experiment file",
            KeyGroup::Capacity => "[capacity] of an experiment file",
            KeyGroup::Sweep => "[sweep] of an experiment file",
            KeyGroup::Saturate => "[saturate] of an experiment file",
        }
    }

    /// Returns the kind of section that contains the key.
    pub fn owner(self) -> SectionKind {
        match self {
            KeyGroup::Global => SectionKind::Global,
            KeyGroup::Fixed => SectionKind::Fixed,
            KeyGroup::Load => SectionKind::Load,
            KeyGroup::Target => SectionKind::Target,
            KeyGroup::Statements | KeyGroup::Arrivals | KeyGroup::Errors | KeyGroup::Conditions => {
                SectionKind::Job
            }
            KeyGroup::Threshold => SectionKind::Threshold,
            KeyGroup::Observe => SectionKind::Observe,
            KeyGroup::Question => SectionKind::Question,
            KeyGroup::Arm => SectionKind::Arm,
            KeyGroup::Capacity => SectionKind::Capacity,
            KeyGroup::Sweep => SectionKind::Sweep,
            KeyGroup::Saturate => SectionKind::Saturate,
        }
    }
}

/// A kind of section with a fixed set of keys.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SectionKind {
    /// The part above the first section.
    Global,
    /// `[setup]` and `[teardown]`.
    Fixed,
    /// `[load TABLE]`.
    Load,
    /// `[target NAME]`.
    Target,
    /// A job.
    Job,
    /// `[threshold]`.
    Threshold,
    /// `[observe]`.
    Observe,
    /// `[question]`.
    Question,
    /// `[arm NAME]`.
    Arm,
    /// `[capacity]`.
    Capacity,
    /// `[sweep]`.
    Sweep,
    /// `[saturate]`.
    Saturate,
}

impl SectionKind {
    /// Returns the place of the keys of this kind of section, in words: `in a job`.
    pub(crate) fn location_text(self) -> &'static str {
        match self {
            SectionKind::Global => "above the first section",
            SectionKind::Fixed => "in `[setup]` or `[teardown]`",
            SectionKind::Load => "in a `[load TABLE]` section",
            SectionKind::Target => "in a `[target NAME]` section",
            SectionKind::Job => "in a job",
            SectionKind::Threshold => "in `[threshold]`",
            SectionKind::Observe => "in `[observe]`",
            SectionKind::Question => "in `[question]` of an experiment file",
            SectionKind::Arm => "in an `[arm NAME]` section of an experiment file",
            SectionKind::Capacity => "in `[capacity]` of an experiment file",
            SectionKind::Sweep => "in `[sweep]` of an experiment file",
            SectionKind::Saturate => "in `[saturate]` of an experiment file",
        }
    }
}

/// A key of a workload file or an experiment file.
#[derive(Clone, Copy, Debug)]
pub struct Key {
    /// Its name.
    pub name: &'static str,
    /// Its second name, if any.
    pub alias: Option<&'static str>,
    /// Group of the key in the reference, which determines the kind of section.
    pub place: KeyGroup,
    /// Form of its value.
    pub form: Form,
    /// Default in words; empty if the key is required.
    pub default: &'static str,
    /// Its meaning and unit, in one line.
    pub doc: &'static str,
    /// An example line.
    pub example: &'static str,
    /// True if the key may occur more than once.
    pub repeatable: bool,
    /// True if a line may set the key for one database only: `query.mysql`.
    pub by_dialect: bool,
    /// True if the key makes its section a job.
    pub makes_job: bool,
    /// True if the key sets the pacing of its section. The section then runs as a job, even if it
    /// is also a part of a mix, unless the value of the key counts as not set.
    pub sets_pacing: bool,
    /// True if a section that runs only as a part of a mix may have the key.
    pub allowed_in_part: bool,
    /// True if a job with a `mix` may have the key.
    pub allowed_with_mix: bool,
    /// True if a job with a `command` may have the key.
    pub allowed_with_command: bool,
    /// True if a job with a `query-log-file` may have the key.
    pub allowed_with_log: bool,
    /// True if its name is a pattern, in which a word in capitals represents a name that the user
    /// chooses, as in `option.NAME`.
    pub is_pattern: bool,
}

/// The template of keys above the first section, and of keys in the sections of an experiment.
/// Their lines apply to every database.
pub(super) const GLOBAL: Key = Key {
    name: "",
    alias: None,
    place: KeyGroup::Global,
    form: Form::Text,
    default: "none",
    doc: "",
    example: "",
    repeatable: false,
    by_dialect: false,
    makes_job: false,
    sets_pacing: false,
    allowed_in_part: true,
    allowed_with_mix: true,
    allowed_with_command: true,
    allowed_with_log: true,
    is_pattern: false,
};

impl Key {
    /// Returns the key's name, and its second name if it has one.
    pub fn names(&self) -> impl Iterator<Item = &'static str> + use<> {
        [Some(self.name), self.alias].into_iter().flatten()
    }

    /// Returns true if `name` is the key's name or its second name, or fits the pattern of its
    /// name.
    pub fn is_named(&self, name: &str) -> bool {
        self.name == name || self.alias == Some(name) || self.is_pattern && self.fits(name)
    }

    /// Returns true for the keys of a job that arms and sweeps may vary. A search varies only
    /// `rate` or `concurrency`.
    pub(crate) fn is_pacing(&self) -> bool {
        self.place == KeyGroup::Arrivals
    }

    /// Returns true if a name fits the pattern: `option.tls` fits `option.NAME`, and `rate(read)`
    /// fits `KEY(SECTION)`.
    fn fits(&self, name: &str) -> bool {
        match self.name.strip_suffix("NAME") {
            Some(prefix) => name.strip_prefix(prefix).is_some_and(|rest| !rest.is_empty()),
            None => name.contains('(') && name.ends_with(')'),
        }
    }
}
