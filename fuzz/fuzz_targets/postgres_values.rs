//! `make fuzz TARGETS=postgres_values`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| fuzz::postgres::values(data));
