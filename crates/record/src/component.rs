//! Names of observed components in records.
//!
//! The samplers that write the names and the checks that look them up use the same list. If a
//! component belongs to a host other than the load generator's, or to a named target, its name
//! begins with that host or target: `db1/disk sda`.

use std::fmt;

use crate::component_name;

/// One of the two sides of a measurement.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum MeasuredSide {
    /// The sender of requests: this process, or the program under observation.
    Generator,
    /// The processes of the database.
    Server,
}

impl MeasuredSide {
    /// Both sides.
    pub const ALL: [MeasuredSide; 2] = [MeasuredSide::Generator, MeasuredSide::Server];

    /// Returns the name of this side in records.
    pub const fn name(self) -> &'static str {
        match self {
            MeasuredSide::Generator => "generator",
            MeasuredSide::Server => "server",
        }
    }
}

/// A kind of observed component, regardless of its host or target.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum ComponentKind {
    /// A thread that sends requests.
    Lane(u32),
    /// A whole machine.
    Host,
    /// One processor of a machine.
    Processor(u32),
    /// One disk of a machine.
    Disk(String),
    /// One network interface of a machine.
    Interface(String),
    /// All processes of one side.
    Processes(MeasuredSide),
    /// All processes of the database behind the proxy that accepts the target's connections.
    Upstream,
    /// The processes (or threads) of the server that do one kind of background work.
    Role(String),
    /// The processes of this name that belong neither to the sender of requests nor to the
    /// database.
    Program(String),
    /// The pooler of this name between an observed program and the database.
    Pooler(String),
    /// The sockets that connect one side to the other.
    Sockets(MeasuredSide),
    /// The control group of one side.
    Cgroup(MeasuredSide),
    /// Activity that the database itself counts.
    Database,
    /// The database as a whole, with its files on the disk.
    Storage,
    /// One table of the database, with its indexes.
    Table(String),
    /// The client sessions, as the database reports them.
    Sessions,
    /// The events for which active sessions wait. A metric has the name of an event.
    Waits,
    /// The tables with locks for which sessions wait. A metric has the name of a table.
    Locks,
    /// The statements that wait for locks. The name of a metric is the beginning of a statement.
    Statements,
    /// Background work of the database: checkpoints, autovacuum, base backups, and the maintenance
    /// statements of any client, such as `vacuum`. A metric has the name of a kind of work.
    Background,
    /// Counters of the database. A metric has the database's own name of a counter.
    Statistics,
}

/// The kinds whose names have no variable part, with these names.
const FIXED: [(&str, ComponentKind); 16] = [
    ("host", ComponentKind::Host),
    ("generator", ComponentKind::Processes(MeasuredSide::Generator)),
    ("server", ComponentKind::Processes(MeasuredSide::Server)),
    ("upstream", ComponentKind::Upstream),
    ("sockets generator", ComponentKind::Sockets(MeasuredSide::Generator)),
    ("sockets server", ComponentKind::Sockets(MeasuredSide::Server)),
    ("cgroup generator", ComponentKind::Cgroup(MeasuredSide::Generator)),
    ("cgroup server", ComponentKind::Cgroup(MeasuredSide::Server)),
    (component_name::DATABASE, ComponentKind::Database),
    ("storage", ComponentKind::Storage),
    (component_name::SESSIONS, ComponentKind::Sessions),
    ("waits", ComponentKind::Waits),
    ("locks", ComponentKind::Locks),
    ("statements", ComponentKind::Statements),
    ("background", ComponentKind::Background),
    ("statistics", ComponentKind::Statistics),
];

/// Prefix of the names of the threads that send requests. The number of the thread follows it.
pub const LANE_PREFIX: &str = "lane-";

impl ComponentKind {
    /// Returns true if the metrics of this kind have no fixed names; most names come from a server.
    pub fn has_own_names(&self) -> bool {
        match self {
            ComponentKind::Waits
            | ComponentKind::Locks
            | ComponentKind::Statements
            | ComponentKind::Background
            | ComponentKind::Statistics => true,
            ComponentKind::Lane(_)
            | ComponentKind::Host
            | ComponentKind::Processor(_)
            | ComponentKind::Disk(_)
            | ComponentKind::Interface(_)
            | ComponentKind::Processes(_)
            | ComponentKind::Upstream
            | ComponentKind::Role(_)
            | ComponentKind::Program(_)
            | ComponentKind::Pooler(_)
            | ComponentKind::Sockets(_)
            | ComponentKind::Cgroup(_)
            | ComponentKind::Database
            | ComponentKind::Storage
            | ComponentKind::Table(_)
            | ComponentKind::Sessions => false,
        }
    }

