//! Errors in expressions, with their corrections.

use crate::check;

#[test]
fn unknown_name_suggests_the_nearest() {
    check(
        r#"
[params]
rows = 5
[read]
query = select ${rosw}
"#,
        r#"
error: unknown name `rosw`
 --> mail.ini:4:18
  |
4 | query = select ${rosw}
  |                  ^^^^
  |
  = help: did you mean `rows`?
"#,
    );
    check(
        r#"
[read]
query = select ${rows}
"#,
        r#"
error: unknown name `rows`
 --> mail.ini:2:18
  |
2 | query = select ${rows}
  |                  ^^^^
  |
  = help: define it in `[params]`, or with `let` above its use; texts need quotes
"#,
    );
    check(
        r#"
[read]
query = select ${uniform}
"#,
        r#"
error: unknown name `uniform`
 --> mail.ini:2:18
  |
2 | query = select ${uniform}
  |                  ^^^^^^^
  |
  = help: `uniform` is a generator: write `uniform(…)`
"#,
    );
}

#[test]
fn a_variable_is_defined_above_its_use() {
    check(
        r#"
[read]
let = a: b + 1
let = b: json(a: 1)
query = select ${a}, ${b}
"#,
        r#"
error: the variable `b` is used before it is defined
 --> mail.ini:2:10
  |
2 | let = a: b + 1
  |          ^
  |
  = help: variables are made in the order in which they stand: define `b` above `a`
"#,
    );
}

#[test]
fn a_variable_that_is_defined_by_itself_shows_the_circle() {
    check(
        r#"
[read]
let = a: 1 + a
query = select ${a}
"#,
        r#"
error: the variable is defined in terms of itself: a -> a
 --> mail.ini:2:14
  |
2 | let = a: 1 + a
  |              ^
  |
  = help: give it a value of its own, or use another variable
"#,
    );
    check(
        r#"
[read]
let = a: pick(x, b)
let = b: uniform(1, c), c: b, x: a
query = select ${a}
"#,
        r#"
error: the variable is defined in terms of itself: a -> x -> a
 --> mail.ini:2:15
  |
2 | let = a: pick(x, b)
  |               ^
  |
  = help: give it, or one of the others, a value of its own

error: the variable is defined in terms of itself: b -> c -> b
 --> mail.ini:3:21
  |
3 | let = b: uniform(1, c), c: b, x: a
  |                     ^
  |
  = help: give it, or one of the others, a value of its own
"#,
    );
}

#[test]
fn unknown_generator_suggests_the_nearest() {
    check(
        r#"
[read]
query = select ${unifrom(1, 2)}
"#,
        r#"
error: unknown generator `unifrom`
 --> mail.ini:2:18
  |
2 | query = select ${unifrom(1, 2)}
  |                  ^^^^^^^
  |
  = help: did you mean `uniform`?
"#,
    );
    check(
        r#"
[read]
query = select ${random(1, 2)}
"#,
        r#"
error: unknown generator `random`
 --> mail.ini:2:18
  |
2 | query = select ${random(1, 2)}
  |                  ^^^^^^
  |
  = help: in assay it is called `uniform(…)`
"#,
    );
    check(
        r#"
[read]
query = select ${frobnicate(1)}
"#,
        r#"
error: unknown generator `frobnicate`
 --> mail.ini:2:18
  |
2 | query = select ${frobnicate(1)}
  |                  ^^^^^^^^^^
  |
  = help: there are uniform, zipf, normal, exp, pareto, hotspot, latest, nurand, sequence, permute,
          row, client, text, digits, hex, uuid, pick, weighted, timestamp, json,
          point, polygon, null, csv and field
"#,
    );
}

#[test]
fn arguments_are_counted() {
    check(
        r#"
[read]
query = select ${uniform(1)}
"#,
        r#"
error: `uniform` has no `hi`
 --> mail.ini:2:18
  |
2 | query = select ${uniform(1)}
  |                  ^^^^^^^^^^
  |
  = help: write `uniform(lo, hi)`
"#,
    );
    check(
        r#"
[read]
query = select ${uniform(1, 2, 3)}
"#,
        r#"
error: `uniform` takes at most 2 arguments
 --> mail.ini:2:32
  |
2 | query = select ${uniform(1, 2, 3)}
  |                                ^
  |
  = help: write `uniform(lo, hi)`
"#,
    );
    check(
        r#"
[read]
query = select ${zipf(1, 10, z=2)}
"#,
        r#"
error: `zipf` has no argument `z`
 --> mail.ini:2:30
  |
2 | query = select ${zipf(1, 10, z=2)}
  |                              ^
  |
  = help: did you mean `s`?
"#,
    );
}

