//! Tests of the figures and the HTML pages of records. A page needs no other file.

use std::fs::{self, File};
use std::io;
use std::path::Path;

use flate2::read::GzDecoder;
use sha2::{Digest, Sha256};

use crate::support::{MM1, TestFolder};

const TWO_JOBS: &str = "\
duration = 60s
warmup = 10s
[read]
query = select 1
rate = 200
[write]
query = select 2
concurrency = 2
start = 20s
stop = 40s
";

/// Runs two jobs in virtual time, and returns the folder with the record.
fn recorded() -> TestFolder {
    let place = TestFolder::with(TWO_JOBS);
    place.run_virtually(MM1, &[]).expect(0);
    place
}

/// Writes the page of a record and returns it.
fn page_of(place: &TestFolder, record: &str, more: &[&str]) -> String {
    let html = format!("{record}.html");
    let args = [&["report", record, "--html", &html], more].concat();
    let ran = place.assay(&args);
    assert_eq!(ran.stderr, "", "{record}");
    fs::read_to_string(place.at(&html)).unwrap_or_else(|error| panic!("{html}: {error}"))
}

/// Asserts that a page needs no network, has one script at its end, and has landmarks and headings.
#[track_caller]
fn check_page(page: &str) {
    let (page, after) = page.split_once("<script>").expect("a script");
    assert!(after.ends_with("</script>\n</body>\n</html>\n"), "the script is at the end");
    for absent in ["<script", " style=", "<link", "src=", "@import", "url(", "javascript:", "NaN"] {
        assert!(!page.contains(absent), "{absent}");
    }
    let foreign = page.replace("http://www.w3.org/2000/svg", "");
    assert!(!foreign.contains("=\"http"), "no address is loaded or linked");
    for present in [
        "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none';",
        "<a class=\"skip\" href=\"#answer\">",
        "<main>",
        "<nav aria-label=",
        "<footer>",
        "<h1>",
        "scope=\"col\"",
        "<caption>",
        "role=\"img\"",
    ] {
        assert!(page.contains(present), "{present}");
    }
    let ids: Vec<&str> =
        page.split(" id=\"").skip(1).map(|it| it.split('"').next().unwrap()).collect();
    let mut distinct = ids.clone();
    distinct.sort_unstable();
    distinct.dedup();
    assert_eq!(distinct.len(), ids.len(), "identifiers are unique");
}

#[test]
fn figures_are_listed_with_a_sentence_each() {
    let place = recorded();
    let listed = place.assay(&["report", "r.assay", "--figures"]).expect(0);
    let names: Vec<&str> =
        listed.stdout.lines().map(|line| line.split_once("  ").unwrap().0.trim()).collect();
    let expected = [
        "throughput",
        "response.read",
        "response.write",
        "percentiles.read",
        "percentiles.write",
        "histogram.read",
        "histogram.write",
        "heat-map.read",
        "heat-map.write",
        "time-parts.read",
        "time-parts.write",
        "cpu",
        "queue",
        "errors",
    ];
    assert_eq!(names, expected);
    assert!(listed.stdout.lines().all(|line| line.ends_with('.')), "{}", listed.stdout);
    assert!(listed.stdout.contains("No request ended in an error."), "{}", listed.stdout);
}

#[test]
fn figure_is_printed_or_written_to_a_new_file() {
    let place = recorded();
    let printed = place.assay(&["report", "r.assay", "--svg", "throughput"]).expect(0);
    assert!(printed.stdout.starts_with("<svg xmlns=\"http://www.w3.org/2000/svg\""));
    for shown in ["warm-up", "write begins", "write ends", "read: offered"] {
        assert!(printed.stdout.contains(&format!(">{shown}</text>")), "{shown}");
    }
    let write = ["report", "r.assay", "--svg", "throughput", "--out", "f.svg"];
    let written = place.assay(&write).expect(0);
    assert_eq!(written.stdout, "");
    assert_eq!(fs::read_to_string(place.at("f.svg")).unwrap(), printed.stdout);
    let again = place.assay(&write).expect(2);
    assert!(
        again.stderr.starts_with("error: `f.svg` exists, and a file is never overwritten"),
        "{}",
        again.stderr
    );
}

