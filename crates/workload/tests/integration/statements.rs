//! Errors in statements, with their corrections.

use crate::check;

#[test]
fn several_statements_in_one_key_are_refused() {
    check(
        r#"
[read]
query = select 1;
"#,
        r#"
error: found a `;` in a statement
 --> mail.ini:2:17
  |
2 | query = select 1;
  |                 ^
  |
  = help: remove it: each `query` is one statement
"#,
    );
    check(
        r#"
[read]
query = select 1 ; the first
"#,
        r#"
error: found a `;` in a statement
 --> mail.ini:2:18
  |
2 | query = select 1 ; the first
  |                  ^
  |
  = help: a statement is literal to the end of its line: write a comment on a line of its own,
          and a second statement as a second `query`
"#,
    );
    check(
        r#"
[read]
query = select 1; select 2
"#,
        r#"
error: found a `;` in a statement
 --> mail.ini:2:17
  |
2 | query = select 1; select 2
  |                 ^
  |
  = help: write the second statement as a second `query`
"#,
    );
}

#[test]
fn a_statement_does_not_change_its_connection() {
    check(
        r#"
[read]
query = begin
"#,
        r#"
error: `begin` would leave its connection in a transaction
 --> mail.ini:2:9
  |
2 | query = begin
  |         ^^^^^
  |
  = help: write `transaction = yes` in the job: its statements run in one transaction
"#,
    );
    check(
        r#"
[read]
query = select 1
pipeline = yes
"#,
        r#"
error: `pipeline = yes` sends the statements of a transaction together
 --> mail.ini:3:1
  |
3 | pipeline = yes
  | ^^^^^^^^
  |
  = help: write `transaction = yes`, and no `session`; or leave `pipeline` out
"#,
    );
    check(
        r#"
[read]
query = use shop
"#,
        r#"
error: `use` would change the database of one connection of many
 --> mail.ini:2:9
  |
2 | query = use shop
  |         ^^^
  |
  = help: name the database in the target's URL
"#,
    );
}

#[test]
fn literals_and_comments_are_closed() {
    check(
        r#"
[read]
query = select 'open
"#,
        r#"
error: the literal that begins here is not closed
 --> mail.ini:2:16
  |
2 | query = select 'open
  |                ^
  |
  = help: write the missing `'`
"#,
    );
    check(
        r#"
[read]
query = select 1 /* open
"#,
        r#"
error: this comment is not closed
 --> mail.ini:2:18
  |
2 | query = select 1 /* open
  |                  ^^
  |
  = help: write the missing `*/`
"#,
    );
}

#[test]
fn constants_keep_a_statement_static() {
    check(
        r#"
[params]
t = 'a; drop table b'
[read]
query = select * from ${raw(t)}
"#,
        r#"
error: the statement is not a single statement with its constants inserted
 --> mail.ini:4:9
  |
4 | query = select * from ${raw(t)}
  |         ^^^^^^^^^^^^^^^^^^^^^^^
  |
  = help: a spliced text must close its quotes and hold no `;` and no control character
"#,
    );
    check(
        r#"
[params]
t = "a\u{1}b"
[setup]
query = insert into t values (${t})
"#,
        r#"
error: the statement is not a single statement with its constants inserted
 --> mail.ini:4:9
  |
4 | query = insert into t values (${t})
  |         ^^^^^^^^^^^^^^^^^^^^^^^^^^^
  |
  = help: a spliced text must close its quotes and hold no `;` and no control character
"#,
    );
}

#[test]
fn values_stand_outside_literals() {
    check(
        r#"
[read]
query = select '${uniform(1, 2)}'
"#,
        r#"
error: `${uniform(1, 2)}` is inside '…'
 --> mail.ini:2:17
  |
2 | query = select '${uniform(1, 2)}'
  |                 ^^^^^^^^^^^^^^^^
  |
  = help: to bind a value, remove the quotes; to splice its text, write `${raw(uniform(1, 2))}`;
          for a literal `${`, write `$${`
"#,
    );
    check(
        r#"
[read]
query = select 1 /* ${uniform(1, 2)} */
"#,
        r#"
error: `${uniform(1, 2)}` is inside a comment
 --> mail.ini:2:21
  |
2 | query = select 1 /* ${uniform(1, 2)} */
  |                     ^^^^^^^^^^^^^^^^
  |
  = help: remove it, or write `$${` for a literal `${`
"#,
    );
}

#[test]
fn raw_must_be_a_whole_expression() {
    check(
        r#"
[read]
query = select ${1 + raw(2)}
"#,
        r#"
error: `raw(…)` is inside another expression
 --> mail.ini:2:22
  |
2 | query = select ${1 + raw(2)}
  |                      ^^^
  |
  = help: it can only be the whole of a `${…}` in a statement: `${raw(table)}`
"#,
    );
    check(
        r#"
[read]
query = select ${raw()}
"#,
        r#"
error: `raw` takes one argument
 --> mail.ini:2:18
  |
2 | query = select ${raw()}
  |                  ^^^^^
  |
  = help: write `${raw(table)}`
"#,
    );
}

#[test]
fn quoted_value_in_place_of_a_name_is_a_warning() {
    check(
        r#"
[params]
t = accounts
[read]
query = select * from ${t}
"#,
        r#"
warning: expected a name after `from`, found a text value
 --> mail.ini:4:23
  |
4 | query = select * from ${t}
  |                       ^^^^
  |
  = help: to splice a name, write `${raw(t)}`
"#,
    );
}
