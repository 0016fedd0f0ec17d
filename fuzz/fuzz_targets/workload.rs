//! `make fuzz TARGETS=workload`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| fuzz::files::workload(data));
