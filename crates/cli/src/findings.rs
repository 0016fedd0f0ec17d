//! The results of a self-test, as a table for people and as a JSON document.

use lab::selftest::{Depth, Finding, Mutation};
use report::Style;
use serde_json::{Value, json};

/// The name and version of the format of the document.
const SCHEMA: &str = "assay.selftest/1";

/// A completed self-test.
pub(crate) struct SelftestResult {
    /// The length of the measurements; `None` in real time, where it is fixed.
    pub(crate) depth: Option<Depth>,
    pub(crate) found: SelftestFindings,
}

/// The results of a self-test.
pub(crate) enum SelftestFindings {
    /// Comparisons with known values.
    Oracles(Vec<Finding>),
    /// Planted faults.
    Mutations(Vec<Mutation>),
}

/// The numbers of passed and of all results.
struct Count {
    passed: usize,
    total: usize,
}

impl SelftestResult {
    fn count(&self) -> Count {
        let (passed, total) = match &self.found {
            SelftestFindings::Oracles(findings) => {
                (findings.iter().filter(|finding| finding.passed()).count(), findings.len())
            }
            SelftestFindings::Mutations(mutations) => {
                (mutations.iter().filter(|fault| fault.is_noticed()).count(), mutations.len())
            }
        };
        Count { passed, total }
    }

    /// Returns true if everything passed; false if nothing was judged.
    pub(crate) fn has_passed(&self) -> bool {
        let Count { passed, total } = self.count();
        passed == total && total > 0
    }

    /// Returns the table; the last line says how many passed.
    pub(crate) fn text(&self, style: &Style) -> String {
        let Count { passed, total } = self.count();
        match &self.found {
            SelftestFindings::Oracles(findings) => {
                let mut rows = vec![HEAD.map(str::to_owned)];
                rows.extend(findings.iter().map(row));
                let table = table_within(style, &rows, &[0, 1, 7], &OMITTED);
                format!("{table}\n{passed} of {total} numbers passed\n")
            }
            SelftestFindings::Mutations(mutations) => {
                let mut rows = vec![["fault", "result", "noticed by"].map(str::to_owned)];
                rows.extend(mutations.iter().map(mutation_row));
                let table = table(&rows, &[0, 1, 2]);
                format!("{table}\n{passed} of {total} planted faults were noticed\n")
            }
        }
    }

    /// Returns the JSON document.
    pub(crate) fn json(&self) -> Value {
        let Count { passed, total } = self.count();
        let (findings, mutations): (Vec<Value>, Vec<Value>) = match &self.found {
            SelftestFindings::Oracles(findings) => {
                (findings.iter().map(document).collect(), Vec::new())
            }
            SelftestFindings::Mutations(mutations) => {
                (Vec::new(), mutations.iter().map(mutation_document).collect())
            }
        };
        json!({
            "schema": SCHEMA,
            "virtual": self.depth.is_some(),
            "depth": self.depth.map(Depth::name),
            "passed": passed,
            "total": total,
            "findings": findings,
            "mutations": mutations,
        })
    }
}

const HEAD: [&str; 8] =
    ["oracle", "quantity", "expected", "measured", "deviation", "std. errors", "allowed", "result"];

/// The columns that are omitted on a narrow terminal, in this order.
const OMITTED: [usize; 3] = [5, 6, 2];

fn row(finding: &Finding) -> [String; 8] {
    let verdict = match (finding.is_close(), finding.scatters_as_expected()) {
        (true, true) => "PASS",
        (false, _) => "FAIL",
        (true, false) => "FAIL (scatter)",
    };
    let errors = finding.deviation_in_standard_errors();
    [
        finding.oracle.clone(),
        finding.quantity.name(),
        number(finding, finding.expected),
        number(finding, finding.measured),
        finding.deviation_percent().map_or_else(dash, |percent| format!("{percent:+.2} %")),
        errors.map_or_else(dash, |errors| format!("{errors:+.1}")),
        allowed_text(finding),
        verdict.to_owned(),
    ]
}

fn dash() -> String {
    "-".to_owned()
}

/// Formats a value in the unit of its quantity.
fn number(finding: &Finding, value: f64) -> String {
    let (unit, factor) = finding.quantity.unit();
    let value = value * factor;
    match unit {
        "" => format!("{value:.0}"),
        "/s" => format!("{value:.1} {unit}"),
        _ => format!("{value:.4} {unit}"),
    }
}

fn allowed_text(finding: &Finding) -> String {
    match finding.allowed_percent() {
        [Some(below), Some(above)] if (below + above).abs() < 1e-9 => format!("±{above:.2} %"),
        [Some(below), Some(above)] => format!("{below:.1} … {above:+.1} %"),
        [Some(below), None] => format!("{below:.1} % …"),
        [None, _] => "0".to_owned(),
    }
}

fn mutation_row(mutation: &Mutation) -> [String; 3] {
    let result = if mutation.is_noticed() { "NOTICED" } else { "MISSED" };
    let found = |finding: &Finding| {
        let [is, was] = [finding.measured, finding.expected].map(|value| number(finding, value));
        format!("{}, {}: {is} instead of {was}", finding.oracle, finding.quantity.name())
    };
    let mut red = mutation.failing();
    let first = red.next().map_or_else(dash, found);
    let more = match red.count() {
        0 => String::new(),
        count => format!(" (and {count} more)"),
    };
    [mutation.fault.to_owned(), result.to_owned(), first + &more]
}

