//! The short answer of an experiment for people: details first, then the verdict, the limiters, the
//! answer and the next commands, as in the short answer of a run.

use analyze::Status;

use super::metric_tables::INTERVAL;
use super::short::ShortExperiment;
use super::short_tables::{MOST_METRICS, MostRows, ShortTable};
use super::view::ExperimentView;
use crate::page::{Remark, Tone, tone};
use crate::text::{Canvas, Style, first_that_fits, write_commands};

/// Maximum numbers of rows of a table, in the order in which they are tried until the answer fits a
/// screen.
const ROWS: [usize; 10] = [12, 10, 8, 6, 5, 4, 3, 2, 1, 0];

/// Maximum numbers of rows of declared metrics, tried if the answer does not fit a screen even
/// without other rows.
const DECLARED: [usize; 3] = [5, 3, 1];

/// Formats the part of an experiment's answer that fits a screen.
pub fn experiment_text(view: &ExperimentView, style: &Style) -> String {
    let rows = ROWS.map(|of_each| MostRows { of_each, declared: MOST_METRICS });
    let fewer = DECLARED.map(|declared| MostRows { of_each: 0, declared });
    first_that_fits(rows.into_iter().chain(fewer).map(|most| {
        let mut canvas = Canvas::new(*style);
        write(&mut canvas, &ShortExperiment::of(view, most));
        canvas.into_text()
    }))
}

fn write(canvas: &mut Canvas, short: &ShortExperiment) {
    if short.status == Status::Invalid {
        canvas.line_in_tone(tone(short.status), short.status.verdict());
        canvas.gap();
    }
    canvas.lines(0, &short.subject);
    canvas.gap();
    canvas.lines(0, &short.results);
    short.tables.iter().for_each(|table| write_table(canvas, table));
    canvas.gap();
    canvas.remark(&short.verdict);
    canvas.lines(0, &short.counts);
    canvas.lines(2, &short.objections);
    canvas.lines(0, &short.doubts);
    canvas.remarks(&short.limiters);
    canvas.gap();
    canvas.remarks(&short.answers);
    canvas.remarks(&short.remarks);
    canvas.gap();
    canvas.lines(0, &short.reviews);
    canvas.gap();
    write_commands(canvas, &short.next);
}

fn write_table(canvas: &mut Canvas, it: &ShortTable) {
    let ShortTable { heading, table, levels, notes } = it;
    canvas.gap();
    if !heading.is_empty() {
        canvas.sentence(Tone::Strong, heading, "");
    }
    canvas.table(table);
    let levels = levels.iter().filter(|_| canvas.shows(table, INTERVAL));
    let notes: Vec<&str> = levels.chain(notes).map(String::as_str).collect();
    if !notes.is_empty() {
        canvas.remark(&Remark::note(notes.join("; ")));
    }
}

#[cfg(test)]
mod tests {
    use analyze::compare::{ArmComparison, ArmId, ArmSlo, Comparison};
    use analyze::curve::Ranking;
    use analyze::{CheckKind, Component};
    use record::Note;
    use workload::question::Scale;

    use super::super::alarms::FalseAlarms;
    use super::super::fixtures::{
        comparison, experiment, long_sweep, run_of, undeclared_setting, with_limiters,
    };
    use super::super::html::experiment_html;
    use super::super::sweep::SweepView;
    use super::super::view::{ArmView, DifferenceView, ExperimentState};
    use super::*;

    const SCREEN: Style = Style { color: false, width: 80 };

    fn text(view: &ExperimentView) -> String {
        experiment_text(view, &SCREEN)
    }

    /// Returns an experiment with this number of arms, which have long names. Each arm except the
    /// baseline has three changes.
    fn with_arms(arms: usize) -> ExperimentView {
        let name = |arm: usize| format!("an arm with a long name and the number {arm}");
        let arm = |place: usize| ArmView { name: name(place), ..experiment().arms[0].clone() };
        let first = comparison(-0.1).arms.remove(0);
        let compared = |arm: usize| ArmComparison {
            arm: ArmId(arm),
            changes: vec![first.changes[0].clone(); 3],
            ..first.clone()
        };
        ExperimentView {
            arms: (0..arms).map(arm).collect(),
            comparison: Some(Comparison { arms: (1..arms).map(compared).collect() }),
            ..experiment()
        }
    }