#[test]
fn figure_is_written_as_png_to_a_new_file() {
    let place = recorded();
    place.assay(&["report", "r.assay", "--png", "throughput"]).expect(2);
    let write = ["report", "r.assay", "--png", "throughput", "--out", "f.png"];
    assert_eq!(place.assay(&write).expect(0).stdout, "");
    let first = fs::read(place.at("f.png")).unwrap();
    assert_eq!(first[..8], *b"\x89PNG\r\n\x1a\n");
    place.assay(&write).expect(2);
    fs::remove_file(place.at("f.png")).unwrap();
    place.assay(&write).expect(0);
    assert_eq!(fs::read(place.at("f.png")).unwrap(), first, "the same bytes");
    place.assay(&["report", "r.assay", "--png", "cpu", "--svg", "cpu", "--out", "x"]).expect(2);
}

#[test]
fn unknown_figure_suggests_the_nearest() {
    let place = recorded();
    let near = place.assay(&["report", "r.assay", "--svg", "throughputs"]).expect(2);
    assert_eq!(
        near.stderr,
        "error: the record has no figure `throughputs`\n  \
         = help: did you mean `throughput`? --figures lists all of them\n"
    );
    let far = place.assay(&["report", "r.assay", "--svg", "pie"]).expect(2);
    assert!(far.stderr.contains("--figures lists all of them"), "{}", far.stderr);
    place.assay(&["report", "r.assay", "--svg", "cpu", "--json"]).expect(2);
    place.assay(&["report", "r.assay", "--out", "f.svg"]).expect(2);
}

#[test]
fn page_is_self_contained_and_deterministic() {
    let place = recorded();
    let page = page_of(&place, "r.assay", &[]);
    check_page(&page);
    for shown in [
        "VALID",
        "Throughput over time",
        "Percentiles: read",
        "Checks of the measurement",
        "Times of read",
        "stop = 40s",
    ] {
        assert!(page.contains(shown), "{shown}");
    }
    assert!(page.matches("<svg ").count() >= 14, "{}", page.matches("<svg ").count());
    fs::rename(place.at("r.assay.html"), place.at("first.html")).unwrap();
    assert_eq!(page_of(&place, "r.assay", &[]), page);
    assert!(page.len() < 300_000, "{} bytes", page.len());
    // The page and the Markdown show only the file name of the record, so they do not depend on the
    // folder of the record.
    let path = place.at("r.assay").display().to_string();
    fs::remove_file(place.at("r.assay.html")).unwrap();
    assert!(page_of(&place, &path, &[]) == page, "another path made another page");
    let markdown = |path: &str| place.assay(&["report", path, "--markdown"]).expect(0).stdout;
    assert_eq!(markdown(&path), markdown("r.assay"));
    assert!(page.contains("assay report r.assay\n"), "the command names the file");
}

#[test]
fn unreadable_record_leaves_no_page() {
    let place = recorded();
    let bytes = fs::read(place.at("r.assay")).unwrap();
    let mut newer = bytes.clone();
    // The version of the format: `user_version` in the header of SQLite's file.
    newer[60..64].copy_from_slice(&99_u32.to_be_bytes());
    let mut damaged = bytes;
    let middle = damaged.len() / 2;
    damaged[middle..middle + 4_096].fill(0xa5);
    for (name, bytes, reason) in
        [("newer.assay", newer, "version 99"), ("damaged.assay", damaged, "damaged")]
    {
        fs::write(place.at(name), bytes).unwrap();
        let ran = place.assay(&["report", name, "--html", "x.html"]).expect(2);
        assert!(ran.stderr.contains(reason) && ran.stdout.is_empty(), "{name}: {}", ran.stderr);
        assert!(!place.at("x.html").exists(), "{name}");
    }
}

#[test]
fn page_is_written_in_addition_to_the_answer_and_replaces_no_file() {
    let place = recorded();
    let plain = place.assay(&["report", "r.assay"]);
    let with_page = place.assay(&["report", "r.assay", "--html", "p.html"]).expect(0);
    assert_eq!(with_page.stdout, plain.stdout);
    let again = place.assay(&["report", "r.assay", "--html", "p.html"]).expect(2);
    assert_eq!(again.stdout, "");
    assert!(again.stderr.contains("name another file with --html"), "{}", again.stderr);
}

