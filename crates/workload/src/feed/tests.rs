//! Tests that read files in pieces of any size.

use std::io::{self, Read};

use base::{Dialect, Nanos};

use super::*;

const CSV: Format = Format::Csv { delimiter: b',' };

/// A source that returns a few bytes per read.
struct ChunkedReader<'a>(&'a [u8], usize);

impl Read for ChunkedReader<'_> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let length = self.1.min(self.0.len()).min(into.len());
        into[..length].copy_from_slice(&self.0[..length]);
        self.0 = &self.0[length..];
        Ok(length)
    }
}

/// Returns all groups of a text: fields between `|`, records between `/`, groups between spaces.
fn groups(text: &str, format: Format, per_group: usize, step: usize) -> Result<String, String> {
    let mut reader = Reader::new(ChunkedReader(text.as_bytes(), step), format, per_group);
    let mut out = Vec::new();
    let mut blocks = [Records::default(), Records::default()];
    loop {
        blocks.iter_mut().for_each(|block| block.reset(per_group));
        let of = |number: u64| (number % 2) as usize;
        let more = reader
            .fill(&mut blocks, of, |block| block.len() >= 3)
            .map_err(|fault| fault.to_string())?;
        for block in &blocks {
            for place in 0..block.len() {
                let group = block.group(place);
                let records = (0..per_group).filter_map(|k| group.record(k)).map(|record| {
                    let fields = (0..record.len()).filter_map(|field| record.field(field));
                    fields.collect::<Vec<_>>().join("|")
                });
                out.push((block.number(place), records.collect::<Vec<_>>().join("/")));
            }
        }
        if more == ReadResult::End {
            out.sort_by_key(|(number, _)| *number);
            let texts: Vec<String> = out.into_iter().map(|(_, text)| text).collect();
            return Ok(texts.join(" "));
        }
    }
}

fn check(text: &str, expected: &str) {
    for step in [1, 2, 7, 1_000] {
        assert_eq!(groups(text, CSV, 1, step).as_deref(), Ok(expected), "{text:?} by {step}");
    }
}

fn refused(text: &str, format: Format, expected: &str) {
    for step in [1, 1_000] {
        assert_eq!(groups(text, format, 1, step), Err(expected.to_owned()), "{text:?}");
    }
}

#[test]
fn records_agree_with_rfc_4180() {
    check("a,b\nc,d\n", "a|b c|d");
    check("a,b\r\nc,d", "a|b c|d");
    check("\n\na,b\n\n\r\nc,d\n\n", "a|b c|d");
    check("\"a,\"\"x\"\"\",\"b\nc\"\n1,2\r\n", "a,\"x\"|b\nc 1|2");
    check("\"a\r\nb\",\"\"\n,\n", "a\nb| |");
    check(" a , #b\n", " a | #b");
    check("\u{feff}é,ü\n", "é|ü");
    check("a,b\r", "a|b");
    check("", "");
    check("\n\r\n", "");
    check("x\n", "x");
}

#[test]
fn other_delimiter_is_literal() {
    let semicolon = Format::Csv { delimiter: b';' };
    assert_eq!(groups("a,b;c\n", semicolon, 1, 3).as_deref(), Ok("a,b|c"));
}

#[test]
fn records_are_read_in_groups() {
    assert_eq!(groups("1\n2\n3\n4\n5\n", CSV, 2, 1).as_deref(), Ok("1/2 3/4"));
    let summary = examine(&b"1,x\n2,x\n3,x\n"[..], CSV, 2, Dialect::Sqlite).unwrap();
    let expected = Summary { groups: 1, width: 2, left_over: 1, ..Summary::default() };
    assert_eq!(summary, expected);
}

#[test]
fn malformed_record_reports_its_line() {
    refused("a,b\nc\n", CSV, "line 2: it has 1 field, and the first record has 2");
    refused("a\n\n\"x\ny\"\nb,c\n", CSV, "line 5: it has 2 fields, and the first record has 1");
    refused("a\nb\"c\n", CSV, "line 2: found a `\"` in a field that does not begin with one");
    refused("\"a", CSV, "line 1: a quoted field is not closed");
    let behind = "found text between a closing `\"` and the end of its field";
    refused("\"a\"b\n", CSV, &format!("line 1: {behind}"));
    refused("x\n1,2", Format::Log, "line 1: has no comma: write `MICROSECONDS,STATEMENT`");
    let no_number = "does not begin with a whole number of microseconds and a comma";
    refused("1,a\n1.5,b\n", Format::Log, &format!("line 2: {no_number}"));
    refused("1, \n", Format::Log, "line 1: has no statement after its time");
    let use_it = "changes the database of one connection of many: remove it";
    refused("1,use x\n", Format::Log, &format!("line 1: {use_it}"));
    let begin = "line 1: begins a transaction, and each line takes any connection: remove it";
    for line in ["1,begin\n", "1,BEGIN;\n", "1, begin ;\n", "1,begin work;\n"] {
        refused(line, Format::Log, begin);
    }
    refused("1,;;\n", Format::Log, "line 1: has no statement after its time");
}

