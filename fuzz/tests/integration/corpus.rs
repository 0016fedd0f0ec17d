//! Tests of the stored corpora.

use fuzz::corpus;

use crate::support::files_in;

#[test]
fn every_target_has_a_stored_corpus() {
    let targets = files_in("fuzz/fuzz_targets");
    assert!(!targets.is_empty());
    for (file, _) in targets {
        let target = file.strip_suffix(".rs").expect("a Rust file");
        let inputs = corpus::read(target).expect("a corpus that can be read");
        assert!(!inputs.is_empty(), "no stored input: `make fuzz TARGETS={target}`");
    }
}