#[test]
fn tables_and_figures_of_a_page_are_saved_without_a_script() {
    let place = recorded();
    let page = page_of(&place, "r.assay", &[]);
    let tables = page.matches("<table>").count();
    assert_eq!(page.matches("href=\"data:text/csv;charset=utf-8,").count(), tables);
    assert!(page.contains("download=\"times-of-read.csv\""), "{tables}");
    let drawn = place.assay(&["report", "r.assay", "--svg", "throughput"]).expect(0).stdout;
    let link = page.split("download=\"throughput.svg\" href=\"data:image/svg+xml,").nth(1).unwrap();
    assert_eq!(decoded(link.split('"').next().unwrap()), drawn);
    assert!(!page.contains("download=\"errors.svg\""), "an empty figure is no file");
}

/// Decodes a percent-encoded text of a URL.
fn decoded(text: &str) -> String {
    let mut bytes = Vec::new();
    let mut rest = text.as_bytes();
    while let [first, others @ ..] = rest {
        rest = others;
        match (first, others) {
            (b'%', [high, low, others @ ..]) => {
                let digits = [*high, *low];
                let digits = std::str::from_utf8(&digits).unwrap();
                bytes.push(u8::from_str_radix(digits, 16).unwrap());
                rest = others;
            }
            _ => bytes.push(*first),
        }
    }
    String::from_utf8(bytes).unwrap()
}

#[test]
fn policy_of_a_page_allows_its_own_style_and_script() {
    let place = recorded();
    let page = page_of(&place, "r.assay", &[]);
    for element in ["style", "script"] {
        let (begin, end) = (format!("<{element}>"), format!("</{element}>"));
        let text = page.split(&begin).nth(1).unwrap().split(&end).next().unwrap();
        let hash = base64(&Sha256::digest(text.as_bytes()));
        assert!(page.contains(&format!("{element}-src 'sha256-{hash}'")), "{element}: {hash}");
    }
    assert!(!page.contains("connect-src"), "nothing is asked of a server");
}

/// Encodes bytes (RFC 4648, section 4).
pub(crate) fn base64(bytes: &[u8]) -> String {
    const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let group = |chunk: &[u8]| {
        let byte = |place: usize| u32::from(chunk.get(place).copied().unwrap_or(0));
        let word = byte(0) << 16 | byte(1) << 8 | byte(2);
        let digit = |place: usize| match place <= chunk.len() {
            true => char::from(ALPHABET[(word >> (18 - 6 * place) & 63) as usize]),
            false => '=',
        };
        (0..4).map(digit).collect::<String>()
    };
    bytes.chunks(3).map(group).collect()
}

#[test]
fn records_of_version_1_have_pages() {
    for (name, code) in [("virtual", 0), ("sqlite", 3), ("postgres", 3), ("killed", 0)] {
        let place = TestFolder::new();
        for end in ["", "-journal"] {
            let file = format!("{name}.assay{end}");
            let packed = Path::new(env!("CARGO_MANIFEST_DIR"))
                .join("tests/fixtures/records-v1")
                .join(format!("{file}.gz"));
            if let Ok(packed) = File::open(packed) {
                let mut unpacked = File::create(place.at(&file)).unwrap();
                io::copy(&mut GzDecoder::new(packed), &mut unpacked).unwrap();
            }
        }
        let record = format!("{name}.assay");
        check_page(&page_of(&place, &record, &[]));
        place.assay(&["report", &record, "--html", "again.html"]).expect(code);
    }
}

#[test]
fn run_without_requests_has_a_page_that_says_why_it_is_empty() {
    let place = TestFolder::with("duration = 1s\n[read]\nquery = select 1\nrate = 0.001\n");
    let document = place.run_virtually("sim:mm1?service=10ms", &["--seed", "3"]).json();
    assert_eq!(document["jobs"][0]["scheduled"], 0, "{document}");
    let page = page_of(&place, "r.assay", &[]);
    check_page(&page);
    assert!(page.contains("No request of this job was answered"), "{page}");
}

