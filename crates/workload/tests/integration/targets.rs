//! Errors in targets and commands, with their corrections.

use workload::Overrides;

use crate::{check, render};

#[test]
fn job_names_an_existing_target() {
    check(
        r#"
[target copy]
url = sqlite:copy.db
[read]
target = cpy
query = select 1
[write]
target = copy
query = select 1
"#,
        r#"
error: there is no [target cpy]
 --> mail.ini:4:10
  |
4 | target = cpy
  |          ^^^
  |
  = help: did you mean `copy`?
"#,
    );
    check(
        r#"
[read]
target = copy
query = select 1
"#,
        r#"
error: there is no [target copy]
 --> mail.ini:2:10
  |
2 | target = copy
  |          ^^^^
  |
  = help: give it a section with a `url`, or remove the key
"#,
    );
    check(
        r#"
[read]
target = backup
query = select 1
[write]
target = copy
query = select 1
[target copy]
url = sim:mm1
"#,
        r#"
error: there is no [target backup]
 --> mail.ini:2:10
  |
2 | target = backup
  |          ^^^^^^
  |
  = help: the targets of the file are copy
"#,
    );
}

#[test]
fn a_target_has_a_name_and_a_url_and_is_used() {
    check(
        r#"
[target copy]
[read]
target = copy
query = select 1
"#,
        r#"
error: [target copy] has no `url`
 --> mail.ini:1:1
  |
1 | [target copy]
  | ^^^^^^^^^^^^^
  |
  = help: write for example `url = sqlite:copy.db`
"#,
    );
    check(
        r#"
[target]
url = sim:mm1
[read]
query = select 1
"#,
        r#"
error: the section names no target
 --> mail.ini:1:1
  |
1 | [target]
  | ^^^^^^^^
  |
  = help: write `[target NAME]`, and `target = NAME` in the jobs that use it
"#,
    );
    check(
        r#"
[target a.b]
url = sim:mm1
[read]
query = select 1
"#,
        r#"
error: `a.b` is not the name of a target
 --> mail.ini:1:1
  |
1 | [target a.b]
  | ^^^^^^^^^^^^
  |
  = help: a name has at most 64 letters, digits, `_` and `-`
"#,
    );
    check(
        r#"
[target host]
url = sim:mm1
[read]
query = select 1
"#,
        r#"
error: a target cannot be called `host`
 --> mail.ini:1:1
  |
1 | [target host]
  | ^^^^^^^^^^^^^
  |
  = help: the record uses this name for facts about the environment: choose another name
"#,
    );
    check(
        r#"
[target calibration]
url = sim:mm1
[read]
query = select 1
"#,
        r#"
error: a target cannot be called `calibration`
 --> mail.ini:1:1
  |
1 | [target calibration]
  | ^^^^^^^^^^^^^^^^^^^^
  |
  = help: the record uses this name for facts about the environment: choose another name
"#,
    );
    check(
        r#"
[target a]
url = sim:mm1
[target  a]
url = sim:mm1
[read]
target = a
query = select 1
"#,
        r#"
error: the section [target a] occurs twice; the first is in line 1
 --> mail.ini:3:1
  |
3 | [target  a]
  | ^^^^^^^^^^^
  |
  = help: give it another name, or move its keys to the first
"#,
    );
    check(
        r#"
[target a]
url = sim:mm1
rate = 5
[read]
query = select 1
"#,
        r#"
error: `rate` is not a key in [target a]
 --> mail.ini:3:1
  |
3 | rate = 5
  | ^^^^
  |
  = help: it belongs in a job
"#,
    );
    check(
        r#"
[tarket a]
url = sim:mm1
[read]
query = select 1
"#,
        r#"
error: the section [tarket a] has no `query`, so it is not a job
 --> mail.ini:1:1
  |
1 | [tarket a]
  | ^^^^^^^^^^
  |
  = help: did you mean `[target NAME]`?
"#,
    );
}

#[test]
fn unused_main_target_is_a_warning() {
    check(
        r#"
url = sqlite:main.db
[target a]
url = sim:mm1
[read]
target = a
query = select 1
"#,
        r#"
warning: no job uses this `url`: each job has its own target or runs a program
 --> mail.ini:1:1
  |
1 | url = sqlite:main.db
  | ^^^
"#,
    );
    check(
        r#"
url = mysql://ann:secret@h/d
[clean]
command = true
"#,
        r#"
warning: no job uses this `url`: each job has its own target or runs a program
--> mail.ini
"#,
    );
}

