//! A template gives the same messages as the encoders.

use proptest::prelude::*;
use wire_postgres::frontend::{self, Bind, Message};
use wire_postgres::{Format, Oid, Template, Value, ValueError, ValueErrorKind};

/// Decodes some bytes, which must contain only complete messages.
fn messages(mut bytes: &[u8]) -> Vec<Message<'_>> {
    let mut messages = Vec::new();
    while let Some((message, used)) = Message::decode(bytes).expect("well made") {
        messages.push(message);
        bytes = &bytes[used..];
    }
    assert!(bytes.is_empty(), "bytes after the last message");
    messages
}

fn fill(template: &Template, values: &[Value<'_>]) -> Vec<u8> {
    let mut out = b"before".to_vec();
    template.fill(&mut out, values.iter().copied()).expect("well made");
    out.split_off(6)
}

/// Creates a request of one statement.
fn one(types: &[Oid]) -> Template {
    let mut template = Template::new(Format::Text);
    template.statement("s1", types).expect("well made");
    template.sync();
    template
}

/// Returns the formats and values of the first message.
fn bound<'a>(messages: &[Message<'a>]) -> (Vec<Format>, Vec<Option<&'a [u8]>>) {
    let Some(Message::Bind(Bind { formats, values, .. })) = messages.first() else {
        panic!("a Bind, not {messages:?}");
    };
    (formats.iter().collect(), values.iter().collect())
}

#[test]
fn integers_are_patched_in_place() {
    let template = one(&[Oid::INT4, Oid::INT8]);
    let bytes = fill(&template, &[Value::Int(7), Value::Int(-1)]);
    let messages = messages(&bytes);
    let values = vec![Some(&[0, 0, 0, 7][..]), Some(&[0xff; 8][..])];
    assert_eq!(bound(&messages), (vec![Format::Binary; 2], values));
    let rest = [Message::Execute { portal: b"", rows: 0 }, Message::Sync];
    assert_eq!(&messages[1..], &rest);
    assert_eq!((template.values(), template.answers()), (2, 1));
}

#[test]
fn text_and_binary_values_mix() {
    let template = one(&[Oid::INT4, Oid::TEXT, Oid::NUMERIC]);
    let bytes = fill(&template, &[Value::Int(7), Value::Text("so long"), Value::Real(2.5)]);
    let formats = vec![Format::Binary, Format::Text, Format::Text];
    let values = vec![Some(&[0, 0, 0, 7][..]), Some(b"so long"), Some(b"2.5")];
    assert_eq!(bound(&messages(&bytes)), (formats, values));
}

#[test]
fn null_and_text_values_change_the_message_length() {
    let template = one(&[Oid::INT4, Oid::TIMESTAMP]);
    let bytes = fill(&template, &[Value::Null, Value::Text("now")]);
    let formats = vec![Format::Binary, Format::Text];
    assert_eq!(bound(&messages(&bytes)), (formats, vec![None, Some(&b"now"[..])]));
    let bytes = fill(&template, &[Value::Int(1), Value::Text("2000-01-01")]);
    let values = vec![Some(&[0, 0, 0, 1][..]), Some(&[0; 8][..])];
    assert_eq!(bound(&messages(&bytes)), (vec![Format::Binary; 2], values));
}

/// Creates a transaction in one send, with a Sync after each statement or only at the end.
fn transaction(syncs_each: bool) -> Template {
    let mut template = Template::new(Format::Binary);
    let statements: [(&str, &[Oid]); 4] = [
        ("begin", &[]),
        ("s1", &[Oid::INT8, Oid::VARCHAR]),
        ("s2", &[Oid::FLOAT8]),
        ("commit", &[]),
    ];
    for (number, (name, types)) in statements.into_iter().enumerate() {
        template.statement(name, types).expect("well made");
        if syncs_each || number == 3 {
            template.sync();
        }
    }
    template
}

#[test]
fn transaction_is_sent_at_once_with_one_sync_or_one_per_statement() {
    let values = [Value::Int(1), Value::Text("x"), Value::Real(0.5)];
    for (each, syncs) in [(false, 1), (true, 4)] {
        let template = transaction(each);
        let bytes = fill(&template, &values);
        let messages = messages(&bytes);
        let names: Vec<&[u8]> = messages
            .iter()
            .filter_map(|message| match message {
                Message::Bind(bind) => Some(bind.statement),
                _ => None,
            })
            .collect();
        assert_eq!(names, [&b"begin"[..], b"s1", b"s2", b"commit"]);
        let found = messages.iter().filter(|message| **message == Message::Sync).count();
        assert_eq!((found, template.answers()), (syncs, syncs));
    }
}

