//! `make fuzz TARGETS=expression`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| fuzz::files::expression(data));