#[test]
fn arguments_fit_their_generator() {
    check(
        r#"
[read]
query = select ${uniform(1, 10ms)}
"#,
        r#"
error: `uniform` needs numbers on both sides, but `10ms` is a duration
 --> mail.ini:2:29
  |
2 | query = select ${uniform(1, 10ms)}
  |                             ^^^^
  |
  = help: give both arguments a unit, or none
"#,
    );
    check(
        r#"
[read]
query = select ${uniform(10, 1)}
"#,
        r#"
error: the range is empty: `10` is above `1`
 --> mail.ini:2:18
  |
2 | query = select ${uniform(10, 1)}
  |                  ^^^^^^^^^^^^^^
  |
  = help: write the lower end first
"#,
    );
    check(
        r#"
[read]
query = select ${zipf(1, uniform(5, 6))}
"#,
        r#"
error: `uniform(5, 6)` differs from request to request, but `zipf` needs a constant
 --> mail.ini:2:26
  |
2 | query = select ${zipf(1, uniform(5, 6))}
  |                          ^^^^^^^^^^^^^
  |
  = help: write a constant, or an expression of parameters
"#,
    );
    check(
        r#"
[read]
query = select ${row()}
"#,
        r#"
error: `row()` numbers the rows of a `[load TABLE]` section, and a job has none
 --> mail.ini:2:18
  |
2 | query = select ${row()}
  |                  ^^^^^
  |
  = help: `sequence()` numbers the requests of a job
"#,
    );
}

#[test]
fn types_fit_their_operators() {
    check(
        r#"
[read]
query = select ${1 + 'a'}
"#,
        r#"
error: `+` cannot combine `1`, an integer, with `'a'`, a text
 --> mail.ini:2:18
  |
2 | query = select ${1 + 'a'}
  |                  ^^^^^^^
  |
  = help: arithmetic is for numbers and durations
"#,
    );
    check(
        r#"
[read]
query = select ${10ms + 5}
"#,
        r#"
error: `+` cannot combine `10ms`, a duration, with `5`, an integer
 --> mail.ini:2:18
  |
2 | query = select ${10ms + 5}
  |                  ^^^^^^^^
  |
  = help: give the number a unit, such as `10ms`
"#,
    );
    check(
        r#"
[read]
query = select ${timestamp() + 1h}
"#,
        r#"
error: `+` cannot combine `timestamp()`, a timestamp, with `1h`, a duration
 --> mail.ini:2:18
  |
2 | query = select ${timestamp() + 1h}
  |                  ^^^^^^^^^^^^^^^^
  |
  = help: write the difference as the generator's offset: `timestamp(-1h)`
"#,
    );
    check(
        r#"
[read]
query = select ${-'a'}
"#,
        r#"
error: `'a'` is a text: it has no negative
 --> mail.ini:2:19
  |
2 | query = select ${-'a'}
  |                   ^^^
"#,
    );
}

#[test]
fn duration_cannot_be_sent_to_a_database() {
    check(
        r#"
[read]
query = select ${10ms}
"#,
        r#"
error: `10ms` is a duration, which cannot be a value of a database
 --> mail.ini:2:18
  |
2 | query = select ${10ms}
  |                  ^^^^
  |
  = help: divide it by a unit: `10ms / 1s` is a number of seconds
"#,
    );
    check(
        r#"
[read]
query = select ${10ms + exp(1s)}
"#,
        r#"
error: `10ms + exp(1s)` is a duration, which cannot be a value of a database
 --> mail.ini:2:18
  |
2 | query = select ${10ms + exp(1s)}
  |                  ^^^^^^^^^^^^^^
  |
  = help: divide it by a unit: `(10ms + exp(1s)) / 1s` is a number of seconds
"#,
    );
}

#[test]
fn a_divisor_is_never_zero() {
    check(
        r#"
[read]
let = n: uniform(0, 9) - 4
query = select ${7 / n}, ${7 % zipf(0, 5)}, ${sequence() / 0}
query = select ${7 / (1 + uniform(0, 9))}, ${7 / sequence(1)}, ${1s / uniform(1s, 2s)}
"#,
        r#"
error: `n` can be zero
 --> mail.ini:3:22
  |
3 | query = select ${7 / n}, ${7 % zipf(0, 5)}, ${sequence() / 0}
  |                      ^
  |
  = help: divide by numbers that are never zero, such as `uniform(1, 10)`

error: `zipf(0, 5)` can be zero
 --> mail.ini:3:32
  |
3 | query = select ${7 / n}, ${7 % zipf(0, 5)}, ${sequence() / 0}
  |                                ^^^^^^^^^^
  |
  = help: divide by numbers that are never zero, such as `uniform(1, 10)`

error: `sequence() / 0` divides by zero
 --> mail.ini:3:47
  |
3 | query = select ${7 / n}, ${7 % zipf(0, 5)}, ${sequence() / 0}
  |                                               ^^^^^^^^^^^^^^
  |
  = help: divide by a number that is not zero
"#,
    );
}

