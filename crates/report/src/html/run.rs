//! The answer of a run as HTML.

use analyze::Component;

use super::document::{Badge, Document, Section};
use super::excerpt::{excerpt_sections, sections_of_excerpts};
use crate::figure::Figure;
use crate::page::{
    Align, CandidateRow, Cell, CheckRow, FactTable, Headline, JobSection, LimiterSection, Line,
    Page, Table, VerdictPosition,
};

/// The sections before the sections of excerpts, in their order.
const FIRST_SECTIONS: [Section; 3] = [
    Section { id: "answer", title: "Answer" },
    Section { id: "figures", title: "Figures" },
    Section { id: "numbers", title: "Numbers" },
];

/// The sections after the sections of excerpts, in their order.
const LAST_SECTIONS: [Section; 3] = [
    Section { id: "checks", title: "Checks" },
    Section { id: "environment", title: "Environment" },
    Section { id: "repeat", title: "Plan, and how to repeat it" },
];

/// First parts of the names of figures that may be next to the answer, in the order of preference.
/// At most one figure is shown for each.
const FIRST_FIGURES: [&str; 7] =
    ["throughput", "response", "percentiles", "time-parts", "queue", "loads", "cpu"];

/// Maximum number of figures next to the answer.
const MOST_FIGURES: usize = 4;

/// Formats the answer of a run as one file of HTML.
pub fn html(page: &Page, figures: &[Figure]) -> String {
    let about = &page.run.about;
    let excerpts = sections_of_excerpts(&page.excerpts);
    let sections = FIRST_SECTIONS.into_iter().chain(excerpts).chain(LAST_SECTIONS);
    let mut out = Document::new(&about.title(), &sections.collect::<Vec<_>>());
    let evidence = if page.is_limiter_shown { page.limiter.figures } else { &[] };
    let (first, others) = divide_figures(figures, evidence);
    let drawn: Vec<&Figure> = first.iter().chain(&others).copied().collect();
    out.section("answer", |out| {
        answer(out, page, &drawn);
        out.figures(first);
    });
    out.section("figures", |out| {
        out.remarks(&page.few_figures);
        out.figures(others);
    });
    out.section("numbers", |out| numbers(out, page));
    excerpt_sections(&mut out, &page.excerpts);
    out.section("checks", |out| checks(out, page));
    out.section("environment", |out| environment(out, page));
    out.section("repeat", |out| repeat(out, page));
    out.into_text(&format!("Made by assay {} from {}.", about.version, about.file()))
}

/// Returns the figures to show next to the answer, none of them empty, and all other figures, the
/// empty ones last. One of the figures next to the answer shows the evidence for the limiter, if
/// any figure does.
fn divide_figures<'f>(
    figures: &'f [Figure],
    evidence: &[&str],
) -> (Vec<&'f Figure>, Vec<&'f Figure>) {
    let place = |beginning: &&str| figures.iter().position(|figure| is_filled(figure, beginning));
    let evidence = evidence.iter().find_map(place);
    let usual: Vec<usize> = FIRST_FIGURES.iter().filter_map(place).take(MOST_FIGURES).collect();
    let first = match evidence {
        Some(shown) if !usual.contains(&shown) => {
            [&usual[..usual.len().min(MOST_FIGURES - 1)], &[shown]].concat()
        }
        Some(_) | None => usual,
    };
    let is_first = |place: &usize| first.contains(place);
    let (first, mut others): (Vec<usize>, Vec<usize>) = (0..figures.len()).partition(is_first);
    others.sort_by_key(|place| figures[*place].missing.is_some());
    let figures = |places: Vec<usize>| places.into_iter().map(|place| &figures[place]).collect();
    (figures(first), figures(others))
}

/// Returns true if the name of a figure, up to its first dot, is `beginning`, and the figure is not
/// empty.
fn is_filled(figure: &Figure, beginning: &str) -> bool {
    figure.name.split('.').next() == Some(beginning) && figure.missing.is_none()
}

fn answer(out: &mut Document, page: &Page, figures: &[&Figure]) {
    match page.verdict_position {
        VerdictPosition::First => {
            verdict(out, page);
            headline(out, &page.headline);
        }
        VerdictPosition::AfterHeadline => {
            headline(out, &page.headline);
            verdict(out, page);
        }
        VerdictPosition::Omitted => headline(out, &page.headline),
    }
    if page.is_limiter_shown {
        out.remarks(&page.limiter.remarks);
        let shown = page.limiter.figures.iter().filter_map(|beginning| {
            let mut figures = (0..).zip(figures.iter().copied());
            figures.find(|(_, figure)| is_filled(figure, beginning))
        });
        out.links_to_figures(&shown.collect::<Vec<_>>());
        out.remarks(&page.changes);
    }
    out.lines(&page.run.reviews);
}

