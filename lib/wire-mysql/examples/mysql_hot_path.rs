//! The hot path in a loop: a statement with one number, answered with one row of two columns.
//!
//! `valgrind --tool=callgrind target/release/examples/mysql_hot_path cached 100000` counts
//! instructions. The second argument is the number of requests; the difference between two runs
//! with different numbers is the cost of the additional requests. The first argument selects the
//! negotiated capabilities: `cached` (no EOF packets and no column definitions), `new` (column
//! definitions, no EOF packets) or `old` (column definitions and EOF packets).

use std::hint::black_box;
use std::process::ExitCode;

use wire_mysql::{
    Answers, Capabilities, ColumnDefinition, ColumnType, ErrPacket, Execute, Field, Negotiated,
    Parameter, Replies, ReplyKind, ResultEnd, Sink, StatementId, Status, WANTED, WireError,
};

/// The counters of a load generator.
#[derive(Default)]
struct Count {
    rows: u64,
    affected_rows: u64,
    errors: u64,
}

impl Sink for Count {
    #[inline]
    fn result(&mut self, result: ResultEnd) {
        self.rows += result.rows;
        self.affected_rows += result.affected_rows;
    }

    fn error(&mut self, _error: &ErrPacket<'_>) {
        self.errors += 1;
    }
}

fn main() -> ExitCode {
    let mut arguments = std::env::args().skip(1);
    let setting = arguments.next().unwrap_or_default();
    let times = arguments.next().and_then(|times| times.parse().ok());
    let without = match setting.as_str() {
        "cached" => Capabilities::default(),
        "new" => Capabilities::CACHE_METADATA,
        "old" => Capabilities::CACHE_METADATA | Capabilities::DEPRECATE_EOF,
        _ => return ExitCode::FAILURE,
    };
    let Some(times) = times else { return ExitCode::FAILURE };
    match run(Negotiated::of(WANTED, WANTED.without(without)), times) {
        Ok(count) if count.rows == times && count.errors == 0 => ExitCode::SUCCESS,
        Ok(_) | Err(_) => ExitCode::FAILURE,
    }
}

fn run(agreed: Negotiated, times: u64) -> Result<Count, WireError> {
    let answer = answer(agreed);
    let mut execute = Execute::new(StatementId(1), 1);
    let mut replies = Replies::new(agreed);
    let (mut out, mut count) = (Vec::new(), Count::default());
    for number in 0..times {
        out.clear();
        let value = Parameter::Int(black_box(number as i64));
        let sequence = execute.append(&mut out, [value].into_iter())?;
        replies.expect(ReplyKind::Binary, sequence)?;
        black_box(&out);
        replies.read(black_box(&answer), &mut count)?;
    }
    Ok(count)
}

fn answer(agreed: Negotiated) -> Vec<u8> {
    let column = |name: &'static str, column_type| ColumnDefinition {
        schema: b"test",
        table: b"accounts",
        original_table: b"accounts",
        name: name.as_bytes(),
        original_name: name.as_bytes(),
        collation: 63,
        display_width: 20,
        column_type,
        flags: 0,
        decimals: 0,
    };
    let columns = [column("id", ColumnType::LONGLONG), column("owner", ColumnType::VAR_STRING)];
    let mut bytes = Vec::new();
    let mut answers = Answers::new(&mut bytes, agreed, 1);
    answers.columns(&columns, true);
    answers.binary_row([Field::Int(1), Field::Bytes(b"somebody")]);
    answers.end_of_rows(Status::AUTOCOMMIT, 0);
    bytes
}
