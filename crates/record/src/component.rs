//! What a series of readings is about: the names of components in records.
//!
//! A sampler writes them and a judgement looks for them, so that both have them from here. A
//! component of another host than the load generator's, or of another target than the main one, has
//! the name of that in front: `db1/disk sda`.

use std::fmt;

/// One of the two ends of what is measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Side {
    /// Whoever sends the requests: this process, or the program that is watched.
    Generator,
    /// Whoever answers them: the processes of the database.
    Server,
}

impl Side {
    /// Both.
    pub const ALL: [Side; 2] = [Side::Generator, Side::Server];

    /// The word for it.
    pub fn name(self) -> &'static str {
        match self {
            Side::Generator => "generator",
            Side::Server => "server",
        }
    }
}

/// A part of what is observed, without where it is.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Part {
    /// A machine as a whole.
    Host,
    /// One of its processors.
    Processor(u32),
    /// One of its disks.
    Disk(String),
    /// One of its network interfaces.
    Interface(String),
    /// All processes of one side.
    Processes(Side),
    /// Those processes (or threads) of the server that do one kind of work in the background.
    Role(String),
    /// The processes of this name that belong to neither side.
    Program(String),
    /// The sockets of one side to the other.
    Sockets(Side),
    /// The control group of one side.
    Cgroup(Side),
    /// The sessions of clients, as the database shows them.
    Sessions,
    /// What active sessions wait for; the metric is the name of the event.
    Waits,
    /// Which tables sessions wait for to be unlocked; the metric is the name of the table.
    Locks,
    /// Which statements wait; the metric is the beginning of the statement.
    Statements,
    /// What the database does that no client asked for; the metric is the name of the work.
    Background,
    /// What the database counts; the metric is the database's own name of the counter.
    Statistics,
}

/// The words of parts that have no name of their own.
const FIXED: [(&str, Part); 13] = [
    ("host", Part::Host),
    ("generator", Part::Processes(Side::Generator)),
    ("server", Part::Processes(Side::Server)),
    ("sockets generator", Part::Sockets(Side::Generator)),
    ("sockets server", Part::Sockets(Side::Server)),
    ("cgroup generator", Part::Cgroup(Side::Generator)),
    ("cgroup server", Part::Cgroup(Side::Server)),
    ("sessions", Part::Sessions),
    ("waits", Part::Waits),
    ("locks", Part::Locks),
    ("statements", Part::Statements),
    ("background", Part::Background),
    ("statistics", Part::Statistics),
];

impl Part {
    /// The part that a component is; `None` if it is none of these, as a thread is.
    fn parse(text: &str) -> Option<Part> {
        if let Some((_, part)) = FIXED.iter().find(|(name, _)| *name == text) {
            return Some(part.clone());
        }
        let (kind, name) = text.split_once(' ')?;
        match kind {
            "cpu" => name.parse().ok().map(Part::Processor),
            "disk" => Some(Part::Disk(name.to_owned())),
            "interface" => Some(Part::Interface(name.to_owned())),
            "server" => Some(Part::Role(name.to_owned())),
            "program" => Some(Part::Program(name.to_owned())),
            _ => None,
        }
    }
}

impl fmt::Display for Part {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Part::Processor(number) => write!(f, "cpu {number}"),
            Part::Disk(name) => write!(f, "disk {name}"),
            Part::Interface(name) => write!(f, "interface {name}"),
            Part::Role(name) => write!(f, "server {name}"),
            Part::Program(name) => write!(f, "program {name}"),
            Part::Host
            | Part::Processes(_)
            | Part::Sockets(_)
            | Part::Cgroup(_)
            | Part::Sessions
            | Part::Waits
            | Part::Locks
            | Part::Statements
            | Part::Background
            | Part::Statistics => {
                let fixed = FIXED.iter().find(|(_, part)| part == self);
                f.write_str(fixed.map_or("", |(name, _)| name))
            }
        }
    }
}

/// A part, and where it is.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Component {
    /// The host or the target, if it is not the load generator's or the main one.
    pub place: Option<String>,
    /// What it is there.
    pub part: Part,
}

impl Component {
    /// A part of the load generator's host, or of the main target.
    pub fn here(part: Part) -> Component {
        Component { place: None, part }
    }

    /// The component of a name in a record; `None` if it is none of these, as a thread is.
    pub fn parse(text: &str) -> Option<Component> {
        if let Some(part) = Part::parse(text) {
            return Some(Component::here(part));
        }
        let (place, rest) = text.split_once('/')?;
        Some(Component { place: Some(place.to_owned()), part: Part::parse(rest)? })
    }
}

impl fmt::Display for Component {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.place {
            Some(place) => write!(f, "{place}/{}", self.part),
            None => self.part.fmt(f),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_component_is_found_by_its_name() {
        let named = [
            Part::Processor(3),
            Part::Disk("sda".to_owned()),
            Part::Disk("cciss/c0d0".to_owned()),
            Part::Interface("eth0.5".to_owned()),
            Part::Role("checkpointer".to_owned()),
            Part::Program("kworker/0:1 a".to_owned()),
        ];
        for part in FIXED.iter().map(|(_, part)| part.clone()).chain(named) {
            for place in [None, Some("db1".to_owned())] {
                let component = Component { place, part: part.clone() };
                let text = component.to_string();
                assert_eq!(Component::parse(&text), Some(component), "{text}");
            }
        }
    }

    #[test]
    fn what_is_no_such_component_is_none() {
        for text in ["", "lane-0", "database", "cpu x", "cpu", "db1/lane-0", "/"] {
            assert_eq!(Component::parse(text), None, "{text:?}");
        }
    }
}
