//! `cargo +nightly fuzz run record --features libfuzzer`; records go into `corpus/record`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| fuzz::files::record(data));
