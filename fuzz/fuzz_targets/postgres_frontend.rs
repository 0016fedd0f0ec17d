//! `cargo +nightly fuzz run postgres_frontend --features libfuzzer`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| fuzz::postgres::frontend(data));
