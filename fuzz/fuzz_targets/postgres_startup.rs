//! `cargo +nightly fuzz run postgres_startup --features libfuzzer`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| fuzz::postgres::startup(data));