#[test]
fn command_excludes_statements() {
    check(
        r#"
[job]
command = true
query = select 1
"#,
        r#"
error: `query` cannot be used with `command`
 --> mail.ini:3:1
  |
3 | query = select 1
  | ^^^^^
  |
  = help: a job sends statements or runs a program: make two jobs of it
"#,
    );
    check(
        r#"
[job]
command = true
transaction = yes
target = a
reconnect = per-transaction
[target a]
url = sim:mm1
"#,
        r#"
error: `transaction` cannot be used with `command`
 --> mail.ini:3:1
  |
3 | transaction = yes
  | ^^^^^^^^^^^
  |
  = help: it applies to statements, and the job runs a program: remove the key

error: `target` cannot be used with `command`
 --> mail.ini:4:1
  |
4 | target = a
  | ^^^^^^
  |
  = help: programs do not use assay's targets: remove the key

error: `reconnect` cannot be used with `command`
 --> mail.ini:5:1
  |
5 | reconnect = per-transaction
  | ^^^^^^^^^
  |
  = help: a program makes connections of its own: remove the key
"#,
    );
    check(
        r#"
[job]
command =
"#,
        r#"
error: the command is empty
 --> mail.ini:2:10
  |
2 | command =
  |          ^
  |
  = help: write `command = ./program`
"#,
    );
}

#[test]
fn a_value_of_a_command_is_a_word_of_its_own() {
    check(
        r#"
[job]
command = echo "${uniform(1, 9)}"
"#,
        r#"
error: `${uniform(1, 9)}` is in quotes or after a backslash
 --> mail.ini:2:17
  |
2 | command = echo "${uniform(1, 9)}"
  |                 ^^^^^^^^^^^^^^^^
  |
  = help: values are quoted automatically: remove the quotes;
          to splice its text, write `${raw(uniform(1, 9))}`; for a `${` of the shell's, write `$${`
"#,
    );
    check(
        r#"
[job]
command = echo 'it is ${text(3)}'
"#,
        r#"
error: `${text(3)}` is in quotes or after a backslash
 --> mail.ini:2:23
  |
2 | command = echo 'it is ${text(3)}'
  |                       ^^^^^^^^^^
  |
  = help: values are quoted automatically: remove the quotes;
          to splice its text, write `${raw(text(3))}`; for a `${` of the shell's, write `$${`
"#,
    );
    check(
        r#"
[job]
command = echo \${1}
"#,
        r#"
error: `${1}` is in quotes or after a backslash
 --> mail.ini:2:17
  |
2 | command = echo \${1}
  |                 ^^^^
  |
  = help: values are quoted automatically: remove the quotes;
          to splice its text, write `${raw(1)}`; for a `${` of the shell's, write `$${`
"#,
    );
    check(
        r#"
[job]
command = echo it's
"#,
        r#"
error: the literal that begins here is not closed
 --> mail.ini:2:18
  |
2 | command = echo it's
  |                  ^
  |
  = help: write the missing `'`
"#,
    );
    check(
        r#"
[job]
command = true # ${1}
"#,
        r#"
error: `${1}` is inside a comment
 --> mail.ini:2:18
  |
2 | command = true # ${1}
  |                  ^^^^
  |
  = help: remove it, or write `$${` for a literal `${`
"#,
    );
    check(
        r#"
[params]
p = it's
[job]
command = echo ${raw(p)}
"#,
        r#"
error: the command is malformed with its constants inserted
 --> mail.ini:4:11
  |
4 | command = echo ${raw(p)}
  |           ^^^^^^^^^^^^^^
  |
  = help: a spliced text must close its quotes and hold no line break
"#,
    );
    check(
        r#"
[job]
command = sleep ${2s}
"#,
        r#"
error: `2s` is a duration, which cannot be a word of a command
 --> mail.ini:2:19
  |
2 | command = sleep ${2s}
  |                   ^^
  |
  = help: divide it by a unit: `2s / 1s` is a number of seconds
"#,
    );
}

#[test]
fn a_broken_url_of_a_target_is_not_repeated() {
    let text = "[target a]\nurl = postgrs://ann:secret@h/d\n[read]\ntarget = a\nquery = select 1\n";
    let (plan, diagnostics) = workload::plan(text, &Overrides::default());
    let shown = render(text, &diagnostics);
    assert!(plan.is_none() && shown.contains("`url` in line 2: unknown scheme"), "{shown}");
    assert!(!shown.contains("secret"), "{shown}");
}
