//! Tests that the hot path allocates nothing once the buffers have reached their size.

use wire_mysql::{
    Answers, Capabilities, ColumnDefinition, ColumnType, ErrPacket, Execute, Field, Negotiated,
    Parameter, Replies, ReplyKind, ResultEnd, Sink, StatementId, Status, WANTED,
};

#[derive(Default)]
struct Count {
    rows: u64,
    errors: u64,
}

impl Sink for Count {
    fn result(&mut self, result: ResultEnd) {
        self.rows += result.rows;
    }

    fn error(&mut self, _error: &ErrPacket<'_>) {
        self.errors += 1;
    }
}

fn answers(agreed: Negotiated) -> Vec<u8> {
    let column = ColumnDefinition {
        schema: b"test",
        table: b"t",
        original_table: b"t",
        name: b"name",
        original_name: b"name",
        collation: 45,
        display_width: 20,
        column_type: ColumnType::VAR_STRING,
        flags: 0,
        decimals: 0,
    };
    let mut bytes = Vec::new();
    let mut answers = Answers::new(&mut bytes, agreed, 1);
    answers.columns(&[column], false);
    answers.binary_row([Field::Bytes(&[b'x'; 300])]);
    answers.end_of_rows(Status::AUTOCOMMIT, 0);
    let error = ErrPacket { code: 1213, sqlstate: Some(*b"40001"), message: b"deadlock" };
    Answers::new(&mut bytes, agreed, 1).error(&error);
    bytes
}

#[test]
fn requests_and_their_replies_allocate_nothing() {
    for without in [Capabilities::default(), Capabilities::DEPRECATE_EOF] {
        let agreed = Negotiated::of(WANTED, WANTED.without(without));
        let bytes = answers(agreed);
        let mut execute = Execute::new(StatementId(1), 2);
        let mut replies = Replies::new(agreed);
        let (mut out, mut count) = (Vec::new(), Count::default());
        let mut once = |number: i64| {
            out.clear();
            let text = [Parameter::Int(number), Parameter::Text(b"a text")];
            let numbers = [Parameter::Int(number), Parameter::Double(0.5)];
            for values in [text, numbers] {
                let sequence = execute.append(&mut out, values.into_iter()).expect("two values");
                replies.expect(ReplyKind::Binary, sequence).expect("few commands");
            }
            // Whole, and in pieces that end inside a row and inside an error.
            let size = [bytes.len(), 150, 7][number as usize % 3];
            for piece in bytes.chunks(size) {
                replies.read(piece, &mut count).expect("well-formed replies");
            }
        };
        (0..10).for_each(&mut once);
        let counted = allocation_counter::measure(|| (0..1_000).for_each(&mut once));
        assert_eq!(counted.count_total, 0);
        assert_eq!((count.rows, count.errors), (1_010, 1_010));
    }
}
