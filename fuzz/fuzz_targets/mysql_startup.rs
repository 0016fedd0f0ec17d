//! `make fuzz TARGETS=mysql_startup`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| fuzz::mysql::startup(data));