    #[test]
    fn answer_with_many_arms_fits_a_screen_and_counts_what_it_leaves_out() {
        for arms in 2..24 {
            let shown = text(&with_arms(arms));
            assert!(shown.lines().count() <= 40, "{arms}, {}: {shown}", shown.lines().count());
            let lines = shown.lines().filter(|line| !line.contains("  assay "));
            let widest = lines.map(|line| line.chars().count()).max();
            assert!(widest <= Some(80), "{arms}: {shown}");
        }
        let shown = text(&with_arms(20));
        assert!(shown.contains("  49 more metrics (49 declared) in the full answer\n"), "{shown}");
        assert!(shown.contains("\narm       and 17 more in the full answer\n"), "{shown}");
    }

    /// Without short lists, the sentences about 270 points take more lines than a screen has.
    #[test]
    fn answer_of_a_sweep_with_many_points_fits_a_screen_and_names_the_best_ones() {
        for points in [30, 90, 270] {
            let sweep = long_sweep(points, Ranking::Undecided { more_repeats: None });
            let comparisons = vec![comparison(-0.1); points];
            let compared = SweepView { comparisons, ..sweep.clone() };
            let [alone, compared] = [sweep, compared]
                .map(|sweep| text(&ExperimentView { sweep: Some(sweep), ..experiment() }));
            for shown in [&alone, &compared] {
                assert!(shown.lines().count() <= 40, "{}: {shown}", shown.lines().count());
                for arm in ["plain", "tls"] {
                    let best = points / 2 + 1;
                    let words = format!("\n{arm}: concurrency(read) = {best}: highest");
                    assert!(shown.contains(&words), "{shown}");
                }
                let words = format!("1, 2, 3 … {points} ({points} values); 2 runs at each\n");
                assert!(shown.contains(&words), "{shown}");
            }
            let rows = alone.lines().filter(|line| line.ends_with("  undecided")).count();
            assert!(rows >= 4, "{alone}");
        }
    }

    #[test]
    fn invalid_experiment_begins_with_that_word_alone() {
        let state = ExperimentState::Interrupted;
        let shown = text(&ExperimentView { state, rounds: vec![6], ..experiment() });
        assert!(shown.starts_with("INVALID\n\nquestion  ?\n"), "{shown}");
        let words = "\nNo answer: the experiment was interrupted. --resume continues it\n\nmore  ";
        assert!(shown.contains(words), "{shown}");
        let words = "\nresume  assay run e.ini --resume r.assay\nrepeat  assay run e.ini\n";
        assert!(shown.ends_with(words), "{shown}");
        assert!(!text(&experiment()).contains("INVALID"));
    }

    #[test]
    fn answer_is_repeated_from_its_record_with_the_permissions_that_it_needs() {
        for (command, expected) in [
            ("assay run e.ini", ""),
            ("assay run e.ini --url testbed:postgres", " --allow-commands"),
            ("assay run e.ini --allow-commands --allow-files", " --allow-commands --allow-files"),
        ] {
            let shown = text(&ExperimentView { command: command.to_owned(), ..experiment() });
            let words = format!("\nrepeat  assay repeat r.assay{expected}\n");
            assert!(shown.ends_with(&words), "{shown}");
        }
    }

    #[test]
    fn unanswered_experiment_is_repeated_and_continued_by_its_file() {
        let command_with_path = "assay run in/e.ini".to_owned();
        let shown = |state| {
            let command_with_path = command_with_path.clone();
            text(&ExperimentView { state, command_with_path, ..experiment() })
        };
        let invalid = shown(ExperimentState::InstrumentFailed);
        assert!(invalid.ends_with("\nrepeat  assay run in/e.ini\n"), "{invalid}");
        let interrupted = shown(ExperimentState::Interrupted);
        let words = "\nresume  assay run in/e.ini --resume r.assay\nrepeat  assay run in/e.ini\n";
        assert!(interrupted.ends_with(words), "{interrupted}");
        // A page that may be passed on does not name the folders of its author.
        let state = ExperimentState::Interrupted;
        let page = experiment_html(&ExperimentView { state, command_with_path, ..experiment() });
        assert!(page.contains("assay run e.ini --resume r.assay"), "{page}");
        assert!(!page.contains("in/e.ini"), "{page}");
    }

