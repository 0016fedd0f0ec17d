//! The sections below the answer: jobs, side effects, loads, events, and facts about the run.

use crate::page::{
    EventsSection, ExcerptSection, ExcerptTable, JobSection, Line, LoadsSection, Remark,
    RunSection, SideEffectSection, Tone,
};
use crate::text::canvas::Canvas;
use crate::text::layout::columns;
use crate::text::shape;

/// Writes a job.
pub(super) fn write_job(canvas: &mut Canvas, job: &JobSection) {
    canvas.gap();
    canvas.remark(&job.heading);
    canvas.lines(2, &job.outcomes);
    if !job.times.is_empty() {
        canvas.part(&job.times);
        canvas.remarks(&job.notes_on_times);
    }
    canvas.remarks(&job.notes);
    canvas.part(&job.errors);
    // The texts of errors follow the table and are not shortened.
    canvas.lines(2, &job.error_texts);
    canvas.part(&job.statements);
    canvas.part(&job.servers);
    canvas.remarks(&job.notes_on_service);
    canvas.part(&job.course);
    let picture = shape::histogram_table(&job.histogram, canvas.room());
    canvas.part(&picture);
}

/// Writes the side effects on one job.
pub(super) fn write_side_effects(canvas: &mut Canvas, section: &SideEffectSection) {
    canvas.gap();
    canvas.heading(&section.heading);
    canvas.table(&section.table);
    canvas.lines(2, &section.claims);
    canvas.remarks(&section.notes);
    if let Some(legend) = &section.legend
        && canvas.shows(&section.table, legend.column)
    {
        canvas.remark(&legend.note);
    }
}

/// Writes the tables that were filled.
pub(super) fn write_loads(canvas: &mut Canvas, section: &LoadsSection) {
    if !section.table.is_empty() {
        canvas.gap();
        canvas.heading("Loads");
        canvas.table(&section.table);
        canvas.remarks(&section.remarks);
    }
}

/// Writes the statements with examples, and the loaded tables.
pub(super) fn write_excerpts(canvas: &mut Canvas, section: &ExcerptSection) {
    let write = |canvas: &mut Canvas, table: &ExcerptTable| {
        canvas.gap();
        canvas.sentence(Tone::Strong, &table.heading(), "");
        canvas.lines(2, &table.lines());
    };
    section.statements.iter().for_each(|table| write(canvas, table));
    canvas.remarks(section.note.map(Remark::note).iter());
    section.data.iter().for_each(|table| write(canvas, table));
}

/// Writes the events of the run.
pub(super) fn write_events(canvas: &mut Canvas, section: &EventsSection) {
    if section.events.is_empty() {
        return;
    }
    canvas.gap();
    canvas.heading("Events");
    let times: Vec<String> = section.events.iter().map(|event| event.at.to_string()).collect();
    let widest = times.iter().map(|at| columns(at)).max().unwrap_or(0);
    let lines = section.events.iter().zip(&times).map(|(event, at)| {
        // Not shortened: the helpful part may be at the end of a text.
        Line::new(" ".repeat(widest - columns(at)) + at, event.text.as_str())
    });
    canvas.lines(2, &lines.collect::<Vec<_>>());
    canvas.remarks(&section.more);
}

/// Writes the workload, the targets and the measured period.
pub(super) fn write_subject(canvas: &mut Canvas, run: &RunSection) {
    canvas.gap();
    canvas.lines(0, &run.subject);
}

/// Writes the resources of the run, its record, the notes of reviewers, and the commands that show
/// more of the record.
pub(super) fn write_resources(canvas: &mut Canvas, run: &RunSection) {
    canvas.gap();
    let record = [run.record.clone()];
    canvas.lines(0, &[&run.resources[..], &record].concat());
    canvas.gap();
    if !run.reviews.is_empty() {
        canvas.lines(0, &run.reviews);
        canvas.gap();
    }
    run.commands.iter().for_each(|command| canvas.unwrapped(2, command));
}