/// A divisor whose range the check cannot tell is accepted. In requests in which it is zero, the
/// value is NULL.
#[test]
fn divisor_of_unknown_range_is_accepted() {
    check(
        r#"
[read]
let = n: uniform(0, 9)
query = select ${7 / (n * 2 + 1)}, ${7 / (n - n)}, ${7 / pick(0, 1)}, ${7 / (n % 20)}
"#,
        "",
    );
}

#[test]
fn constants_have_a_value() {
    check(
        r#"
[params]
n = ${1 / 0}
[read]
query = select ${n}
"#,
        r#"
error: `1 / 0` divides by zero
 --> mail.ini:2:7
  |
2 | n = ${1 / 0}
  |       ^^^^^
  |
  = help: divide by a number that is not zero
"#,
    );
    check(
        r#"
[read]
query = select ${9223372036854775807 + 1}
"#,
        r#"
error: `9223372036854775807 + 1` is too large
 --> mail.ini:2:18
  |
2 | query = select ${9223372036854775807 + 1}
  |                  ^^^^^^^^^^^^^^^^^^^^^^^
  |
  = help: integers have 64 bits, other numbers go up to 9e18
"#,
    );
    check(
        r#"
[read]
query = select ${9223372036854775808}
"#,
        r#"
error: `9223372036854775808` is too large
 --> mail.ini:2:18
  |
2 | query = select ${9223372036854775808}
  |                  ^^^^^^^^^^^^^^^^^^^
"#,
    );
    check(
        r#"
[read]
query = select ${10x}
"#,
        r#"
error: `10x` has an unknown unit: units are ns, us, ms, s, m, h and d
 --> mail.ini:2:18
  |
2 | query = select ${10x}
  |                  ^^^
"#,
    );
}

#[test]
fn syntax_errors_point_at_the_word() {
    check(
        r#"
[read]
query = select ${}
"#,
        r#"
error: `${}` holds no expression
 --> mail.ini:2:16
  |
2 | query = select ${}
  |                ^^^
  |
  = help: write a value between the braces, or `$${` for a literal `${`
"#,
    );
    check(
        r#"
[read]
query = select ${1 +}
"#,
        r#"
error: expected a value, found `}`
 --> mail.ini:2:21
  |
2 | query = select ${1 +}
  |                     ^
"#,
    );
    check(
        r#"
[read]
query = select ${1 2}
"#,
        r#"
error: expected an operator or `}`, found `2`
 --> mail.ini:2:20
  |
2 | query = select ${1 2}
  |                    ^
"#,
    );
}

