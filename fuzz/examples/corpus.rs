//! Conversion between the stored corpus of a target and a folder with one file for each input, as
//! libFuzzer uses it: `corpus unpack|pack TARGET FOLDER`. Unpacking adds the seeds of the target.

use std::error::Error;
use std::fs;
use std::path::Path;

use fuzz::{corpus, seeds};

fn main() -> Result<(), Box<dyn Error>> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    match words.iter().map(String::as_str).collect::<Vec<_>>().as_slice() {
        ["unpack", target, folder] => unpack(target, Path::new(folder)),
        ["pack", target, folder] => pack(target, Path::new(folder)),
        _ => Err("usage: corpus unpack|pack TARGET FOLDER".into()),
    }
}

fn unpack(target: &str, folder: &Path) -> Result<(), Box<dyn Error>> {
    fs::create_dir_all(folder)?;
    for (number, input) in corpus::read(target)?.iter().enumerate() {
        fs::write(folder.join(format!("kept-{number:05}")), input)?;
    }
    for (number, input) in seeds::of_target(target).iter().enumerate() {
        fs::write(folder.join(format!("seed-{number:05}")), input)?;
    }
    Ok(())
}

fn pack(target: &str, folder: &Path) -> Result<(), Box<dyn Error>> {
    let files = fs::read_dir(folder)?;
    let inputs = files.map(|file| fs::read(file?.path())).collect::<Result<Vec<_>, _>>()?;
    corpus::write(target, inputs)?;
    Ok(())
}
