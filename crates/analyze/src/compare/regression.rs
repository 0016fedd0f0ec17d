//! Judgement of regressions against a baseline, for continuous integration.

use super::change::ChangeInterval;

/// The outcome of a limit for regressions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RegressionOutcome {
    /// The whole interval lies beyond the limit.
    Exceeded,
    /// The whole interval lies on the allowed side.
    Within,
    /// The interval reaches over the limit, or there is none.
    Undecided,
}

/// Judges a limit: a change for the worse, negative if less is worse, never 0.
pub fn judge_regression(limit: f64, interval: Option<ChangeInterval>) -> RegressionOutcome {
    let Some(ChangeInterval { low, high }) = interval else {
        return RegressionOutcome::Undecided;
    };
    let (near, far) = if limit < 0.0 { (-high, -low) } else { (low, high) };
    match limit.abs() {
        limit if near > limit => RegressionOutcome::Exceeded,
        limit if far <= limit => RegressionOutcome::Within,
        _ => RegressionOutcome::Undecided,
    }
}

impl RegressionOutcome {
    /// Returns the word for it in documents.
    pub fn name(self) -> &'static str {
        match self {
            RegressionOutcome::Exceeded => "exceeded",
            RegressionOutcome::Within => "within",
            RegressionOutcome::Undecided => "undecided",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn regression_must_be_significant_and_beyond_its_size() {
        let judge = |limit, low, high| judge_regression(limit, Some(ChangeInterval { low, high }));
        assert_eq!(judge(-0.03, -0.08, -0.04), RegressionOutcome::Exceeded);
        assert_eq!(judge(-0.03, -0.08, -0.02), RegressionOutcome::Undecided);
        assert_eq!(judge(-0.03, -0.02, 0.04), RegressionOutcome::Within);
        assert_eq!(judge(-0.03, 0.04, 0.08), RegressionOutcome::Within);
        assert_eq!(judge(0.1, 0.11, 0.2), RegressionOutcome::Exceeded);
        assert_eq!(judge(0.1, 0.05, 0.2), RegressionOutcome::Undecided);
        assert_eq!(judge(0.1, -0.2, 0.1), RegressionOutcome::Within);
        assert_eq!(judge_regression(-0.03, None), RegressionOutcome::Undecided);
    }
}