/// Formats rows as aligned columns; the columns in `left_aligned` are left-aligned, the other
/// columns right-aligned.
pub(crate) fn table<const N: usize>(rows: &[[String; N]], left_aligned: &[usize]) -> String {
    format_columns(rows, &Vec::from_iter(0..N), left_aligned)
}

/// Formats the given columns of rows.
fn format_columns<const N: usize>(
    rows: &[[String; N]],
    columns: &[usize],
    left_aligned: &[usize],
) -> String {
    let width = |column: usize| {
        rows.iter().map(|row| row[column].chars().count()).max().unwrap_or_default()
    };
    let widths: Vec<(usize, usize)> =
        columns.iter().map(|column| (*column, width(*column))).collect();
    let mut text = String::new();
    for row in rows {
        let cells = widths.iter().map(|(column, width)| {
            let (cell, width) = (&row[*column], *width);
            match left_aligned.contains(column) {
                true => format!("{cell:<width$}"),
                false => format!("{cell:>width$}"),
            }
        });
        text.push_str(cells.collect::<Vec<_>>().join("  ").trim_end());
        text.push('\n');
    }
    text
}

/// Formats rows as [`table`] does. If the page is too narrow, columns are left out in the order of
/// `omitted`.
pub(crate) fn table_within<const N: usize>(
    style: &Style,
    rows: &[[String; N]],
    left_aligned: &[usize],
    omitted: &[usize],
) -> String {
    let without = |columns: &[usize]| {
        let kept: Vec<usize> = (0..N).filter(|column| !columns.contains(column)).collect();
        format_columns(rows, &kept, left_aligned)
    };
    let is_narrow = |text: &String| text.lines().all(|line| line.chars().count() <= style.width);
    let mut all = (0..=omitted.len()).map(|number| without(&omitted[..number]));
    all.find(is_narrow).unwrap_or_else(|| without(omitted))
}

fn document(finding: &Finding) -> Value {
    let (unit, factor) = finding.quantity.unit();
    let [below, above] = finding.allowed_percent();
    let scatter = finding.scatter.map(|scatter| {
        json!({
            "measured": scatter.measured * factor,
            "expected": scatter.expected * factor,
            "passed": scatter.is_as_expected(),
        })
    });
    json!({
        "oracle": finding.oracle,
        "quantity": finding.quantity.name(),
        "unit": unit,
        "expected": finding.expected * factor,
        "measured": finding.measured * factor,
        "deviation_percent": finding.deviation_percent(),
        "deviation_standard_errors": finding.deviation_in_standard_errors(),
        "allowed_below_percent": below,
        "allowed_above_percent": above,
        "scatter": scatter,
        "passed": finding.passed(),
    })
}

fn mutation_document(mutation: &Mutation) -> Value {
    json!({
        "fault": mutation.fault,
        "noticed": mutation.is_noticed(),
        "noticed_by": mutation.failing().map(document).collect::<Vec<_>>(),
        "passed_without": mutation.without_fault.iter().all(Finding::passed),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use lab::selftest::{Allowed, Estimate, Quantity};
    use record::Kind;

    fn finding(measured: f64) -> Finding {
        Finding {
            oracle: "O1 M/M/1".to_owned(),
            quantity: Quantity::Time(Kind::Response, Estimate::Quantile(0.99)),
            expected: 0.0153506,
            measured,
            allowed: Allowed { below: 0.001, above: 0.001 },
            standard_error: Some(0.00025),
            scatter: None,
        }
    }

    fn tested(found: SelftestFindings) -> SelftestResult {
        SelftestResult { depth: Some(Depth::Quick), found }
    }

    #[test]
    fn selftest_table_shows_each_deviation() {
        let tested = tested(SelftestFindings::Oracles(vec![finding(0.0153), finding(0.0170)]));
        let text = tested.text(&Style::PLAIN);
        let lines: Vec<&str> = text.lines().collect();
        assert!(
            lines[1].ends_with("15.3506 ms  15.3000 ms    -0.33 %         -0.2  ±6.51 %  PASS")
        );
        assert!(lines[2].ends_with("+10.74 %         +6.6  ±6.51 %  FAIL"), "{text}");
        assert_eq!(*lines.last().unwrap(), "1 of 2 numbers passed");
        assert!(!tested.has_passed());
    }

    #[test]
    fn narrow_terminal_has_fewer_columns() {
        let tested = tested(SelftestFindings::Oracles(vec![finding(0.0153)]));
        let head = |width| {
            let text = tested.text(&Style { color: false, width });
            text.lines().next().unwrap().split_whitespace().collect::<Vec<_>>().join(" ")
        };
        assert_eq!(
            head(100),
            "oracle quantity expected measured deviation std. errors allowed result"
        );
        assert_eq!(head(80), "oracle quantity expected measured deviation allowed result");
        assert_eq!(head(40), "oracle quantity measured deviation result");
    }

    #[test]
    fn undetected_planted_fault_is_a_failure() {
        let mutation = |faulty: Vec<Finding>| Mutation {
            fault: "planted",
            without_fault: vec![finding(0.0153)],
            faulty,
        };
        let noticed = tested(SelftestFindings::Mutations(vec![mutation(vec![finding(0.017)])]));
        assert!(noticed.has_passed());
        assert!(
            noticed.text(&Style::PLAIN).contains("response p99: 17.0000 ms instead of 15.3506 ms")
        );
        let missed = tested(SelftestFindings::Mutations(vec![mutation(vec![finding(0.0153)])]));
        assert!(!missed.has_passed() && missed.text(&Style::PLAIN).contains("MISSED"));
        assert!(!tested(SelftestFindings::Oracles(Vec::new())).has_passed());
    }
}
