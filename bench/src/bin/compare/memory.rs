//! Memory of Assay with many connections.

use serde::{Deserialize, Serialize};

use crate::cells::{Cell, Database};
use crate::options::Options;
use crate::output::Failure;
use crate::publish::{Extent, Publication};
use crate::runners;
use crate::servers::Servers;

/// The peak memory of Assay with one number of connections.
#[derive(Serialize, Deserialize)]
pub(crate) struct Memory {
    pub(crate) database: Database,
    pub(crate) connections: u32,
    pub(crate) tls: bool,
    pub(crate) peak_rss_bytes: u64,
}

/// Numbers of connections to measure, each with true if the connections use TLS. More than a
/// thousand are opened to a simulated server, because a real one has a process or thread for each.
const CONNECTION_COUNTS: [(u32, bool); 3] = [(1_000, false), (1_000, true), (10_000, false)];

/// Largest number of connections to a real server.
const LARGEST_REAL: u32 = 1_000;

/// Measures the peak memory of Assay with many connections.
pub(crate) fn measure(options: &Options, servers: &Servers) -> Result<(), Failure> {
    // The servers that the command line names are real ones, and must not replace simulated ones.
    let simulated = Servers::simulated(&options.without_servers())?;
    let publication = Publication::begin(options)?;
    let mut raws = Vec::new();
    let mut text = String::from(
        "| database | connections | TLS | peak memory MB |\n| --- | --: | --- | --: |\n",
    );
    for database in options.databases() {
        for (connections, tls) in CONNECTION_COUNTS {
            let cell = Cell::prepared(database, connections, tls);
            let servers = if connections > LARGEST_REAL { &simulated } else { servers };
            let ran = runners::sample_of_assay(&cell, servers, "", Some(options.seconds));
            let measured = match ran {
                Ok((ran, _)) => {
                    raws.push(Memory { database, connections, tls, peak_rss_bytes: ran.peak_rss });
                    format!("{:.1}", ran.peak_rss as f64 / 1e6)
                }
                Err(failure) => format!("not measured: {failure}"),
            };
            let (name, tls) = (database.name(), if tls { "on" } else { "off" });
            text.push_str(&format!("| {name} | {connections} | {tls} | {measured} |\n"));
        }
    }
    publication.publish(&Extent::Once { seconds: options.seconds }, text.trim_end(), &raws)
}
