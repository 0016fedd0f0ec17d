//! `make fuzz TARGETS=record`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| fuzz::recorded::record(data));
