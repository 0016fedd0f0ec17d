//! Compresses the font of the pictures, which makes the program smaller by about 200 kB.

use std::io::Write as _;
use std::path::Path;
use std::{env, fs};

use flate2::Compression;
use flate2::write::DeflateEncoder;

const FONT: &str = "fonts/LiberationSans-Regular.ttf";

fn main() {
    println!("cargo::rerun-if-changed={FONT}");
    let font = fs::read(FONT).expect("the font is among the sources");
    let mut packed = DeflateEncoder::new(Vec::new(), Compression::best());
    packed.write_all(&font).expect("memory can be written");
    let packed = packed.finish().expect("memory can be written");
    let folder = env::var("OUT_DIR").expect("cargo sets it");
    let path = Path::new(&folder).join("font.deflate");
    fs::write(path, packed).expect("cargo's folder can be written");
}
