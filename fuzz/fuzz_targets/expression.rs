//! `cargo +nightly fuzz run expression --features libfuzzer`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| fuzz::files::expression(data));
