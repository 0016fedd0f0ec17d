//! Parts of the guide that are generated from tables in the code.

use std::path::Path;

use record::metric::GROUPS;
use record::statistic::VIEWS;

/// The reference of the workload language.
const REFERENCE: &str = "docs/reference.md";

/// The page with the lists of metrics and of statistics, each of which lies between two marks.
const RECORD: &str = "docs/record.md";
const METRICS_BEGIN: &str = "<!-- metrics: written by `cargo run -p xtask -- docs` -->\n";
const METRICS_END: &str = "<!-- end of metrics -->\n";
const STATISTICS_BEGIN: &str = "<!-- statistics: written by `cargo run -p xtask -- docs` -->\n";
const STATISTICS_END: &str = "<!-- end of statistics -->\n";

/// Writes the generated parts.
pub(crate) fn write(root: &Path) -> Result<String, Vec<String>> {
    for (page, made) in pages(root)? {
        std::fs::write(root.join(page), made).map_err(|error| vec![format!("{page}: {error}")])?;
    }
    Ok(format!("{REFERENCE} and {RECORD} are written"))
}

/// Returns a complaint for each page that differs from the tables.
pub(crate) fn check(root: &Path) -> Vec<String> {
    let pages = match pages(root) {
        Ok(pages) => pages,
        Err(complaints) => return complaints,
    };
    let stale = pages.into_iter().filter_map(|(page, made)| {
        let text = std::fs::read_to_string(root.join(page)).unwrap_or_default();
        compare(page, &text, &made)
    });
    stale.collect()
}

/// Returns the up-to-date text of each page with generated parts.
fn pages(root: &Path) -> Result<[(&'static str, String); 2], Vec<String>> {
    let record = std::fs::read_to_string(root.join(RECORD))
        .map_err(|error| vec![format!("{RECORD}: {error}")])?;
    let record = with_metrics(&record).ok_or_else(|| {
        vec![format!("{RECORD}: the marks around the lists of metrics and statistics are missing")]
    })?;
    Ok([(REFERENCE, workload::reference::markdown()), (RECORD, record)])
}

/// Returns a page with the lists of metrics and statistics between their marks; `None` if a mark is
/// missing.
fn with_metrics(page: &str) -> Option<String> {
    let page = between(page, [METRICS_BEGIN, METRICS_END], &metrics())?;
    between(&page, [STATISTICS_BEGIN, STATISTICS_END], &statistics())
}

/// Returns a page with a text between two marks; `None` if a mark is missing.
fn between(page: &str, [begin, end]: [&str; 2], text: &str) -> Option<String> {
    let (before, rest) = page.split_once(begin)?;
    let (_, after) = rest.split_once(end)?;
    Some(format!("{before}{begin}{text}{end}{after}"))
}

/// Returns the metrics of all components as a table.
fn metrics() -> String {
    let mut table = String::from(
        "\n| component | metric | unit | kind | value |\n| --- | --- | --- | --- | --- |\n",
    );
    for group in GROUPS {
        for metric in group.metrics {
            let (name, unit, kind) = (metric.name, pad(metric.unit), metric.kind.name());
            let (components, meaning) = (group.components, metric.meaning);
            table += &format!("| {components} | `{name}` | {unit}| {kind} | {meaning} |\n");
        }
    }
    table + "\n"
}

/// Returns, as a table, the statistics that checks or limiters use.
fn statistics() -> String {
    let mut table =
        String::from("\n| metric of `statistics` | unit | value |\n| --- | --- | --- |\n");
    for statistic in VIEWS.iter().flat_map(|view| view.statistics) {
        let (name, unit) = (statistic.name, pad(statistic.unit));
        table += &format!("| `{name}` | {unit}| {} |\n", statistic.meaning);
    }
    table + "\n"
}

/// Returns a unit as the content of a cell.
fn pad(unit: &str) -> String {
    if unit.is_empty() { String::new() } else { format!("{unit} ") }
}

fn compare(page: &str, text: &str, made: &str) -> Option<String> {
    let stale = text != made;
    stale.then(|| format!("{page} is out of date: run `cargo run -p xtask -- docs`"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stale_page_is_noticed() {
        assert_eq!(compare("a.md", "a", "a"), None);
        let complaint = "a.md is out of date: run `cargo run -p xtask -- docs`";
        assert_eq!(compare("a.md", "a", "b").as_deref(), Some(complaint));
    }

    #[test]
    fn list_of_metrics_replaces_what_is_between_its_marks() {
        let page = format!(
            "a\n{METRICS_BEGIN}???\n{METRICS_END}b\n{STATISTICS_BEGIN}???\n{STATISTICS_END}c\n"
        );
        let made = with_metrics(&page).unwrap();
        assert!(made.starts_with("a\n") && made.ends_with("c\n") && !made.contains("???"));
        assert!(made.contains("| `host` | `run-queue` | tasks | gauge |"), "{made}");
        assert!(made.contains("| `status.innodb_row_lock_time` | ms |"), "{made}");
        assert_eq!(with_metrics(&made).as_deref(), Some(made.as_str()));
        assert_eq!(with_metrics("a\nb\n"), None);
    }
}
