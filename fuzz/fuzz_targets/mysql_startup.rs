//! `cargo +nightly fuzz run mysql_startup --features libfuzzer`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| fuzz::mysql::startup(data));
