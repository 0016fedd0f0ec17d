//! `cargo +nightly fuzz run mysql_commands --features libfuzzer`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| fuzz::mysql::commands(data));