#[test]
fn invalid_utf8_is_refused() {
    let fault = examine(&b"a\n\xff\n"[..], CSV, 1, Dialect::Sqlite).unwrap_err();
    assert_eq!(fault.to_string(), "line 2: is not UTF-8");
}

/// Returns the times at which the lines of a log are due, in microseconds.
fn due(log: &str) -> Vec<u64> {
    let mut reader = Reader::new(log.as_bytes(), Format::Log, 1);
    let mut blocks = [Records::default()];
    blocks[0].reset(1);
    assert_eq!(reader.fill(&mut blocks, |_| 0, |_| false).unwrap(), ReadResult::NeedsReading);
    (0..blocks[0].len()).map(|place| blocks[0].at(place).0 / 1_000).collect()
}

#[test]
fn times_of_a_log_count_from_its_first_line() {
    assert_eq!(due("500,select 1\n509,select 2, 3\n\n1499,b\n"), [0, 9, 999]);
    assert_eq!(due("-5,a\n5,b\n"), [0, 10]);
}

/// A line out of order is due at the same time as the line above, and the lines below keep their
/// times.
#[test]
fn times_that_go_backwards_are_noticed_and_shift_nothing() {
    assert_eq!(due("100,a\n200,b\n150,c\n50,d\n300,e\n"), [0, 100, 100, 100, 200]);
    let summary = examine(&b"100,a\n200,b\n150,c\n"[..], Format::Log, 1, Dialect::Sqlite).unwrap();
    assert_eq!(summary.backwards, Some(3));
    assert_eq!(summary.length, Nanos::from_micros(100));
    let in_order = examine(&b"100,a\n100,b\n"[..], Format::Log, 1, Dialect::Sqlite).unwrap();
    assert_eq!(in_order.backwards, None);
}

/// A pipe whose writer pauses: available records are returned before the reader waits.
#[test]
fn available_records_are_returned_before_reading_more() {
    let mut reader = Reader::new(ChunkedReader(b"1\n2\n3\n", 4), CSV, 1);
    let mut blocks = [Records::default()];
    blocks[0].reset(1);
    let more = reader.fill(&mut blocks, |_| 0, |_| false).unwrap();
    assert_eq!((more, blocks[0].len()), (ReadResult::NeedsReading, 2));
}

#[test]
fn a_line_of_a_log_is_one_statement() {
    for (line, language, is_one) in [
        ("select 1;", Dialect::Sqlite, true),
        ("select 1 ; -- done; really", Dialect::Sqlite, true),
        ("select ';', \"a;b\"", Dialect::Sqlite, true),
        ("select 1; select 2", Dialect::Sqlite, false),
        ("select [a;b]", Dialect::Sqlite, true),
        ("select [a;b]", Dialect::Mysql, false),
        ("select 'it\\'s; so'", Dialect::Mysql, true),
        ("select $$a;b$$", Dialect::Postgres, true),
        ("select $$a;b$$; select 1", Dialect::Postgres, false),
    ] {
        let text = format!("1,select 0\n\n2,{line}\n");
        let found = examine(text.as_bytes(), Format::Log, 1, language);
        let why = "line 3: holds several statements: write each on a line of its own";
        let expected = if is_one { Ok(2) } else { Err(why.to_owned()) };
        let found = found.map(|summary| summary.groups).map_err(|fault| fault.to_string());
        assert_eq!(found, expected, "{line}");
    }
}

#[test]
fn a_last_record_without_a_line_end_may_be_cut_off() {
    for (text, format, expected) in [
        ("1,2\n3,4\n", CSV, (false, 0)),
        ("1,2\n3,4", CSV, (true, 0)),
        ("1\n2\n3\n", CSV, (false, 1)),
        ("1,select 1", Format::Log, (true, 0)),
        ("1,select 1\n", Format::Log, (false, 0)),
        ("", CSV, (false, 0)),
    ] {
        let per_group = if text.contains(',') { 1 } else { 2 };
        let mut reader = Reader::new(text.as_bytes(), format, per_group);
        let mut blocks = [Records::default()];
        blocks[0].reset(per_group);
        while reader.fill(&mut blocks, |_| 0, |_| false).unwrap() != ReadResult::End {
            blocks[0].reset(per_group);
        }
        assert_eq!((reader.is_cut_off(), reader.left_over()), expected, "{text:?}");
    }
}
