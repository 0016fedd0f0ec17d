//! `make fuzz TARGETS=postgres_frontend`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| fuzz::postgres::frontend(data));
