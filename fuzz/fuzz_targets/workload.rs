//! `cargo +nightly fuzz run workload --features libfuzzer crates/workload/corpus`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| fuzz::files::workload(data));
