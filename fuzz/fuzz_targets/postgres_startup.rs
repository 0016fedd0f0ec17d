//! `make fuzz TARGETS=postgres_startup`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| fuzz::postgres::startup(data));
