//! The parts of a Markdown report that are about a sweep.

use super::sentence;
use super::sweep;
use super::view::{ArmView, ExperimentView};
use crate::markdown::{Document, escaped};

/// Writes, for each arm, the points that cannot be the best and the models.
pub(super) fn models(out: &mut Document, view: &ExperimentView) {
    let Some(sweep) = &view.sweep else { return };
    let curves = || view.arms.iter().zip(&sweep.curves);
    let of_arm = |arm: &ArmView| match view.arms.len() {
        1 => String::new(),
        _ => format!(" of {}", sentence::name_as_code(&arm.name)),
    };
    let mut lines = Vec::new();
    for (arm, curve) in curves() {
        let excluded = sweep::excluded_points(sweep, curve).into_iter();
        lines.extend(excluded.map(|text| match view.arms.len() {
            1 => text,
            _ => format!("{}: {text}", sentence::name_as_code(&arm.name)),
        }));
        let named = |what: &str, sentences: Vec<String>| {
            (!sentences.is_empty())
                .then(|| format!("{what}{}: {}", of_arm(arm), sentences.join(". ")))
        };
        lines.extend(curve.usl.iter().filter_map(|usl| named("USL", sweep::usl(usl))));
        lines.extend(curve.model.iter().filter_map(|it| named("Model", sweep::model(it))));
    }
    out.list(&all_escaped(&lines), 6);
}

fn all_escaped(texts: &[String]) -> Vec<String> {
    texts.iter().map(|text| escaped(text)).collect()
}

#[cfg(test)]
mod tests {
    use analyze::curve::Unusable;

    use super::super::fixtures::{self, experiment};
    use super::super::markdown::experiment_markdown;

    #[test]
    fn points_that_cannot_be_the_best_name_their_arm_if_there_are_several() {
        let points = [("1", 500.0, 1.0), ("2", 900.0, 2.0), ("4", 890.0, 4.0)];
        let document = |arms: usize| {
            let mut view = experiment();
            view.arms.truncate(arms);
            let mut sweep = fixtures::sweep(&points, arms);
            for curve in &mut sweep.curves {
                curve.best.as_mut().unwrap().unusable = vec![(0, Unusable::NotPositive)];
            }
            view.sweep = Some(sweep);
            experiment_markdown(&view)
        };
        let words = "1 cannot be the best: a value is 0\n";
        let several = document(2);
        for arm in ["plain", "tls"] {
            assert!(several.contains(&format!("\n- `{arm}`: {words}")), "{several}");
        }
        let one = document(1);
        assert!(one.contains(&format!("\n- {words}")), "{one}");
    }
}
