//! `make fuzz TARGETS=mysql_replies`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| fuzz::mysql::replies(data));
