//! `make fuzz TARGETS=question`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| fuzz::files::question(data));
