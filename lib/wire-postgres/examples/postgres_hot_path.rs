//! The hot path in a loop: encodes a request with one integer, and reads its reply, one row of two
//! columns. The argument is the number of requests, 1,000 by default. Under
//! `valgrind --tool=callgrind`, the difference between two runs is the cost of the additional
//! requests.

use std::hint::black_box;

use wire_postgres::{
    Completion, Format, Oid, Replies, Report, Sink, Template, TransactionStatus, Value, backend,
};

/// Counters of the contents of replies.
#[derive(Default)]
struct Count {
    rows: u64,
    errors: u64,
    answers: u64,
}

impl Sink for Count {
    fn complete(&mut self, completion: Completion<'_>) {
        self.rows += completion.rows();
    }

    fn error(&mut self, _report: Report<'_>) {
        self.errors += 1;
    }

    fn ready(&mut self, _status: TransactionStatus) {
        self.answers += 1;
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let requests: i64 = std::env::args().nth(1).unwrap_or_default().parse().unwrap_or(1_000);
    let mut template = Template::new(Format::Text);
    template.statement("s0", &[Oid::INT4])?;
    template.sync();
    let mut reply = Vec::new();
    backend::bind_complete(&mut reply);
    let fields: [Option<&[u8]>; 2] = [Some(b"42"), Some(b"a name of thirty-two characters ")];
    backend::data_row(&mut reply, fields)?;
    backend::command_complete(&mut reply, "SELECT 1")?;
    backend::ready_for_query(&mut reply, TransactionStatus::Idle);

    let (mut out, mut replies, mut count) = (Vec::new(), Replies::new(), Count::default());
    for number in 0..requests {
        out.clear();
        let values = [Value::Int(black_box(number & 0xffff))];
        template.fill(&mut out, values.iter().copied())?;
        black_box(&out);
        template.expect(&mut replies);
        replies.read(black_box(&reply), &mut count)?;
    }
    assert_eq!((count.rows, count.answers, count.errors), (requests as u64, requests as u64, 0));
    Ok(())
}
