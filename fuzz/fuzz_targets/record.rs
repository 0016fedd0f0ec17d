//! `cargo +nightly fuzz run record --features libfuzzer` with records of any kind in `corpus/record`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| fuzz::record(data));
