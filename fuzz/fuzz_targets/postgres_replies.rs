//! `make fuzz TARGETS=postgres_replies`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| fuzz::postgres::replies(data));
