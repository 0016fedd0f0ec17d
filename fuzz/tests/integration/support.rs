//! Initial inputs of the fuzz tests.

use std::path::Path;

/// Reads the files of a folder of this repository. Returns the name and the content of each,
/// sorted.
pub(crate) fn files_in(folder: &str) -> Vec<(String, Vec<u8>)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(folder);
    let entries = std::fs::read_dir(&folder);
    let entries = entries.unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    let mut files: Vec<(String, Vec<u8>)> = entries
        .map(|entry| {
            let path = entry.expect("a readable folder").path();
            let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            (name, std::fs::read(path).expect("a readable file"))
        })
        .collect();
    files.sort();
    files
}

/// Returns the bytes that one side, a client (`>`) or a server (`<`), sent in the recorded
/// exchanges whose names begin with `prefix`.
pub(crate) fn bytes_sent_by(folder: &str, side: char, prefix: &str) -> Vec<Vec<u8>> {
    let files = files_in(folder).into_iter().filter(|(name, _)| name.starts_with(prefix));
    let bytes_sent_by: Vec<Vec<u8>> = files
        .map(|(_, file)| {
            let text = String::from_utf8(file).expect("hex is ASCII");
            text.lines().filter_map(|line| line.strip_prefix(side)).flat_map(unhex).collect()
        })
        .filter(|bytes: &Vec<u8>| !bytes.is_empty())
        .collect();
    assert!(!bytes_sent_by.is_empty(), "no side sends a byte in {folder}/{prefix}…");
    bytes_sent_by
}

fn unhex(text: &str) -> Vec<u8> {
    let pair = |pair: &[u8]| {
        let pair = std::str::from_utf8(pair).expect("hex is ASCII");
        u8::from_str_radix(pair, 16).expect("hex")
    };
    text.trim().as_bytes().chunks(2).map(pair).collect()
}

/// Converts texts to bytes.
pub(crate) fn bytes_of(texts: &[&str]) -> Vec<Vec<u8>> {
    texts.iter().map(|text| text.as_bytes().to_vec()).collect()
}
