//! `make fuzz TARGETS=plan`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| fuzz::files::plan(data));
