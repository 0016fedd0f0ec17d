//! `make fuzz TARGETS=mysql_commands`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| fuzz::mysql::commands(data));
