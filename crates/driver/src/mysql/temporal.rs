//! Formatting of the binary protocol's dates and times, as the server would send them as text
//! (protocol manual, "Binary Protocol Value").

use std::fmt::Write as _;

use wire_mysql::ColumnType;

/// Maximum number of digits after the decimal point.
const MOST_DIGITS: u8 = 6;

/// Writes the date or time in `bytes`, with `decimals` digits after the decimal point.
pub(super) fn write(column: ColumnType, decimals: u8, bytes: &[u8], out: &mut String) {
    match column {
        ColumnType::TIME => write_time(decimals, bytes, out),
        ColumnType::DATE => write_date(bytes, out),
        _ => {
            write_date(bytes, out);
            out.push(' ');
            let clock = [4, 5, 6].map(|at| number(bytes, at));
            write_clock(clock, decimals, micros(bytes, 7), out);
        }
    }
}

/// Returns a byte; omitted bytes are 0.
fn number(bytes: &[u8], at: usize) -> u32 {
    bytes.get(at).copied().unwrap_or(0).into()
}

fn micros(bytes: &[u8], at: usize) -> u32 {
    let rest = bytes.get(at..).and_then(<[u8]>::first_chunk);
    rest.map_or(0, |micros| u32::from_le_bytes(*micros))
}

// Writing into a String cannot fail.
fn write_date(bytes: &[u8], out: &mut String) {
    let year = number(bytes, 0) | number(bytes, 1) << 8;
    let (month, day) = (number(bytes, 2), number(bytes, 3));
    let _ = write!(out, "{year:04}-{month:02}-{day:02}");
}

fn write_time(decimals: u8, bytes: &[u8], out: &mut String) {
    if number(bytes, 0) != 0 {
        out.push('-');
    }
    let days = micros(bytes, 1);
    let [hours, minutes, seconds] = [5, 6, 7].map(|at| number(bytes, at));
    let hours = days.saturating_mul(24).saturating_add(hours);
    write_clock([hours, minutes, seconds], decimals, micros(bytes, 8), out);
}

fn write_clock([hours, minutes, seconds]: [u32; 3], decimals: u8, micros: u32, out: &mut String) {
    let _ = write!(out, "{hours:02}:{minutes:02}:{seconds:02}");
    // A column without a fixed number of digits reports 31.
    let digits = match decimals {
        0..=MOST_DIGITS => usize::from(decimals),
        _ if micros == 0 => 0,
        _ => usize::from(MOST_DIGITS),
    };
    if digits > 0 {
        let _ = write!(out, ".{micros:06}");
        out.truncate(out.len() - (usize::from(MOST_DIGITS) - digits));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(column: ColumnType, decimals: u8, bytes: &[u8], expected: &str) {
        let mut out = String::new();
        write(column, decimals, bytes, &mut out);
        assert_eq!(out, expected);
    }

    #[test]
    fn dates_and_times_look_as_the_server_writes_them() {
        use ColumnType as Is;
        check(Is::DATE, 0, &[0xEA, 0x07, 2, 9], "2026-02-09");
        check(Is::DATE, 0, &[], "0000-00-00");
        check(Is::DATETIME, 0, &[0xEA, 0x07, 2, 9], "2026-02-09 00:00:00");
        check(Is::DATETIME, 0, &[0xEA, 0x07, 2, 9, 23, 5, 1], "2026-02-09 23:05:01");
        let long = [0xEA, 0x07, 2, 9, 23, 5, 1, 0x40, 0xE2, 0x01, 0];
        check(Is::TIMESTAMP, 6, &long, "2026-02-09 23:05:01.123456");
        check(Is::TIMESTAMP, 3, &long, "2026-02-09 23:05:01.123");
        check(Is::TIMESTAMP, 31, &long, "2026-02-09 23:05:01.123456");
        check(Is::DATETIME, 2, &long[..7], "2026-02-09 23:05:01.00");
        check(Is::TIME, 0, &[], "00:00:00");
        check(Is::TIME, 0, &[1, 34, 0, 0, 0, 22, 59, 59], "-838:59:59");
        check(Is::TIME, 1, &[0, 0, 0, 0, 0, 1, 2, 3, 0x20, 0xA1, 0x07, 0], "01:02:03.5");
    }
}
