//! The forms of values.

/// The form of a key's value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// `250ms`, `1m30s`.
    Duration,
    /// A duration, or `auto`.
    Warmup,
    /// A whole number, optionally with `k` or `M`: `10`, `100k`, `1.5M`.
    Count,
    /// A number per second, or a varying rate such as `ramp(100, 500, 60s)`.
    Rate,
    /// One of these words.
    Choice(&'static [&'static str]),
    /// A statement, which extends to the end of the line: no comment can follow it.
    Statement,
    /// A number of rows, or `LO..HI`.
    Rows,
    /// A shell command, which extends to the end of the line: no comment can follow it.
    Command,
    /// `NAME: EXPRESSION, …`.
    Named,
    /// An expression that gives a duration.
    Pause,
    /// `CODE, …`.
    Codes,
    /// `N on CODE, …`.
    Retry,
    /// `CONDITION, …`.
    Conditions,
    /// A target's URL.
    Url,
    /// A machine that is reached by ssh.
    Host,
    /// The name of a file: an input, relative to the folder of the file with the key, or a results
    /// file, relative to the folder of the record.
    File,
    /// `NAME: WEIGHT, …`.
    Portions,
    /// A text between quotes.
    Text,
    /// The name of a `[target NAME]` section.
    Target,
    /// A text without quotes, up to a comment.
    Words,
    /// `METRIC RANGE`.
    Bet,
    /// A number of rounds, or `auto`.
    Rounds,
    /// `none`, `reload`, or a statement.
    Restore,
    /// `SIZE, METRIC SIZE, …`.
    Deltas,
    /// `rate(JOB)` or `concurrency(JOB)`.
    Load,
    /// A number of requests per second or of clients.
    LoadValue,
    /// `WHAT: RANGE`.
    Vary,
    /// `lowest METRIC` or `highest METRIC`.
    Best,
    /// `V, V, …`, `FROM..TO xN` or `FROM..TO +N`.
    Range,
    /// `cpu(OWNER) >= N%` or `throughput gains < N%`.
    Saturated,
}

impl Form {
    /// Describes the form in a few words, for the reference.
    pub fn describe(self) -> String {
        match self {
            Form::Duration => "duration".to_owned(),
            Form::Warmup => "duration, or auto".to_owned(),
            Form::Count => "whole number".to_owned(),
            Form::Rate => "number per second, or shape".to_owned(),
            Form::Choice(words) => words.join(" | "),
            Form::Statement => "statement".to_owned(),
            Form::Rows => "N or LO..HI".to_owned(),
            Form::Command => "command of the shell".to_owned(),
            Form::Named => "NAME: EXPRESSION, …".to_owned(),
            Form::Pause => "duration or expression".to_owned(),
            Form::Codes => "CODE, …".to_owned(),
            Form::Retry => "N on CODE, …".to_owned(),
            Form::Conditions => "CONDITION, …".to_owned(),
            Form::Url => "URL".to_owned(),
            Form::Host => "ssh://USER@HOST:PORT".to_owned(),
            Form::File => "file".to_owned(),
            Form::Portions => "NAME: WEIGHT, …".to_owned(),
            Form::Text => "text".to_owned(),
            Form::Target => "NAME".to_owned(),
            Form::Words => "text".to_owned(),
            Form::Bet => "METRIC RANGE".to_owned(),
            Form::Rounds => "whole number, or auto".to_owned(),
            Form::Restore => "none | reload | statement".to_owned(),
            Form::Deltas => "SIZE, METRIC SIZE, …".to_owned(),
            Form::Load => "rate(JOB) | concurrency(JOB)".to_owned(),
            Form::LoadValue => "number per second, or of clients".to_owned(),
            Form::Vary => "WHAT: RANGE".to_owned(),
            Form::Best => "lowest METRIC | highest METRIC".to_owned(),
            Form::Range => "LIST, or FROM..TO xN".to_owned(),
            Form::Saturated => "cpu(OWNER) >= N% | throughput gains < N%".to_owned(),
        }
    }
}
