//! The tables that were filled before the jobs began.

use base::units::grouped;

use crate::number::{NONE, bytes, rate_or_none, time};
use crate::text::page::Page;
use crate::text::table::{Align, Table};
use crate::view::{View, client_cpu};

/// Writes a line for each table.
pub(super) fn write(page: &mut Page, view: &View) {
    let mut table = Table::new([
        ("table", Align::Left),
        ("rows", Align::Right),
        ("time", Align::Right),
        ("rows/s", Align::Right),
        ("last 5 %", Align::Right),
        ("bytes", Align::Right),
        ("client CPU", Align::Right),
    ]);
    for load in &view.summary.loads {
        let cpu = client_cpu(load).map(|cpu| time(cpu.0 as f64));
        table.row([
            load.table.clone(),
            grouped(load.rows),
            time(load.took.0 as f64),
            rate_or_none(load.rows_per_s),
            rate_or_none(load.exit_rows_per_s),
            bytes(load.bytes),
            cpu.unwrap_or_else(|| NONE.to_owned()),
        ]);
    }
    if !table.is_empty() {
        page.gap();
        page.heading("Loads");
        page.table(&table);
    }
}
