//! `make fuzz TARGETS=records`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| fuzz::files::records(data));
