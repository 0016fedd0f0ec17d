//! Check of the cycles between the files of a crate: files that use each other's items in a cycle.
//! `cycles.txt` lists the sizes of the remaining cycles; it may only shrink.
//!
//! A file uses another if a path in its code, outside of tests, leads to an item of that file. A
//! path is followed through re-exports to the file that defines the item. `mod` and `pub use` alone
//! do not count as a use: a parent that only declares and re-exports its children depends on none
//! of them.
//!
//! A file also uses another if a method in one of its `impl` blocks calls a method of the same
//! type, and an `impl` block in the other file defines the called method. Only calls through
//! `self`, `Self` or the name of the type are seen, because the types of other values are not known
//! here.

mod methods;
mod modules;
mod paths;
mod tokens;

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use modules::Modules;

/// Name of the list, relative to the root.
const LIST: &str = "xtask/src/tidy/cycles.txt";

/// The cycles of each crate, largest first; each cycle is a list of its files.
pub(crate) type Cycles = BTreeMap<String, Vec<Vec<String>>>;

/// Sizes of the cycles of each crate, in files, largest first.
type Sizes = BTreeMap<String, Vec<usize>>;

/// Checks the cycles of all crates against the list.
pub(crate) fn check(root: &Path, found: &Cycles) -> Vec<String> {
    let list = match std::fs::read_to_string(root.join(LIST)) {
        Ok(text) => text,
        Err(error) => return vec![format!("{LIST}: {error}")],
    };
    match parse(&list) {
        Ok(accepted) => compare(&accepted, found),
        Err(error) => vec![error],
    }
}

/// Returns the number of cycles in all crates, and in each crate that has one.
pub(crate) fn summary(found: &Cycles) -> String {
    let with_any = found.iter().filter(|(_, cycles)| !cycles.is_empty());
    let listed = with_any.map(|(name, cycles)| format!("{name} {}", cycles.len()));
    let listed: Vec<String> = listed.collect();
    let (all, crates) = (found.values().map(Vec::len).sum::<usize>(), found.len());
    let total = format!("{all} cycles between files in {crates} crates");
    match listed.as_slice() {
        [] => total,
        listed => format!("{total} ({})", listed.join(", ")),
    }
}

/// Returns the dependency cycles in each crate. `sources` holds the path and the text of each
/// source file. Programs below `src/bin` count as part of their crate.
pub(crate) fn cycles(sources: &[(String, String)]) -> Cycles {
    let mut roots: BTreeMap<(&str, &str), Vec<(&str, &str)>> = BTreeMap::new();
    for (path, text) in sources {
        if let Some((folder, file)) = path.split_once("/src/") {
            let name = folder.rsplit('/').next().unwrap_or(folder);
            let (root, file) = split_root(file);
            roots.entry((name, root)).or_default().push((file, text));
        }
    }
    let mut crates = Cycles::new();
    for ((name, root), files) in roots {
        let found = strong_components(&Modules::new(&files).uses());
        let whole = |cycle: Vec<String>| cycle.iter().map(|file| format!("{root}{file}")).collect();
        crates.entry(name.to_owned()).or_default().extend(found.into_iter().map(whole));
    }
    crates.values_mut().for_each(|cycles| cycles.sort_by_key(|cycle| Reverse(cycle.len())));
    crates
}

/// Splits the path of a file below `src` into the folder of its root module and the rest.
fn split_root(file: &str) -> (&str, &str) {
    let within = file.strip_prefix("bin/").and_then(|rest| rest.find('/'));
    file.split_at(within.map_or(0, |length| "bin/".len() + length + 1))
}

/// Parses lines of the form `driver: 5 3`.
fn parse(text: &str) -> Result<Sizes, String> {
    let mut sizes = Sizes::new();
    for (number, line) in text.lines().enumerate() {
        let line = line.split('#').next().unwrap_or_default().trim();
        if line.is_empty() {
            continue;
        }
        let read = || {
            let (name, list) = line.split_once(':')?;
            let list: Result<Vec<usize>, _> = list.split_whitespace().map(str::parse).collect();
            Some((name.to_owned(), list.ok()?))
        };
        let (name, list) =
            read().ok_or_else(|| format!("{LIST}:{}: write `crate: size size`", number + 1))?;
        sizes.insert(name, list);
    }
    Ok(sizes)
}

fn compare(accepted: &Sizes, found: &Cycles) -> Vec<String> {
    let names: BTreeSet<&String> = accepted.keys().chain(found.keys()).collect();
    let mut complaints = Vec::new();
    for name in names {
        let accepted = accepted.get(name).map(Vec::as_slice).unwrap_or_default();
        let cycles = found.get(name).map(Vec::as_slice).unwrap_or_default();
        let sizes: Vec<usize> = cycles.iter().map(Vec::len).collect();
        if sizes == accepted {
            continue;
        }
        // The sizes are in descending order: in a list that shrank, no size exceeds the accepted
        // size in the same place.
        let grew = sizes.len() > accepted.len() || sizes.iter().zip(accepted).any(|(a, b)| a > b);
        if grew {
            for cycle in cycles {
                complaints
                    .push(format!("crate `{name}`: these files form a cycle: {}", cycle.join(" ")));
            }
        } else {
            let sizes: Vec<String> = sizes.iter().map(usize::to_string).collect();
            complaints.push(format!(
                "crate `{name}` has smaller cycles than {LIST} accepts; write `{name}: {}`",
                sizes.join(" ")
            ));
        }
    }
    complaints
}

/// Returns the sets of two or more files that all reach each other.
fn strong_components(uses: &BTreeMap<String, BTreeSet<String>>) -> Vec<Vec<String>> {
    let reached: BTreeMap<&String, BTreeSet<&String>> =
        uses.keys().map(|file| (file, reachable(uses, file))).collect();
    let mut cycles: Vec<Vec<String>> = Vec::new();
    let mut seen = BTreeSet::new();
    for (file, others) in &reached {
        if !others.contains(file) || seen.contains(file) {
            continue;
        }
        let cycle: Vec<&String> =
            others.iter().copied().filter(|other| reached[other].contains(file)).collect();
        seen.extend(cycle.iter().copied());
        cycles.push(cycle.into_iter().cloned().collect());
    }
    cycles
}

/// Returns the files that a file uses directly or through others.
fn reachable<'u>(
    uses: &'u BTreeMap<String, BTreeSet<String>>,
    from: &String,
) -> BTreeSet<&'u String> {
    let mut reached = BTreeSet::new();
    let mut next: Vec<&String> = uses[from].iter().collect();
    while let Some(file) = next.pop() {
        if reached.insert(file) {
            next.extend(uses.get(file).into_iter().flatten());
        }
    }
    reached
}

#[cfg(test)]
mod tests;