#[test]
fn run_of_a_second_has_figures() {
    let place = TestFolder::with("duration = 1s\n[read]\nquery = select 1\nrate = 200\n");
    let document = place.run_virtually("sim:mm1?service=1ms", &[]).json();
    assert!(document["jobs"][0]["completed"].as_u64() > Some(100), "{document}");
    let page = page_of(&place, "r.assay", &[]);
    check_page(&page);
    for title in ["Throughput over time", "Response times over time: read", "Percentiles: read"] {
        let figure = page.split("<figure").find(|it| it.contains(title));
        let figure = figure.unwrap_or_else(|| panic!("{title} is missing"));
        assert!(figure.contains("data-plot=") && figure.contains("<path"), "{title}: {figure}");
    }
}

#[test]
fn experiment_has_a_page_with_effects_and_pairs() {
    let place = TestFolder::with(
        "url = sim:mm1?service=1ms\nduration = 5s\n[read]\nquery = select 1\nconcurrency = 2\n",
    );
    place.write(
        "e.ini",
        "[question]\nask = Is <b>slow</b> slower?\nworkload = w.ini\n\
         bet = throughput(read) -40% .. -10%\nrounds = 6\n[arm plain]\n\
         [arm slow]\noption.service = 1.25ms\n",
    );
    let seeded = ["--seed", "1", "--quiet", "--out", "e.assay"];
    let ran = place.assay(&[&["run", "e.ini", "--virtual"][..], &seeded].concat());
    assert!(ran.code <= 3 && ran.code != 2, "{}", ran.stderr);
    let page = page_of(&place, "e.assay", &[]);
    check_page(&page);
    for shown in [
        "Is &lt;b&gt;slow&lt;/b&gt; slower?",
        "Changes with their intervals",
        "Pairs: throughput(read) of `slow` against `plain`",
        "6 interleaved pairs",
        "Runs, in the order",
        "No check objected in 12 runs.</p>",
        "Environment</h2>",
        "Servers and their settings</h2>",
        "assay.version",
        "option.service = 1.25ms",
        "\nconcurrency = 2",
    ] {
        assert!(page.contains(shown), "{shown}");
    }
    let full = place.assay(&["report", "e.assay", "--full"]).stdout;
    let (_, behind) = full.split_once("\nrepeat ").expect("the end of the answer");
    for shown in ["\nchecks\n", "assay.version: ", "\nexperiment\n", "\n  concurrency = 2\n"] {
        assert!(behind.contains(shown), "{shown}: {behind}");
    }
    let listed = place.assay(&["report", "e.assay", "--figures"]).expect(0);
    assert!(listed.stdout.contains("pairs.throughput(read).slow"), "{}", listed.stdout);
    let effects = place.assay(&["report", "e.assay", "--svg", "effects"]).expect(0).stdout;
    for shown in [">±1 %</text>", ">bet -", "too small to matter"] {
        assert!(effects.contains(shown), "{shown}: {effects}");
    }
    fs::remove_file(place.at("e.assay.html")).unwrap();
    check_page(&page_of(&place, "e.assay", &["--run", "1"]));
}

#[test]
fn sweep_has_a_page_with_its_curves() {
    let place = TestFolder::with(
        "url = sim:usl?service=1ms&contention=0.02&coherency=0.004\nduration = 5s\n[read]\n\
         query = select 1\nconcurrency = 1\n",
    );
    place.write(
        "s.ini",
        "[question]\nask = How many clients?\nworkload = w.ini\n[sweep]\n\
         vary = concurrency(read): 1..64 x2\nbest = highest throughput(read)\n",
    );
    place.assay(&["run", "s.ini", "--virtual", "--quiet", "--out", "s.assay"]).expect(0);
    let listed = place.assay(&["report", "s.assay", "--figures"]).expect(0).stdout;
    let names: Vec<&str> =
        listed.lines().map(|line| line.split_once("  ").unwrap().0.trim()).collect();
    assert_eq!(names, ["throughput", "response", "response-model", "cpu"]);
    assert!(listed.contains("the fitted law has its peak at 15."), "{listed}");
    assert!(listed.contains("No component's processor time"), "{listed}");
    let page = page_of(&place, "s.assay", &[]);
    check_page(&page);
    let (answer, others) = page.split_once("<section id=\"question\"").unwrap();
    assert!(answer.contains("concurrency(read) = 16: highest throughput(read), "), "{answer}");
    for shown in ["predicted peak 15.", "best: highest throughput(read)", "a run</text>"] {
        assert!(answer.contains(shown), "{shown}");
    }
    assert_eq!(answer.matches("<bdi>limiter</bdi></dt>").count(), 1, "{answer}");
    assert!(answer.contains("<bdi>at 16"), "{answer}");
    for shown in ["Points", "Response-time model", "contention σ", "± is half", "<bdi>64</bdi>"] {
        assert!(others.contains(shown), "{shown}");
    }
    assert!(!page.contains("There is no comparison yet"));
    fs::remove_file(place.at("s.assay.html")).unwrap();
    assert_eq!(page_of(&place, "s.assay", &[]), page);
}