    #[test]
    fn baseline_and_arm_name_their_columns_and_several_arms_share_one() {
        let two = ExperimentView { comparison: Some(comparison(-0.1)), ..experiment() };
        let cells = |shown: &str, first: &str| -> Vec<String> {
            let line = shown.lines().find(|line| line.trim_start().starts_with(first));
            line.expect(shown).split_whitespace().map(str::to_owned).collect()
        };
        let shown = text(&two);
        assert_eq!(cells(&shown, "metric "), ["metric", "plain", "tls", "change", "interval"]);
        assert_eq!(cells(&shown, "throughput")[..2], ["throughput(read)", "100/s"]);
        let shown = text(&with_arms(3));
        let titles = ["metric", "arm", "baseline", "value", "change"];
        assert_eq!(cells(&shown, "metric ")[..5], titles);
    }

    #[test]
    fn arm_with_the_name_of_a_column_keeps_its_own_column_on_a_narrow_page() {
        let mut view = ExperimentView { comparison: Some(comparison(-0.1)), ..experiment() };
        view.arms[1].name = "interval".to_owned();
        let shown = experiment_text(&view, &Style { color: false, width: 50 });
        let row = |first: &str| {
            let line = shown.lines().find(|line| line.trim_start().starts_with(first));
            line.expect(&shown).split_whitespace().map(str::to_owned).collect::<Vec<String>>()
        };
        assert_eq!(row("metric "), ["metric", "baseline", "value", "change"], "{shown}");
        assert_eq!(row("throughput ")[1..3], ["100", "90/s"], "{shown}");
    }

    #[test]
    fn doubts_and_remarks_are_in_the_short_answer() {
        let [lag, drift] =
            [CheckKind::SendLag, CheckKind::Drift].map(|kind| (kind, Status::Suspect));
        let mut view = with_limiters([Component::DatabaseCpu, Component::DatabaseLocks]);
        view.runs = vec![run_of(0, vec![lag]), run_of(1, vec![drift])];
        view.arms[0].validity.suspect = vec![(0, vec![CheckKind::SendLag])];
        view.arms[1].validity.suspect = vec![(0, vec![CheckKind::Drift])];
        view.arms[1].effect.not_read_back = vec!["option.via".to_owned()];
        view.has_several_differences = true;
        view.label = Some("v2".to_owned());
        view.undeclared = vec![undeclared_setting()];
        view.differences = vec![DifferenceView {
            kind: "durability",
            name: "fsync".to_owned(),
            values: ["on", "off"].map(str::to_owned),
            cause: Some("url".to_owned()),
            ..view.undeclared[0].clone()
        }];
        let counted = analyze::compare::FalsePositives { comparisons: 20, rejections: 1 };
        let metric = "throughput(read)".to_owned();
        let (spread, scale) = (0.01, Scale::Ratio);
        view.false_alarms = Some(FalseAlarms::OfExperiment { metric, counted, spread, scale });
        view.notes = vec![Note {
            at: base::WallTime(0),
            author: Some("ann".to_owned()),
            text: "looks right".to_owned(),
        }];
        let slo = |missed| ArmSlo { job: "read".into(), text: "p99 < 5ms".into(), runs: 6, missed };
        view.arms[0].slos = vec![slo(0)];
        view.arms[1].slos = vec![slo(2)];
        let shown = text(&view);
        for words in [
            "\nlabel     v2\n",
            "\nSUSPECT, 2 of 2 runs: 2 checks object: send-lag (1), drift (1); 1 undeclared\n",
            "\n  send-lag  What to do: end other programs",
            "\n  drift     What to do: use a longer `warmup`",
            "\n  tls: not read back: option.via\n",
            "\n  undeclared difference: setting, work_mem is `4MB` in `plain`, `8MB` in `tls`\n",
            "\n  differs: fsync is `on` in `plain`, `off` in `tls` (by `url`)\n",
            "\nplain: database-cpu; tls: database-locks\nThe arms have different limiters: ",
            "\n`tls` lowers throughput(read) by 10.0 % (",
            "\nThe arms may differ in several things: ",
            "\nSLO of tls: read p99 < 5ms: missed in 2 of 6 runs\nA/A: 1 of 20 comparisons",
            ", ann: looks right\n",
            "\nwhy     assay explain drift send-lag\n",
        ] {
            assert!(shown.contains(words), "{words}: {shown}");
        }
        assert!(!shown.contains("SLO of plain"), "{shown}");
    }
}
