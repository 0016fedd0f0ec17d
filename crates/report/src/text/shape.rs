//! The picture of a distribution: a bar for each bin.

use crate::page::{Align, Bin, Cell, Quantity, Table};
use crate::text::table::Grid;

/// Maximum width of a bar, in columns.
const WIDEST: usize = 48;

/// Draws a histogram for a page with this much room.
pub(super) fn histogram_table(bins: &[Bin], room: usize) -> Table {
    let table = draw_bins(bins, WIDEST);
    match Grid::of(&table).room_for_last(room) {
        WIDEST.. => table,
        narrow => draw_bins(bins, narrow.max(1)),
    }
}

/// Draws bins as lines of a table, with bars of at most `widest` columns.
fn draw_bins(bins: &[Bin], widest: usize) -> Table {
    let most = bins.iter().map(|bin| bin.count).max().unwrap_or(0);
    let total: u64 = bins.iter().map(|bin| bin.count).sum();
    let mut table = Table::new([
        ("response up to", Align::Right),
        ("requests", Align::Right),
        ("cumulative", Align::Right),
        ("", Align::Left),
    ])
    .with_optional_columns(["cumulative"]);
    let mut so_far = 0;
    for bin in bins {
        so_far += bin.count;
        table.row([
            Quantity::Time(bin.edge_ns).into(),
            Quantity::Count(bin.count).into(),
            Quantity::Cumulative { part: so_far, whole: total }.into(),
            Cell::Text(bar(bin.count, most, widest)),
        ]);
    }
    table
}

/// Draws a bar in eighths of a column; a count above zero is always visible.
pub(crate) fn bar(count: u64, most: u64, widest: usize) -> String {
    const EIGHTHS: [&str; 8] = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"];
    let length = (u128::from(count) * (8 * widest as u128) / u128::from(most.max(1))) as usize;
    let length = length.max(usize::from(count > 0));
    "█".repeat(length / 8) + EIGHTHS[length % 8]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bars_are_proportional_and_small_counts_stay_visible() {
        assert_eq!(bar(100, 100, WIDEST), "█".repeat(48));
        assert_eq!(bar(1, 1_000_000, WIDEST), "▏");
        assert_eq!(bar(0, 100, WIDEST), "");
        assert_eq!(bar(9, 384, WIDEST), "█▏");
        assert_eq!(bar(50, 100, 20), "█".repeat(10));
    }

    #[test]
    fn bars_of_a_narrow_page_keep_their_proportions() {
        let bins = [(1_000_000.0, 100), (1_120_000.0, 0), (2_000_000.0, 50)];
        let bins = bins.map(|(edge_ns, count)| Bin { edge_ns, count });
        for (room, longest) in [(98, 48), (58, 20), (48, 22)] {
            let table = Grid::of(&histogram_table(&bins, room)).narrowed(room);
            let lines = table.lay_out(room);
            let bars = lines.iter().map(|(_, line)| line.matches('█').count());
            let bars: Vec<usize> = bars.filter(|bar| *bar > 0).collect();
            assert_eq!(bars, [longest, longest / 2], "{room}");
        }
    }
}
