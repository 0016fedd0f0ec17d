//! Programs other than the load generator and the database.

use analyze::{OtherProgram, OtherPrograms};

use super::digits::number;

/// Describes the processors that programs other than the load generator and the database used, with
/// the names of the programs that used most.
pub(super) fn other_programs(others: &OtherPrograms) -> String {
    let host = others.host.as_deref().map_or("the machine".to_owned(), |host| format!("`{host}`"));
    let named: Vec<String> = others.largest().iter().map(other_program).collect();
    let named = if named.is_empty() { String::new() } else { format!(": {}", named.join(", ")) };
    format!(
        "other programs used {} of the {} processors of {host}{named}",
        number(others.used),
        number(others.processors)
    )
}

/// Describes a program by its name, the processors that it used, and its process.
pub(crate) fn other_program(program: &OtherProgram) -> String {
    let OtherProgram { name, processors, processes, pid, .. } = program;
    let pid = pid.map(|pid| format!("pid {pid}"));
    let which = match (pid, *processes) {
        (Some(pid), 0 | 1) => format!(" ({pid})"),
        (Some(pid), all) => format!(" ({all} processes, most by {pid})"),
        (None, _) => String::new(),
    };
    format!("`{name}` {}{which}", number(*processors))
}
