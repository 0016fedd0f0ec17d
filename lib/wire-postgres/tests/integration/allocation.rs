//! Tests that requests and their replies are processed without allocations.

use wire_postgres::{
    Completion, Format, Oid, Replies, Report, Sink, Template, TransactionStatus, Value, backend,
};

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

    fn error(&mut self, report: Report<'_>) {
        self.errors += u64::from(report.sqlstate().is_some() && !report.message().is_empty());
    }

    fn ready(&mut self, _status: TransactionStatus) {
        self.answers += 1;
    }
}

/// Returns a reply with a row, and one with an error.
fn answers() -> Vec<u8> {
    let mut out = Vec::new();
    backend::bind_complete(&mut out);
    let row: [Option<&[u8]>; 2] = [Some(b"42"), None];
    backend::data_row(&mut out, row).expect("a short row");
    backend::command_complete(&mut out, "SELECT 1").expect("a tag");
    backend::ready_for_query(&mut out, TransactionStatus::Idle);
    backend::error_response(&mut out, [(b'C', "23505"), (b'M', "duplicate")]).expect("a report");
    backend::ready_for_query(&mut out, TransactionStatus::Idle);
    out
}

#[test]
fn requests_and_their_answers_allocate_nothing() {
    let mut template = Template::new(Format::Text);
    template.statement("s1", &[Oid::INT4, Oid::INT8]).expect("a name");
    template.sync();
    template.statement("s2", &[Oid::TEXT, Oid::NUMERIC]).expect("a name");
    template.sync();
    let answers = answers();
    let (mut out, mut replies) = (Vec::with_capacity(1_000), Replies::new());
    // This reserves space for requests that wait for their replies.
    template.expect(&mut replies);
    replies.read(&answers, &mut Count::default()).expect("an answer");
    let mut count = Count::default();
    let counted = allocation_counter::measure(|| {
        for number in 0..1_000 {
            out.clear();
            let text = if number % 3 == 0 { Value::Null } else { Value::Text("a text") };
            let values = [Value::Int(number), Value::Int(7), text, Value::Real(0.25)];
            template.fill(&mut out, values.into_iter()).expect("values that fit");
            template.expect(&mut replies);
            let used = replies.read(&answers, &mut count).expect("an answer");
            assert_eq!(used, answers.len());
        }
    });
    assert_eq!((count.rows, count.errors, count.answers), (1_000, 1_000, 2_000));
    assert_eq!(counted.count_total, 0);
}
