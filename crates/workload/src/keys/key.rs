//! A key and its flags.

use super::form::Form;

/// The part of a file to which a key belongs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// Above the first section.
    Global,
    /// `[setup]` and `[teardown]`.
    Fixed,
    /// `[load TABLE]`.
    Load,
    /// `[target NAME]`.
    Target,
    /// In a job: what it sends.
    What,
    /// In a job: its pacing.
    When,
    /// In a job: the treatment of errors.
    Faults,
    /// In a job: its conditions.
    Judged,
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

impl Place {
    /// Every place, in the order of the reference.
    pub const ALL: [Place; 15] = [
        Place::Global,
        Place::Fixed,
        Place::Load,
        Place::Target,
        Place::What,
        Place::When,
        Place::Faults,
        Place::Judged,
        Place::Threshold,
        Place::Observe,
        Place::Question,
        Place::Arm,
        Place::Capacity,
        Place::Sweep,
        Place::Saturate,
    ];

    /// Returns the heading in the reference.
    pub fn title(self) -> &'static str {
        match self {
            Place::Global => "above the first section",
            Place::Fixed => "[setup], [teardown]",
            Place::Load => "[load TABLE]",
            Place::Target => "[target NAME]",
            Place::What => "job: statements",
            Place::When => "job: arrivals",
            Place::Faults => "job: errors",
            Place::Judged => "job: conditions",
            Place::Threshold => "[threshold]",
            Place::Observe => "[observe]",
            Place::Question => "[question] of an experiment file",
            Place::Arm => "[arm NAME] of an experiment file",
            Place::Capacity => "[capacity] of an experiment file",
            Place::Sweep => "[sweep] of an experiment file",
            Place::Saturate => "[saturate] of an experiment file",
        }
    }

    /// Returns the kind of section that contains the key.
    pub fn owner(self) -> Owner {
        match self {
            Place::Global => Owner::Global,
            Place::Fixed => Owner::Fixed,
            Place::Load => Owner::Load,
            Place::Target => Owner::Target,
            Place::What | Place::When | Place::Faults | Place::Judged => Owner::Job,
            Place::Threshold => Owner::Threshold,
            Place::Observe => Owner::Observe,
            Place::Question => Owner::Question,
            Place::Arm => Owner::Arm,
            Place::Capacity => Owner::Capacity,
            Place::Sweep => Owner::Sweep,
            Place::Saturate => Owner::Saturate,
        }
    }
}

/// A kind of section with a fixed set of keys.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Owner {
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

impl Owner {
    /// Returns the place of such keys in words: `in a job`.
    pub(crate) fn whereabouts(self) -> &'static str {
        match self {
            Owner::Global => "above the first section",
            Owner::Fixed => "in `[setup]` or `[teardown]`",
            Owner::Load => "in a `[load TABLE]` section",
            Owner::Target => "in a `[target NAME]` section",
            Owner::Job => "in a job",
            Owner::Threshold => "in `[threshold]`",
            Owner::Observe => "in `[observe]`",
            Owner::Question => "in `[question]` of an experiment file",
            Owner::Arm => "in an `[arm NAME]` section of an experiment file",
            Owner::Capacity => "in `[capacity]` of an experiment file",
            Owner::Sweep => "in `[sweep]` of an experiment file",
            Owner::Saturate => "in `[saturate]` of an experiment file",
        }
    }
}

/// A key of the workload file.
#[derive(Clone, Copy, Debug)]
pub struct Key {
    /// Its name.
    pub name: &'static str,
    /// Its second name, if any.
    pub alias: Option<&'static str>,
    /// Part of the file to which it belongs.
    pub place: Place,
    /// Form of its value.
    pub form: Form,
    /// Default in words; empty if the key is required.
    pub default: &'static str,
    /// Its meaning and unit, in one line.
    pub doc: &'static str,
    /// An example line.
    pub example: &'static str,
    /// True if it may occur more than once.
    pub repeatable: bool,
    /// True if a line may set it for one database only: `query.mysql`.
    pub by_dialect: bool,
    /// True if it makes its section a job.
    pub makes_job: bool,
    /// True if it gives its section a pacing of its own: a section with it runs on its own, also if
    /// it is a part of a mix.
    pub sets_pacing: bool,
    /// True if a section that runs only as a part of a mix may have it.
    pub in_part: bool,
    /// True if a job with a `mix` may have it.
    pub beside_mix: bool,
    /// True if a job with a `command` may have it.
    pub beside_command: bool,
    /// True if a job with a `query-log-file` may have it.
    pub beside_log: bool,
    /// True if its name is a pattern: the words in capitals stand for names of the user's, as in
    /// `option.NAME`.
    pub is_pattern: bool,
}

impl Key {
    /// Returns its name, and its second name if it has one.
    pub fn names(&self) -> impl Iterator<Item = &'static str> + use<> {
        [Some(self.name), self.alias].into_iter().flatten()
    }

    /// Returns true if this is its name or its second name, or fits the pattern of its name.
    pub fn is_named(&self, name: &str) -> bool {
        self.name == name || self.alias == Some(name) || self.is_pattern && self.fits(name)
    }

    /// Returns true if a name fits the pattern: `option.tls` fits `option.NAME`.
    fn fits(&self, name: &str) -> bool {
        match self.name.strip_suffix("NAME") {
            Some(prefix) => name.strip_prefix(prefix).is_some_and(|rest| !rest.is_empty()),
            None => name.contains('(') && name.ends_with(')'),
        }
    }
}
