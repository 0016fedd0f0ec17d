//! Errors in the lines of a file, with their corrections.

use crate::check;

#[test]
fn malformed_line_explains_continuation() {
    check(
        r#"
[read]
query = select a
  from t
"#,
        r#"
error: expected a section, a comment or `key = value`, found `from t`
 --> mail.ini:3:3
  |
3 |   from t
  |   ^^^^^^
  |
  = help: if it belongs to the value above, end that line with `\`
"#,
    );
    check(
        r#"
hello
"#,
        r#"
error: expected a section, a comment or `key = value`, found `hello`
 --> mail.ini:1:1
  |
1 | hello
  | ^^^^^
  |
  = help: if it belongs to the value above, end that line with `\`
"#,
    );
}

#[test]
fn headers_are_closed_and_named() {
    check(
        r#"
[read
query = select 1
"#,
        r#"
error: the section's `[` is not closed
 --> mail.ini:1:1
  |
1 | [read
  | ^
  |
  = help: write `[name]`
"#,
    );
    check(
        r#"
[]
query = select 1
"#,
        r#"
error: the section has no name
 --> mail.ini:1:1
  |
1 | []
  | ^^
  |
  = help: write `[name]`
"#,
    );
}

#[test]
fn headers_are_alone_on_their_line() {
    check(
        r#"
[read] rate = 5
query = select 1
"#,
        r#"
error: found `rate = 5` after the section's header
 --> mail.ini:1:8
  |
1 | [read] rate = 5
  |        ^^^^^^^^
  |
  = help: write the first key on a line of its own, and a comment after white space and a `;`
"#,
    );
    check(
        r#"
[read];comment
query = select 1
"#,
        r#"
error: found `;comment` after the section's header
 --> mail.ini:1:7
  |
1 | [read];comment
  |       ^^^^^^^^
  |
  = help: write the first key on a line of its own, and a comment after white space and a `;`
"#,
    );
    check(
        r#"
[read] ; comment
query = select 1
"#,
        "",
    );
}

#[test]
fn keys_have_a_name_and_a_value() {
    check(
        r#"
[read]
= 5
query = select 1
"#,
        r#"
error: there is no key before the `=`
 --> mail.ini:2:1
  |
2 | = 5
  | ^
  |
  = help: write `key = value`
"#,
    );
    check(
        r#"
[read]
query = select 1
rate =
"#,
        r#"
error: `rate` has no value
 --> mail.ini:3:1
  |
3 | rate =
  | ^^^^^^
  |
  = help: write for example `rate = 3000`
"#,
    );
    check(
        r#"
[read]
query =
"#,
        r#"
error: the statement is empty
 --> mail.ini:2:8
  |
2 | query =
  |        ^
  |
  = help: write `query = select 1`
"#,
    );
}

#[test]
fn variables_and_parameters_have_a_value() {
    check(
        r#"
[read]
query = select 1
let =
"#,
        r#"
error: `let` has no value
 --> mail.ini:3:1
  |
3 | let =
  | ^^^^^
  |
  = help: write `let = NAME: EXPRESSION`
"#,
    );
    check(
        r#"
[params]
n =
[read]
query = select 1
"#,
        r#"
error: the parameter `n` has no value
 --> mail.ini:2:4
  |
2 | n =
  |    ^
  |
  = help: write a number, a duration or a text; an empty text is `''`
"#,
    );
}

#[test]
fn continuations_need_a_next_line() {
    check(
        "[read]\nquery = select 1 \\",
        r#"
error: the `\` continues the line, but the file ends here
 --> mail.ini:2:18
  |
2 | query = select 1 \
  |                  ^
  |
  = help: remove the `\`, or write the rest of the value on the next line
"#,
    );
    check(
        "[read]\nquery = select a, \\ \n  b from t\n",
        r#"
error: white space follows this `\`, so it does not continue the line
 --> mail.ini:2:19
  |
2 | query = select a, \ 
  |                   ^
  |
  = help: remove the white space at the end of the line

error: expected a section, a comment or `key = value`, found `b from t`
 --> mail.ini:3:3
  |
3 |   b from t
  |   ^^^^^^^^
  |
  = help: if it belongs to the value above, end that line with `\`
"#,
    );
}

#[test]
fn comments_inside_continued_values_are_refused() {
    check(
        r#"
[read]
query = select a, \
# the other
  b from t
"#,
        r#"
error: found a comment line inside a value that `\` continues
 --> mail.ini:3:1
  |
3 | # the other
  | ^^^^^^^^^^^
  |
  = help: move the comment above the key
"#,
    );
    check(
        r#"
[read]
query = select 1
let = a: 1, ; first \
  b: 2
"#,
        r#"
error: an item is missing next to a comma
 --> mail.ini:3:7
  |
3 | let = a: 1, ; first \
  |       ^^^^^
  |
  = help: remove the comma, or write what is missing

error: this comment swallows the lines that `\` joins to it
 --> mail.ini:3:13
  |
3 | let = a: 1, ; first \
  |             ^
  |
  = help: move the comment above the key
"#,
    );
    check(
        r#"
[read]
query = select a -- first \
  , b from t
"#,
        r#"
warning: this `--` comments out all that `\` joins to the line
 --> mail.ini:2:18
  |
2 | query = select a -- first \
  |                  ^^
  |
  = help: write `/* … */`, or move the comment to the end of the statement
"#,
    );
}

#[test]
fn invisible_characters_are_named() {
    check(
        "[read]\nquery = select \u{1} 1\n",
        r#"
error: found the control character U+0001 in the file
 --> mail.ini:2:16
  |
2 | query = select ␁ 1
  |                ^
  |
  = help: remove it; if there are many, this is probably not a text file
"#,
    );
    check(
        "[read]\rquery = select 1\r",
        r#"
error: the section [read] has no `query`, so it is not a job
 --> mail.ini:1:1
  |
1 | [read]␍query = select 1
  | ^^^^^^
  |
  = help: give it a statement: `query = select …`

error: found a carriage return without a line feed
 --> mail.ini:1:7
  |
1 | [read]␍query = select 1
  |       ^
  |
  = help: save the file with LF or CRLF line ends

error: found `query = select 1` after the section's header
 --> mail.ini:1:8
  |
1 | [read]␍query = select 1
  |        ^^^^^^^^^^^^^^^^
  |
  = help: write the first key on a line of its own, and a comment after white space and a `;`
"#,
    );
}

#[test]
fn sections_are_unique() {
    check(
        r#"
[read]
query = select 1
[read]
query = select 2
"#,
        r#"
error: the section [read] occurs twice; the first is in line 1
 --> mail.ini:3:1
  |
3 | [read]
  | ^^^^^^
  |
  = help: give it another name, or move its keys to the first
"#,
    );
    check(
        r#"
[setup]
query = select 1
[setup]
query = select 2
[read]
query = select 1
"#,
        r#"
error: the section [setup] occurs twice; the first is in line 1
 --> mail.ini:3:1
  |
3 | [setup]
  | ^^^^^^^
  |
  = help: give it another name, or move its keys to the first
"#,
    );
    check(
        r#"
[load t]
rows = 1
columns = a: 1
[load  t]
rows = 2
"#,
        r#"
error: the section [load t] occurs twice; the first is in line 1
 --> mail.ini:4:1
  |
4 | [load  t]
  | ^^^^^^^^^
  |
  = help: give it another name, or move its keys to the first
"#,
    );
}

#[test]
fn error_of_an_empty_file_explains_jobs() {
    check(
        "",
        r#"
error: the file has no job: there is nothing to run
--> mail.ini
 = help: a job is a section with a statement:
         [read]
         query = select 1
         rate = 100
"#,
    );
    check(
        r#"
; only a comment
"#,
        r#"
error: the file has no job: there is nothing to run
--> mail.ini
 = help: a job is a section with a statement:
         [read]
         query = select 1
         rate = 100
"#,
    );
    check(
        r#"
duration = 10s
[params]
n = 5
"#,
        r#"
error: the file has no job: there is nothing to run
--> mail.ini
 = help: a job is a section with a statement:
         [read]
         query = select 1
         rate = 100
"#,
    );
}

#[test]
fn a_comment_after_a_value_begins_with_a_semicolon() {
    check(
        r#"
duration = 10s # ten
[read]
query = select 1
"#,
        r#"
error: `10s # ten` has an unknown unit: units are ns, us, ms, s, m, h and d
 --> mail.ini:1:12
  |
1 | duration = 10s # ten
  |            ^^^^^^^^^
  |
  = help: a comment after a value begins with `;`
"#,
    );
    check(
        r#"
[read]
query = select 1
transaction = yes # all
"#,
        r#"
error: `transaction` is yes or no, not `yes # all`
 --> mail.ini:3:15
  |
3 | transaction = yes # all
  |               ^^^^^^^^^
  |
  = help: a comment after a value begins with `;`
"#,
    );
}
