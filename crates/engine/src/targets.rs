//! What a run has of each target that its plan asks.

use driver::Error;
use workload::{JobTarget, Plan};

use crate::error::Failed;

/// One of something for each target of a plan that is asked by anybody.
#[derive(Clone, Debug)]
pub struct PerTarget<T> {
    /// For the main target.
    pub main: Option<T>,
    /// For the targets with names, in the plan's order.
    pub named: Vec<Option<T>>,
    /// For programs.
    pub programs: Option<T>,
}

/// The drivers of a plan's targets.
pub type Drivers<D> = PerTarget<D>;

impl<T> PerTarget<T> {
    /// One for the main target alone.
    pub fn only(main: T) -> PerTarget<T> {
        PerTarget { main: Some(main), named: Vec::new(), programs: None }
    }

    /// One for each target that a plan asks.
    ///
    /// # Errors
    /// The first one that `make` has.
    pub fn of_plan<E>(
        plan: &Plan,
        mut make: impl FnMut(JobTarget) -> Result<T, E>,
    ) -> Result<PerTarget<T>, E> {
        let mut made = |target| plan.asks(target).then(|| make(target)).transpose();
        Ok(PerTarget {
            main: made(JobTarget::Main)?,
            named: (0..plan.targets.len())
                .map(|place| made(JobTarget::Named(place)))
                .collect::<Result<_, E>>()?,
            programs: made(JobTarget::Programs)?,
        })
    }

    /// That of a target which the plan asks.
    ///
    /// # Panics
    /// If nothing was made for it.
    pub fn of(&self, target: JobTarget) -> &T {
        let found = match target {
            JobTarget::Main => self.main.as_ref(),
            JobTarget::Named(place) => self.named.get(place).and_then(Option::as_ref),
            JobTarget::Programs => self.programs.as_ref(),
        };
        found.expect("there is one for each target that is asked")
    }

    /// All that there are, with their targets.
    pub fn iter(&self) -> impl Iterator<Item = (JobTarget, &T)> {
        let named = self.named.iter().enumerate();
        let named = named.map(|(place, one)| (JobTarget::Named(place), one.as_ref()));
        std::iter::once((JobTarget::Main, self.main.as_ref()))
            .chain(named)
            .chain([(JobTarget::Programs, self.programs.as_ref())])
            .filter_map(|(target, one)| Some((target, one?)))
    }
}

/// A target in a sentence.
pub(crate) fn in_words(plan: &Plan, target: JobTarget) -> String {
    match (target, plan.name_of(target)) {
        (JobTarget::Main | JobTarget::Named(_), Some(name)) => format!("[target {name}]"),
        (JobTarget::Main | JobTarget::Named(_), None) => "the target".to_owned(),
        (JobTarget::Programs, _) => "the operating system".to_owned(),
    }
}

/// A target cannot be reached; one with a name is told by it.
pub(crate) fn unreachable(plan: &Plan, target: JobTarget, error: Error) -> Failed {
    Failed::Unreachable(match plan.name_of(target) {
        None => error,
        Some(name) => {
            let message = format!("[target {name}]: {}", error.message());
            Error::new(error.class(), error.code(), message)
        }
    })
}