    /// Parses the name of a kind; `None` for any other text.
    fn parse(text: &str) -> Option<ComponentKind> {
        if let Some((_, kind)) = FIXED.iter().find(|(name, _)| *name == text) {
            return Some(kind.clone());
        }
        if let Some(number) = text.strip_prefix(LANE_PREFIX) {
            return number.parse().ok().map(ComponentKind::Lane);
        }
        let (prefix, name) = text.split_once(' ')?;
        match prefix {
            "cpu" => name.parse().ok().map(ComponentKind::Processor),
            "disk" => Some(ComponentKind::Disk(name.to_owned())),
            "interface" => Some(ComponentKind::Interface(name.to_owned())),
            "server" => Some(ComponentKind::Role(name.to_owned())),
            "program" => Some(ComponentKind::Program(name.to_owned())),
            "pooler" => Some(ComponentKind::Pooler(name.to_owned())),
            "table" => Some(ComponentKind::Table(name.to_owned())),
            _ => None,
        }
    }
}

impl fmt::Display for ComponentKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ComponentKind::Lane(number) => write!(f, "{LANE_PREFIX}{number}"),
            ComponentKind::Processor(number) => write!(f, "cpu {number}"),
            ComponentKind::Disk(name) => write!(f, "disk {name}"),
            ComponentKind::Interface(name) => write!(f, "interface {name}"),
            ComponentKind::Role(name) => write!(f, "server {name}"),
            ComponentKind::Program(name) => write!(f, "program {name}"),
            ComponentKind::Pooler(name) => write!(f, "pooler {name}"),
            ComponentKind::Table(name) => write!(f, "table {name}"),
            ComponentKind::Host
            | ComponentKind::Processes(_)
            | ComponentKind::Upstream
            | ComponentKind::Sockets(_)
            | ComponentKind::Cgroup(_)
            | ComponentKind::Database
            | ComponentKind::Storage
            | ComponentKind::Sessions
            | ComponentKind::Waits
            | ComponentKind::Locks
            | ComponentKind::Statements
            | ComponentKind::Background
            | ComponentKind::Statistics => {
                let fixed = FIXED.iter().find(|(_, kind)| kind == self);
                f.write_str(fixed.map_or("", |(name, _)| name))
            }
        }
    }
}

/// A component, identified by its kind and its host or target.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct ObservedComponent {
    /// The host or the target to which the component belongs; `None` for the load generator's host
    /// and the main target.
    pub place: Option<String>,
    /// The kind of the component.
    pub kind: ComponentKind,
}

impl ObservedComponent {
    /// Creates a component of the load generator's host, or of the main target.
    pub fn here(kind: ComponentKind) -> ObservedComponent {
        ObservedComponent { place: None, kind }
    }

    /// Parses the name of a component in a record; `None` for any other text.
    pub fn parse(text: &str) -> Option<ObservedComponent> {
        if let Some(kind) = ComponentKind::parse(text) {
            return Some(ObservedComponent::here(kind));
        }
        let (place, rest) = text.split_once('/')?;
        Some(ObservedComponent { place: Some(place.to_owned()), kind: ComponentKind::parse(rest)? })
    }
}

impl fmt::Display for ObservedComponent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.place {
            Some(place) => write!(f, "{place}/{}", self.kind),
            None => self.kind.fmt(f),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_component_is_found_by_its_name() {
        let named = [
            ComponentKind::Lane(1),
            ComponentKind::Processor(3),
            ComponentKind::Disk("sda".to_owned()),
            ComponentKind::Disk("cciss/c0d0".to_owned()),
            ComponentKind::Interface("eth0.5".to_owned()),
            ComponentKind::Role("checkpointer".to_owned()),
            ComponentKind::Program("kworker/0:1 a".to_owned()),
            ComponentKind::Pooler("pgbouncer".to_owned()),
            ComponentKind::Table("my orders".to_owned()),
        ];
        for kind in FIXED.iter().map(|(_, kind)| kind.clone()).chain(named) {
            for place in [None, Some("db1".to_owned())] {
                let component = ObservedComponent { place, kind: kind.clone() };
                let text = component.to_string();
                assert_eq!(ObservedComponent::parse(&text), Some(component), "{text}");
            }
        }
    }

    #[test]
    fn unknown_component_name_is_none() {
        for text in ["", "lane-", "lane-x", "cpu x", "cpu", "db1/lane-x", "/"] {
            assert_eq!(ObservedComponent::parse(text), None, "{text:?}");
        }
    }
}