#[test]
fn comparison_has_a_page_and_figures_with_its_limits() {
    let place = TestFolder::with("duration = 5s\n[read]\nquery = select 1\nconcurrency = 2\n");
    for (seed, service) in [(1, "1ms"), (2, "1ms"), (3, "1.2ms"), (4, "1.2ms")] {
        let (url, seed) = (format!("sim:mm1?service={service}"), seed.to_string());
        let out = format!("{service}-{seed}.assay");
        let args = ["run", "w.ini", "--virtual", "--quiet", "--url", &url, "--seed", &seed];
        let _ = place.assay(&[&args[..], &["--out", &out]].concat());
    }
    let compare = ["compare", "1ms-*.assay", "1.2ms-*.assay", "--fail-on", "throughput < -3%"];
    let plain = place.assay(&compare).expect(1);
    let ran = place.assay(&[&compare[..], &["--html", "c.html"]].concat()).expect(1);
    assert_eq!(ran.stdout, plain.stdout);
    let page = fs::read_to_string(place.at("c.html")).unwrap();
    check_page(&page);
    let metrics = "aria-label=\"Metrics of `1.2ms-*.assay`";
    for shown in ["Not interleaved", metrics, "exceeded in", "limit &lt; -3%"] {
        assert!(page.contains(shown), "{shown}");
    }
    assert!(!page.contains("of both runs"), "several runs are no overlay");
    let single = place.assay(&["compare", "1ms-1.assay", "1.2ms-3.assay", "--figures"]).expect(0);
    assert!(single.stdout.starts_with("overlay.throughput.read "), "{}", single.stdout);
    let listed = place.assay(&[&compare[..], &["--figures"]].concat()).expect(0).stdout;
    assert!(listed.starts_with("effects  1 of 1 declared change lies"), "{listed}");
    let drawn = place.assay(&[&compare[..], &["--svg", "effects"]].concat()).expect(0).stdout;
    assert!(drawn.contains(">limit &lt; -3%</text>"), "{drawn}");
}

#[test]
fn overload_shows_its_queue_and_withholds_its_times() {
    let place = TestFolder::with("duration = 20s\n[over]\nquery = select 1\nrate = 700\n");
    let _ = place.run_virtually("sim:mm1?service=2ms", &[]);
    let page = page_of(&place, "r.assay", &[]);
    let (answer, others) = page.split_once("<section id=\"figures\"").unwrap();
    assert!(answer.contains("Requests in progress") && answer.contains("Throughput over time"));
    assert!(others.matches("Withheld: the load exceeds the capacity").count() >= 4, "{others}");
    let calm = TestFolder::with("duration = 20s\n[over]\nquery = select 1\nrate = 70\n");
    let _ = calm.run_virtually("sim:mm1?service=2ms", &[]);
    assert!(!page_of(&calm, "r.assay", &[]).contains("Withheld"));
}

#[test]
fn outage_of_a_server_is_an_area_and_its_errors_have_a_figure() {
    let place = TestFolder::with("duration = 20s\n[read]\nquery = select 1\nrate = 100\n");
    let _ = place.run_virtually("sim:mm1?service=1ms&outage=5s..8s", &[]);
    let listed = place.assay(&["report", "r.assay", "--figures"]).expect(0);
    assert!(listed.stdout.contains("disconnect."), "{}", listed.stdout);
    let drawn = place.assay(&["report", "r.assay", "--svg", "errors"]).expect(0);
    assert!(drawn.stdout.contains(">outage</text>"), "{}", drawn.stdout);
}
