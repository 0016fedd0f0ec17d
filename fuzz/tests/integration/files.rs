//! Fuzz tests of files.

use fuzz::{files, recorded, run_kept, seeds};

use crate::support::{bytes_of, files_in};

#[test]
fn workload_files_of_any_bytes_are_accepted_or_rejected() {
    let corpus: Vec<Vec<u8>> =
        files_in("crates/workload/corpus").into_iter().map(|(_, bytes)| bytes).collect();
    run_kept("workload", &corpus, files::workload, 4_000);
}

#[test]
fn printed_plans_of_any_file_read_as_the_same_plan() {
    run_kept("plan", &whole_files(), files::plan, 6_000);
}

/// Returns the workloads of the corpus in each dialect, with settings and files next to them.
fn whole_files() -> Vec<Vec<u8>> {
    let beside = "\0select 1;\nselect '\\$${x}', ?, '${raw(p)}';\n\0a,b\n1,\"x;\"\n\
                  \x00001000,select 1\n\x00000.5\n1.25\n\0p=it''s\0rows=${p}k";
    let named = "[params]\np = '$${y}'\n[setup]\nquery-file = a.sql\n[a]\n\
                 query-file = a.sql\nquery-args-file = b.csv\nquery = ?1$$, \\$${x}, $t$ ' $t$\n\
                 [b]\nquery-log-file = c.log\n[c]\nquery = ${csv('b.csv', 'a')}\n\
                 rate = trace(d.txt)\n[d]\ncommand = echo \\$${x} '$${HOME}' ${row()} ${p}\n";
    let texts = files_in("crates/workload/corpus").into_iter();
    let texts = texts.filter(|(name, _)| name.starts_with("good")).map(|(_, text)| text);
    let texts = texts.chain([named.as_bytes().to_vec()]);
    let case = |(number, text): (usize, Vec<u8>)| {
        [&[number as u8 % 5, (number * 7) as u8], &text[..], beside.as_bytes()].concat()
    };
    texts.enumerate().map(case).collect()
}

#[test]
fn scripts_of_any_bytes_are_taken_apart_in_every_dialect() {
    let texts = [
        "select 1; -- it's ; ?\nselect '?', \"$1\", `;` from t where a = ? and b = $2;",
        "# ; '\nselect 'it\\'s; ?' /* /* ; */ ${uniform(1, 9)} */;\r\nselect $tag$ ; ? $tag$, $1;",
        "insert into t values (E'\\';', '$${x}', ${raw('a')}, ?2, ${field(1)});;\n/* ; */",
        "select a--1, b -- ${1}\n, $$ ; $$ # $$\n;select '${raw(\"\\n\")}' ;",
    ];
    run_kept("script", &bytes_of(&texts), files::script, 3_000);
}

#[test]
fn expressions_of_any_bytes_are_understood_or_refused() {
    let texts = [
        "uniform(1, 2 + 3 * -4) % pick(5, 7)",
        "zipf(1, 1M, s=0.99) + sequence(start=-2) / 1k",
        "weighted('a':3, 'b':1)",
        "json(a: 1, b: text(3, 9), c: null(0.5, uuid()))",
        "exp(20ms) * 2 - uniform(1s, 1m30s)",
        "polygon(hits=80, points=1000)",
        "timestamp(-uniform(0s, 1h))",
        "digits('###-##') ; \"\\u{1F600}\\n\"",
        "ramp(1, 100, 60s)",
        "steps(1..128 x2, 10s)",
        "p99 < 30ms, service.p50(a) < 1s",
        "hotspot(1, 100, hot=0.2, share=0.8)",
        "csv('a.csv', 'b')",
        "trace(rates 0 1, 2 3)",
    ];
    run_kept("expression", &bytes_of(&texts), files::expression, 6_000);
}

#[test]
fn input_records_of_any_bytes_decode_alike_in_any_pieces() {
    let texts = [
        "a,b\n1,\"x\"\"y,\n\"\r\n\n3,4",
        "1000,select 1\n2000,select 2, 3\n\n500,x\n",
        "\u{feff}a\tb\r\n\"\",\n",
        "\"open\n",
    ];
    run_kept("records", &bytes_of(&texts), files::records, 6_000);
}

#[test]
fn printed_experiments_of_any_file_ask_the_same_question() {
    run_kept("question", &seeds::questions(), files::question, 3_000);
}

#[test]
fn records_of_any_bytes_are_read_or_refused() {
    let whole = seeds::record();
    let others = [&b"SQLite format 3\0"[..], b"not a record", b""].map(<[u8]>::to_vec);
    // Most mutations should be of the record.
    let corpus: Vec<Vec<u8>> = std::iter::repeat_n(whole, 12).chain(others).collect();
    run_kept("record", &corpus, recorded::record, 500);
}

#[test]
fn records_of_experiments_of_any_bytes_are_read_or_refused() {
    run_kept("record", &[seeds::experiment("")], recorded::record, 60);
}

#[test]
fn records_of_searches_for_saturation_of_any_bytes_are_read_or_refused() {
    run_kept("record", &[seeds::experiment(seeds::SATURATE)], recorded::record, 60);
}

#[test]
fn records_with_any_values_are_read_or_refused() {
    // Each input takes a tenth of a second.
    let some: Vec<Vec<u8>> = seeds::changes().into_iter().step_by(31).collect();
    run_kept("cells", &some, recorded::cells, 12);
}
