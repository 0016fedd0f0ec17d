//! Planted cycles, and texts that are not uses.

use super::*;

/// A file that names an item of another file only in a comment, in strings and in tests. It also
/// has a character literal that is a quote.
const COMMENTED: &str = "// crate::a::A
const T: &str = \"crate::a::A\";
const R: &str = r#\"\" crate::a::A\"#;
const C: char = '\"';
const D: &str = \"\";
pub struct B;
#[cfg(test)]
mod tests { use crate::a::A; }
";

fn found(files: &[(&str, &str)]) -> Vec<Vec<String>> {
    let sources: Vec<(String, String)> = files
        .iter()
        .map(|(file, text)| (format!("crates/a/src/{file}"), (*text).to_owned()))
        .collect();
    cycles(&sources).remove("a").unwrap_or_default()
}

#[test]
fn files_that_use_each_other_form_a_cycle() {
    let files = [
        ("lib.rs", "mod plan;\nmod print;\npub use plan::Plan;\n"),
        ("plan.rs", "use crate::print::show;\npub struct Plan;\n"),
        ("print.rs", "use super::{plan::Plan as P};\npub fn show() {}\n"),
    ];
    assert_eq!(found(&files), [["plan.rs", "print.rs"]]);
}

#[test]
fn paths_within_the_code_are_followed_through_re_exports() {
    let files = [
        ("lib.rs", "mod plan;\nmod print;\npub use plan::Plan;\n"),
        ("plan.rs", "pub struct Plan;\nfn f() { crate::print::show() }\n"),
        ("print.rs", "pub fn show() { let p = crate::Plan; }\n"),
    ];
    assert_eq!(found(&files), [["plan.rs", "print.rs"]]);
}

#[test]
fn parent_that_only_declares_and_re_exports_is_in_no_cycle() {
    let files = [
        ("lib.rs", "mod a;\npub use a::A;\n"),
        ("a/mod.rs", "mod b;\nmod c;\npub use b::B;\npub struct A;\n"),
        ("a/b.rs", "use super::A;\nuse super::c::C;\npub struct B(A, C);\n"),
        ("a/c.rs", "use crate::A;\npub struct C(A);\n"),
    ];
    assert_eq!(found(&files), Vec::<Vec<String>>::new());
}

#[test]
fn parent_that_calls_a_child_which_uses_its_items_forms_a_cycle() {
    let files = [
        ("lib.rs", "mod a;\n"),
        ("a/mod.rs", "mod b;\npub struct A;\nfn f() { b::g() }\n"),
        ("a/b.rs", "use super::A;\npub fn g() {}\n"),
    ];
    assert_eq!(found(&files), [["a/b.rs", "a/mod.rs"]]);
}

#[test]
fn files_whose_methods_of_one_type_call_each_other_form_a_cycle() {
    let files = [
        ("lib.rs", "mod a;\nmod b;\nmod t;\n"),
        ("t.rs", "pub struct T<F>(F);\n"),
        ("a.rs", "use crate::t::T;\nimpl<F: Fn() -> u8> T<F> {\nfn f(&self) { self.g() }\n}\n"),
        ("b.rs", "use crate::t::T;\nimpl<F> T<F> {\nfn g(&self) { Self::f(self) }\n}\n"),
    ];
    assert_eq!(found(&files), [["a.rs", "b.rs"]]);
    let also = files.map(|(file, text)| (file, text.replace("impl<F> T<F>", "impl<F> U for T<F>")));
    let also = also.each_ref().map(|(file, text)| (*file, text.as_str()));
    assert_eq!(found(&also), Vec::<Vec<String>>::new(), "a method of a trait is not followed");
}

#[test]
fn method_that_the_file_of_its_type_calls_forms_a_cycle() {
    let files = [
        ("lib.rs", "mod a;\nmod b;\n"),
        ("a.rs", "pub struct A;\nimpl A {\nfn f(&self) { self.g() }\n}\n"),
        ("b.rs", "use crate::a::A;\nimpl A {\npub fn g(&self) {}\n}\n"),
    ];
    assert_eq!(found(&files), [["a.rs", "b.rs"]]);
}

#[test]
fn methods_of_another_type_of_the_same_name_and_fields_are_not_a_use() {
    let files = [
        ("lib.rs", "mod a;\nmod b;\n"),
        ("a.rs", "pub struct A;\nimpl A {\nfn f(&self) { self.g(); self.h.i() }\n}\n"),
        ("b.rs", "use crate::a::f;\nstruct A;\nimpl A {\nfn g(&self) {}\nfn h(&self) {}\n}\n"),
    ];
    assert_eq!(found(&files), Vec::<Vec<String>>::new());
}

#[test]
fn comments_strings_and_tests_are_ignored() {
    let files = [
        ("lib.rs", "mod a;\nmod b;\n"),
        ("a.rs", "use crate::b::B;\npub struct A<'b>(&'b B);\n"),
        ("b.rs", COMMENTED),
    ];
    assert_eq!(found(&files), Vec::<Vec<String>>::new());
}

#[test]
fn programs_of_a_crate_have_roots_of_their_own() {
    let files = [
        ("bin/b/main.rs", "mod x;\nmod y;\n"),
        ("bin/b/x.rs", "use crate::y::Y;\npub struct X(Y);\n"),
        ("bin/b/y.rs", "use crate::x::X;\npub struct Y(X);\n"),
        ("x.rs", "pub struct X;\n"),
    ];
    assert_eq!(found(&files), [["bin/b/x.rs", "bin/b/y.rs"]]);
}

#[test]
fn summary_counts_the_cycles_of_each_crate() {
    let cycle = vec!["x.rs".to_owned(), "y.rs".to_owned()];
    let none = Cycles::from(["a", "b"].map(|name| (name.to_owned(), Vec::new())));
    assert_eq!(summary(&none), "0 cycles between files in 2 crates");
    let two = Cycles::from([("a".to_owned(), vec![cycle.clone()]), ("b".to_owned(), vec![cycle])]);
    assert_eq!(summary(&two), "2 cycles between files in 2 crates (a 1, b 1)");
}

#[test]
fn list_may_only_shrink() {
    let cycle = |size: usize| vec!["x.rs".to_owned(); size];
    let found = |sizes: &[usize]| {
        BTreeMap::from([("a".to_owned(), sizes.iter().map(|size| cycle(*size)).collect())])
    };
    let complaints = |list: &str, sizes: &[usize]| compare(&parse(list).unwrap(), &found(sizes));
    assert_eq!(complaints("a: 3 2\n", &[3, 2]), Vec::<String>::new());
    let grown = "crate `a`: these files form a cycle: x.rs x.rs x.rs";
    assert_eq!(complaints("a: 2\n", &[3]), [grown]);
    assert_eq!(complaints("", &[3]), [grown]);
    let smaller = format!("crate `a` has smaller cycles than {LIST} accepts; write `a: 2`");
    assert_eq!(complaints("a: 3\n", &[2]), [smaller]);
    assert_eq!(parse("a: three\n").unwrap_err(), format!("{LIST}:1: write `crate: size size`"));
}
