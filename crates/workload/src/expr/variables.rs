//! The variables of `let`.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use super::compiled::Compiled;
use super::range::{Range, range};
use crate::value::Type;

/// The variables of `let` that are defined so far.
#[derive(Debug)]
pub(crate) struct Variables {
    pub(super) places: BTreeMap<String, usize>,
    pub(super) kinds: Vec<Option<Type>>,
    /// The known ranges of integer variables.
    pub(super) ranges: Vec<Option<Range>>,
    /// All variables of the job, defined or not, with the names that they use.
    pub(super) declared: BTreeMap<String, Vec<String>>,
    /// The variable whose value is being compiled.
    pub(super) current_variable: Option<String>,
}

/// The largest number of names in a search for a cycle of definitions.
const LONGEST_SEARCH: usize = 1_000;

impl Variables {
    /// Creates an empty set of variables.
    pub(crate) const fn new() -> Variables {
        Variables {
            places: BTreeMap::new(),
            kinds: Vec::new(),
            ranges: Vec::new(),
            declared: BTreeMap::new(),
            current_variable: None,
        }
    }

    /// Declares a variable that will be defined, and the names that it uses. Of several
    /// declarations of a name, the first applies.
    pub(crate) fn declare(&mut self, name: &str, uses: Vec<String>) {
        self.declared.entry(name.to_owned()).or_insert(uses);
    }

    /// Adds to `names` all names that they use, directly or through other variables.
    pub(crate) fn expand(&self, names: &mut BTreeSet<String>) {
        let mut next: Vec<String> = names.iter().cloned().collect();
        while let Some(name) = next.pop() {
            for used in self.declared.get(&name).into_iter().flatten() {
                if names.insert(used.clone()) {
                    next.push(used.clone());
                }
            }
        }
    }

    /// Sets the variable whose value is compiled next.
    pub(crate) fn begin(&mut self, name: &str) {
        self.current_variable = Some(name.to_owned());
    }

    /// Adds a variable; `None` for a value whose error is already reported.
    pub(crate) fn define(&mut self, name: &str, value: Option<&Compiled>) {
        self.current_variable = None;
        self.places.insert(name.to_owned(), self.kinds.len());
        self.kinds.push(value.map(Compiled::kind));
        self.ranges.push(match value {
            Some(Compiled::Dynamic(node, _)) => range(node, &self.ranges),
            Some(Compiled::Constant(constant)) => range(&constant.clone().into_node(), &[]),
            None => None,
        });
    }

    /// Returns true if a variable has this name.
    pub(crate) fn contains(&self, name: &str) -> bool {
        self.places.contains_key(name)
    }

    /// Returns a cycle of definitions; `None` if there is none. `name` is the variable that is
    /// being defined, and its value uses `next`. The cycle begins with `next` and ends with `name`,
    /// and each of its variables uses the one after it.
    pub(super) fn cycle<'v>(&'v self, name: &str, next: &'v str) -> Option<Vec<&'v str>> {
        // Each name with its user, to trace the path back from its end.
        let mut users: BTreeMap<&str, Option<&str>> = BTreeMap::from([(next, None)]);
        let mut reached = VecDeque::from([next]);
        while let Some(here) = reached.pop_front() {
            if here == name {
                let user = |of: &&'v str| users.get(of).copied().flatten();
                let mut way: Vec<&str> = std::iter::successors(Some(here), user).collect();
                way.reverse();
                return Some(way);
            }
            for used in self.declared.get(here).into_iter().flatten() {
                if users.len() < LONGEST_SEARCH && !users.contains_key(used.as_str()) {
                    users.insert(used, Some(here));
                    reached.push_back(used);
                }
            }
        }
        None
    }
}

/// The variables outside of jobs: none.
pub(crate) static NO_VARIABLES: Variables = Variables::new();