#[test]
fn statements_as_text_need_no_preparation() {
    let mut template = Template::new(Format::Text);
    template.text("select $1", &[Oid::INT4]).expect("well made");
    template.query("select 2").expect("well made");
    let bytes = fill(&template, &[Value::Int(5)]);
    let messages = messages(&bytes);
    assert!(matches!(messages[0], Message::Parse(parse) if parse.text == b"select $1"));
    assert_eq!(bound(&messages[1..]).1, vec![Some(&[0, 0, 0, 5][..])]);
    assert_eq!(messages[3], Message::Query(b"select 2"));
    assert_eq!(template.answers(), 1);
}

#[test]
fn value_that_does_not_fit_is_an_error_and_appends_nothing() {
    let check = |types: &[Oid], values: &[Value<'_>], parameter: usize, kind: ValueErrorKind| {
        let mut out = b"before".to_vec();
        let error = one(types).fill(&mut out, values.iter().copied());
        assert_eq!(error, Err(ValueError { parameter, kind }), "{values:?}");
        assert_eq!(out, b"before");
    };
    use ValueErrorKind::{Missing, NotOfType, OutOfRange, Surplus};
    use wire_postgres::ParameterType::{Int2, Int4};
    let int = Value::Int(1);
    check(&[Oid::INT4, Oid::INT4], &[int, Value::Text("x")], 1, NotOfType(Int4));
    check(&[Oid::TEXT, Oid::INT2], &[int, Value::Int(1 << 20)], 1, OutOfRange(Int2));
    for types in [[Oid::INT4, Oid::INT4], [Oid::INT4, Oid::TEXT]] {
        check(&types, &[int], 1, Missing);
        check(&types, &[int, int, int], 2, Surplus);
        check(&types, &[Value::Null, int, int], 2, Surplus);
    }
    let error = Template::new(Format::Text).statement("a\0b", &[]).unwrap_err();
    assert_eq!(error.context, "Bind, statement name");
}

#[test]
fn a_failed_statement_leaves_a_template_as_it_was() {
    let mut template = one(&[Oid::TEXT]);
    assert!(template.statement("s", &vec![Oid::INT4; 65_536]).is_err());
    let bytes = fill(&template, &[Value::Text("x")]);
    assert_eq!((messages(&bytes).len(), template.values()), (3, 1));
}

#[derive(Clone, Debug)]
enum Given {
    Null,
    Int(i32),
    Text(String),
}

impl Given {
    fn value(&self) -> Value<'_> {
        match self {
            Given::Null => Value::Null,
            Given::Int(int) => Value::Int(i64::from(*int)),
            Given::Text(text) => Value::Text(text),
        }
    }

    /// Returns the encoded value for a parameter of that type.
    fn bytes(&self, oid: Oid) -> Option<Vec<u8>> {
        match self {
            Given::Null => None,
            Given::Int(int) if oid == Oid::INT4 => Some(int.to_be_bytes().to_vec()),
            Given::Int(int) => Some(int.to_string().into_bytes()),
            Given::Text(text) => Some(text.clone().into_bytes()),
        }
    }
}

/// Generates a value and the type of its parameter.
fn parameter() -> impl Strategy<Value = (Oid, Given)> {
    prop_oneof![
        any::<i32>().prop_map(|int| (Oid::INT4, Given::Int(int))),
        any::<i32>().prop_map(|int| (Oid::TEXT, Given::Int(int))),
        ".{0,20}".prop_map(|text| (Oid::VARCHAR, Given::Text(text))),
        Just((Oid::INT4, Given::Null)),
        Just((Oid::TEXT, Given::Null)),
    ]
}

proptest! {
    #[test]
    fn filled_template_equals_the_encoded_messages(
        statements in prop::collection::vec(prop::collection::vec(parameter(), 0..5), 0..5)
    ) {
        let (mut template, mut expected) = (Template::new(Format::Binary), Vec::new());
        for statement in &statements {
            let types: Vec<Oid> = statement.iter().map(|(oid, _)| *oid).collect();
            template.statement("name", &types).expect("well made");
            let format = |oid: &Oid| match *oid {
                Oid::INT4 => Format::Binary,
                _ => Format::Text,
            };
            let formats: Vec<Format> = types.iter().map(format).collect();
            let values: Vec<Option<Vec<u8>>> =
                statement.iter().map(|(oid, given)| given.bytes(*oid)).collect();
            let values = values.iter().map(|bytes| bytes.as_deref());
            frontend::bind(&mut expected, "", "name", formats, values, [Format::Binary])
                .expect("well made");
            frontend::execute(&mut expected, "", 0).expect("well made");
        }
        template.sync();
        frontend::sync(&mut expected);
        let values: Vec<Value<'_>> =
            statements.iter().flatten().map(|(_, given)| given.value()).collect();
        prop_assert_eq!(fill(&template, &values), expected);
    }
}