fn headline(out: &mut Document, headline: &Headline) {
    out.remarks(&headline.ending);
    headline.first_answers().iter().for_each(|line| out.answer(&line.label, &line.text));
    out.remarks(&headline.first_remarks());
}

fn verdict(out: &mut Document, page: &Page) {
    let verdict = &page.verdict;
    out.badge(Badge { words: verdict.word, tone: verdict.tone }, &verdict.tally);
    out.lines(&page.run.measured_on);
    objections(out, &verdict.objections);
}

/// Writes the suspect or invalid checks. If there are more than two, all but the first are folded,
/// because they would push the figures below the first screen.
fn objections(out: &mut Document, lines: &[Line]) {
    let is_check = |line: &Line| !line.label.is_empty();
    let first = lines.iter().skip(1).position(is_check).map_or(lines.len(), |place| place + 1);
    let (first, others) = lines.split_at(first);
    out.lines(first);
    let names: Vec<&str> = others.iter().filter(|it| is_check(it)).map(|it| &*it.label).collect();
    match names.as_slice() {
        [] | [_] => out.lines(others),
        [..] => {
            let summary = format!("{} more checks object: {}", names.len(), names.join(", "));
            out.folded(&summary, |out| out.lines(others));
        }
    }
}

fn numbers(out: &mut Document, page: &Page) {
    out.lines(&page.run.subject);
    page.jobs.iter().for_each(|section| job(out, section));
    for section in &page.side_effect_tables {
        out.heading(&section.heading);
        out.table(&section.heading, &section.table);
        out.lines(&section.claims);
        out.remarks(&section.notes);
        out.remarks(section.legend.iter().map(|legend| &legend.note));
    }
    out.table("Loads", &page.loads.table);
    out.remarks(&page.loads.remarks);
    let mut events = Table::new([("time", Align::Right), ("event", Align::Left)]);
    for event in &page.events.events {
        events.row([event.at.into(), Cell::from(event.text.as_str())]);
    }
    out.table("Events", &events);
    out.remarks(&page.events.more);
}

fn job(out: &mut Document, job: &JobSection) {
    let name = &job.summary.name;
    out.heading(name);
    out.remarks([&job.heading]);
    out.lines(&job.outcomes);
    out.table(&format!("Times of {name}"), &job.times);
    out.remarks(&job.notes_on_times);
    out.remarks(&job.notes);
    out.table(&format!("Errors of {name}"), &job.errors);
    out.quotations(&job.error_texts);
    out.table(&format!("Statements of {name}"), &job.statements);
    out.table(&format!("Servers of {name}"), &job.servers);
    out.remarks(&job.notes_on_service);
    out.table(&format!("{name} over time"), &job.course);
}

fn checks(out: &mut Document, page: &Page) {
    let row = |check: &CheckRow| {
        let remedy = check.remedy.unwrap_or_default().to_owned();
        vec![check.name.to_owned(), check.status.name().to_owned(), check.sentence.clone(), remedy]
    };
    let rows: Vec<Vec<String>> = page.verdict.checks.iter().map(row).collect();
    let columns = [
        ("check", Align::Left),
        ("result", Align::Left),
        ("finding", Align::Left),
        ("what to do", Align::Left),
    ];
    out.paragraph(&page.verdict.tally);
    out.table_of_prose("Checks of the measurement", &Table::of_texts(&columns, &rows));
    if page.is_limiter_shown {
        limiter(out, &page.limiter);
    }
}

/// Writes the limiter next to the checks, with the other components that may limit the run.
fn limiter(out: &mut Document, limiter: &LimiterSection) {
    let row = |component: Component, because: &str, relief: Option<&str>| {
        let relief = relief.unwrap_or_default().to_owned();
        vec![component.name().to_owned(), because.to_owned(), relief]
    };
    let candidate = |it: &CandidateRow| row(it.component, &it.because, it.relief);
    let named = row(limiter.component, &limiter.because, limiter.relief);
    let others =
        limiter.ranked.iter().filter(|it| it.component != limiter.component).map(candidate);
    let rows: Vec<Vec<String>> = [named].into_iter().chain(others).collect();
    let columns =
        [("limiter", Align::Left), ("finding", Align::Left), ("what would help", Align::Left)];
    out.table_of_prose("Limiter, and other candidates", &Table::of_texts(&columns, &rows));
}

fn environment(out: &mut Document, page: &Page) {
    out.remarks(&page.environment.note);
    for FactTable { heading, table, note } in &page.environment.tables {
        out.table(heading, table);
        if let Some(note) = note {
            out.paragraph(note);
        }
    }
}

fn repeat(out: &mut Document, page: &Page) {
    let record = [page.run.record_file.clone()];
    out.lines(&[&page.run.resources[..], &record].concat());
    out.heading("Commands");
    out.preformatted(&page.run.about.command);
    out.preformatted(&page.run.commands_in_folder.join("\n"));
    out.heading("Plan");
    out.preformatted(&page.run.about.plan);
}
