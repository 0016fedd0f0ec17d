//! One value per target of a plan, such as its driver.

use driver::Error;
use workload::{JobTarget, Plan, TargetId};

use crate::error::{Location, RunFailure, Unreachable};

/// One value for each target that is in use; `None` for a target that is not.
#[derive(Clone, Debug)]
pub struct PerTarget<T> {
    /// The value of the main target.
    pub main: Option<T>,
    /// The values of the named targets, in the plan's order.
    pub named: Vec<Option<T>>,
    /// The value of the target that runs programs.
    pub programs: Option<T>,
}

/// The drivers of a plan's targets.
pub type Drivers<D> = PerTarget<D>;

impl<T> PerTarget<T> {
    /// Creates a value for the main target alone.
    pub fn only(main: T) -> PerTarget<T> {
        PerTarget { main: Some(main), named: Vec::new(), programs: None }
    }

    /// Creates a value for each target that a plan uses.
    ///
    /// # Errors
    /// The first error of `make`.
    pub fn of_plan<E>(
        plan: &Plan,
        make: impl FnMut(JobTarget) -> Result<T, E>,
    ) -> Result<PerTarget<T>, E> {
        PerTarget::of_used(plan, |target| plan.uses(target), make)
    }

    /// Creates a value for each target of a plan for which `is_used` returns true.
    ///
    /// # Errors
    /// The first error of `make`.
    pub fn of_used<E>(
        plan: &Plan,
        is_used: impl Fn(JobTarget) -> bool,
        mut make: impl FnMut(JobTarget) -> Result<T, E>,
    ) -> Result<PerTarget<T>, E> {
        let mut made = |target| is_used(target).then(|| make(target)).transpose();
        Ok(PerTarget {
            main: made(JobTarget::Main)?,
            named: plan
                .target_ids()
                .map(|id| made(JobTarget::Named(id)))
                .collect::<Result<_, E>>()?,
            programs: made(JobTarget::Programs)?,
        })
    }

    /// Returns the value of a target that is in use.
    ///
    /// # Panics
    /// If the target has no value.
    pub fn of(&self, target: JobTarget) -> &T {
        let found = match target {
            JobTarget::Main => self.main.as_ref(),
            JobTarget::Named(id) => self.named.get(id.index()).and_then(Option::as_ref),
            JobTarget::Programs => self.programs.as_ref(),
        };
        found.expect("there is one for each target that is asked")
    }

    /// Iterates over all values with their targets.
    pub fn iter(&self) -> impl Iterator<Item = (JobTarget, &T)> {
        let named = (0..).map(TargetId).zip(&self.named);
        let named = named.map(|(id, one)| (JobTarget::Named(id), one.as_ref()));
        std::iter::once((JobTarget::Main, self.main.as_ref()))
            .chain(named)
            .chain([(JobTarget::Programs, self.programs.as_ref())])
            .filter_map(|(target, one)| Some((target, one?)))
    }
}

/// Returns the name of a target for use in a sentence.
pub(crate) fn target_phrase(plan: &Plan, target: JobTarget) -> String {
    match (target, plan.name_of(target)) {
        (JobTarget::Main | JobTarget::Named(_), Some(name)) => format!("[target {name}]"),
        (JobTarget::Main | JobTarget::Named(_), None) => "the target".to_owned(),
        (JobTarget::Programs, _) => "the operating system".to_owned(),
    }
}

/// Returns the failure of an unreachable target. `place` is the statement during which the
/// connection broke; `None` if no connection was open.
pub(crate) fn unreachable(
    plan: &Plan,
    target: JobTarget,
    place: Option<Location>,
    error: Error,
) -> RunFailure {
    let (target, place) = (plan.name_of(target).map(str::to_owned), place.map(Box::new));
    RunFailure::Unreachable(Unreachable { target, place, error })
}
