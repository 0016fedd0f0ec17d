//! `make fuzz TARGETS=cells`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| fuzz::recorded::cells(data));
