//! The parts of a Markdown report that are about a sweep.

use super::sentence;
use super::sweep;
use super::view::{ArmView, ExperimentView};
use crate::markdown::{Document, escaped};

/// Writes the models of each arm.
pub(super) fn models(out: &mut Document, view: &ExperimentView) {
    let Some(sweep) = &view.sweep else { return };
    let curves = || view.arms.iter().zip(&sweep.curves);
    let of_arm = |arm: &ArmView| match view.arms.len() {
        1 => String::new(),
        _ => format!(" of {}", sentence::name_as_code(&arm.name)),
    };
    let mut lines = Vec::new();
    for (arm, curve) in curves() {
        lines.extend(sweep::excluded_points(sweep, curve));
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
