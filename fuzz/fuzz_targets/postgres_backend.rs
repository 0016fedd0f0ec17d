//! `make fuzz TARGETS=postgres_backend`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| fuzz::postgres::backend(data));
