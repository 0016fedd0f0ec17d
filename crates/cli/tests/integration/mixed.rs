//! The study of mixed traffic: does its data make it the study that it claims to be?

use crate::support::{Place, number};

/// The rows of the study that are older than the retention so many seconds from now.
fn expired(place: &Place, database: &str, seconds: i64) -> i64 {
    let bound = format!("datetime('now', '-3600 seconds', '{seconds} seconds')");
    let sql = format!("select count(*) from t where insert_date < {bound}");
    number(&place.at(database), &sql)
}

#[test]
fn each_clean_up_of_the_mixed_study_deletes_half_of_the_table() {
    let place = Place::new();
    for (name, seconds, text) in [
        ("mixed.ini", 12, include_str!("../../../../workloads/mixed.ini")),
        ("mixed-dbbench.ini", 10, include_str!("../../../../workloads/mixed-dbbench.ini")),
    ] {
        place.write(name, text);
        assert_eq!(place.assay(&["check", name]).expect(0).stderr, "");
        let (database, record) = (format!("{name}.db"), format!("{name}.assay"));
        let url = format!("sqlite:{database}");
        place.assay(&["load", name, "--quiet", "--url", &url, "--out", &record]).expect(0);
        let loaded = number(&place.at(&database), "select count(*) from t");
        for quarter in 1..=3 {
            let inserted = 100 * seconds * quarter;
            let gone = match quarter {
                1 => 0,
                _ => expired(&place, &database, seconds * (quarter - 1)),
            };
            let goes = expired(&place, &database, seconds * quarter) - gone;
            let there = loaded + inserted - gone;
            assert!(2 * goes >= there, "{name}: {goes} of {there} in quarter {quarter}");
        }
    }
}