#[test]
fn parentheses_are_closed() {
    check(
        r#"
[read]
query = select ${(1}
"#,
        r#"
error: expected an operator or `)`, found `}`
 --> mail.ini:2:20
  |
2 | query = select ${(1}
  |                    ^
"#,
    );
    check(
        r#"
[read]
query = select ${uniform(1, 2}
"#,
        r#"
error: expected an operator, `,` or `)`, found `}`
 --> mail.ini:2:30
  |
2 | query = select ${uniform(1, 2}
  |                              ^
"#,
    );
    check(
        r#"
[read]
query = select ${a
"#,
        r#"
error: this `${` is not closed
 --> mail.ini:2:16
  |
2 | query = select ${a
  |                ^^
  |
  = help: write the missing `}`, or `$${` for a literal `${`
"#,
    );
}

#[test]
fn texts_are_closed() {
    check(
        r#"
[read]
query = select ${'a}
"#,
        r#"
error: the text that begins here is not closed
 --> mail.ini:2:18
  |
2 | query = select ${'a}
  |                  ^
  |
  = help: write the missing `'`; a quote inside a text is doubled;
          a `;` after white space begins a comment, unless it is `\;` between double quotes
"#,
    );
    check(
        r#"
[read]
query = select ${"\q"}
"#,
        r#"
error: the text has an unknown escape
 --> mail.ini:2:18
  |
2 | query = select ${"\q"}
  |                  ^^^^
  |
  = help: in double quotes a backslash may precede only \ " ' ; n r t or u{HEX};
          between single quotes it is itself
"#,
    );
    check(
        r#"
[read]
let = a: pick('x ; y', 'z')
query = select ${a}
"#,
        r#"
error: the text that begins here is not closed
 --> mail.ini:2:15
  |
2 | let = a: pick('x ; y', 'z')
  |               ^
  |
  = help: write the missing `'`; a quote inside a text is doubled;
          a `;` after white space begins a comment, unless it is `\;` between double quotes
"#,
    );
}

#[test]
fn settings_needed_before_the_run_are_constant() {
    check(
        r#"
[read]
query = select 1
rate = ${uniform(1, 2)}
"#,
        r#"
error: `uniform(1, 2)` differs from request to request, but `rate` needs a constant
 --> mail.ini:3:10
  |
3 | rate = ${uniform(1, 2)}
  |          ^^^^^^^^^^^^^
  |
  = help: write a constant, or an expression of parameters
"#,
    );
    check(
        r#"
[setup]
query = insert into t values (${uniform(1, 2)})
[read]
query = select 1
"#,
        r#"
error: `uniform(1, 2)` differs from request to request, but [setup] needs a constant
 --> mail.ini:2:33
  |
2 | query = insert into t values (${uniform(1, 2)})
  |                                 ^^^^^^^^^^^^^
  |
  = help: write a constant, or an expression of parameters
"#,
    );
}

#[test]
fn parameters_do_not_define_themselves() {
    check(
        r#"
[params]
a = ${a}
[read]
query = select ${a}
"#,
        r#"
error: the parameter is defined in terms of itself: a -> a
 --> mail.ini:2:5
  |
2 | a = ${a}
  |     ^^^^
  |
  = help: give it, or one of the others, a value of its own
"#,
    );
    check(
        r#"
[params]
a = ${b}
b = ${c}
c = ${a + 1}
[read]
query = select ${a}
"#,
        r#"
error: the parameter is defined in terms of itself: a -> b -> c -> a
 --> mail.ini:4:5
  |
4 | c = ${a + 1}
  |     ^^^^^^^^
  |
  = help: give it, or one of the others, a value of its own
"#,
    );
}

#[test]
fn parameter_names_are_unique_and_unreserved() {
    check(
        r#"
[params]
my-rows = 5
1a = 5
[read]
query = select 1
"#,
        r#"
error: `my-rows` is not a name for a parameter
 --> mail.ini:2:1
  |
2 | my-rows = 5
  | ^^^^^^^
  |
  = help: a name has at most 64 letters, digits and `_`, and begins with no digit

error: `1a` is not a name for a parameter
 --> mail.ini:3:1
  |
3 | 1a = 5
  | ^^
  |
  = help: a name has at most 64 letters, digits and `_`, and begins with no digit
"#,
    );
    check(
        r#"
[params]
a = 5
a = 6
[read]
query = select 1
"#,
        r#"
error: the parameter `a` occurs twice; the first is in line 2
 --> mail.ini:3:1
  |
3 | a = 6
  | ^
  |
  = help: remove one of the two
"#,
    );
}

#[test]
fn quoted_texts_are_whole_parameter_values() {
    check(
        r#"
[params]
a = 'x ; y'
[read]
query = select ${a}
"#,
        r#"
error: the text that begins here is not closed
 --> mail.ini:2:5
  |
2 | a = 'x ; y'
  |     ^
  |
  = help: write the missing `'`; a quote inside a text is doubled;
          a `;` after white space begins a comment, unless it is `\;` between double quotes
"#,
    );
    check(
        r#"
[params]
a = 'x' + 'y'
[read]
query = select ${a}
"#,
        r#"
error: expected a text in quotes and nothing else
 --> mail.ini:2:5
  |
2 | a = 'x' + 'y'
  |     ^^^^^^^^^
  |
  = help: write an expression in `${…}`, or the whole value in quotes
"#,
    );
}

#[test]
fn variable_names_are_unique_and_unreserved() {
    check(
        r#"
[params]
a = 5
[read]
let = a: 1
query = select ${a}
"#,
        r#"
error: `a` is already a parameter: give the variable another name
 --> mail.ini:4:7
  |
4 | let = a: 1
  |       ^
"#,
    );
    check(
        r#"
[read]
let = a: 1, a: 2
query = select ${a}
"#,
        r#"
error: `a` is defined twice in this job
 --> mail.ini:2:13
  |
2 | let = a: 1, a: 2
  |             ^
"#,
    );
    check(
        r#"
[read]
let = uniform(1, 2)
query = select 1
"#,
        r#"
error: `uniform(1, 2)` is not of the form `NAME: EXPRESSION`
 --> mail.ini:2:7
  |
2 | let = uniform(1, 2)
  |       ^^^^^^^^^^^^^
  |
  = help: write for example `let = a: uniform(1, 1000)`
"#,
    );
    check(
        r#"
[read]
let = 1a: 2
query = select 1
"#,
        r#"
error: `1a` is not a name: a name has at most 64 letters, digits and `_`, and begins with no digit
 --> mail.ini:2:7
  |
2 | let = 1a: 2
  |       ^^
"#,
    );
}
