//! The pipelines of docs/ci.md: their YAML is read, and their commands run on a simulated server.

use std::fs;
use std::path::Path;

use saphyr_parser::{Event, Parser};

use crate::support::Place;

/// A node of a YAML document.
#[derive(Clone, Debug, PartialEq)]
enum Node {
    Scalar(String),
    List(Vec<Node>),
    Map(Vec<(String, Node)>),
}

/// Parses a document; panics if it is no YAML.
fn parse(yaml: &str) -> Node {
    let events = Parser::new_from_str(yaml).map(|event| event.unwrap().0);
    let mut events = events.filter(|event| {
        !matches!(event, Event::Nothing | Event::StreamStart | Event::DocumentStart(_))
    });
    let first = events.next().unwrap();
    node(first, &mut events).unwrap()
}

/// Returns the node that an event begins; `None` at the end of a list or map.
fn node<'e>(event: Event<'e>, events: &mut impl Iterator<Item = Event<'e>>) -> Option<Node> {
    let next = |events: &mut _| {
        let event = Iterator::next(events).unwrap();
        node(event, events)
    };
    match event {
        Event::Scalar(text, ..) => Some(Node::Scalar(text.into_owned())),
        Event::SequenceStart(..) => {
            let mut items = Vec::new();
            while let Some(item) = next(events) {
                items.push(item);
            }
            Some(Node::List(items))
        }
        Event::MappingStart(..) => {
            let mut entries = Vec::new();
            while let Some(key) = next(events) {
                let Node::Scalar(key) = key else { panic!("a key is a text: {key:?}") };
                entries.push((key, next(events).unwrap()));
            }
            Some(Node::Map(entries))
        }
        _ => None,
    }
}

impl Node {
    fn get(&self, key: &str) -> &Node {
        let Node::Map(entries) = self else { panic!("no map: {self:?}") };
        let entry = entries.iter().find(|(name, _)| name == key);
        &entry.unwrap_or_else(|| panic!("no {key}: {self:?}")).1
    }

    fn items(&self) -> &[Node] {
        let Node::List(items) = self else { panic!("no list: {self:?}") };
        items
    }

    fn text(&self) -> &str {
        let Node::Scalar(text) = self else { panic!("no text: {self:?}") };
        text
    }

    /// Returns the texts of all entries with one of these keys, wherever they are.
    fn scripts(&self) -> Vec<String> {
        match self {
            Node::Scalar(_) => Vec::new(),
            Node::List(items) => items.iter().flat_map(Node::scripts).collect(),
            Node::Map(entries) => entries
                .iter()
                .flat_map(|(key, node)| match key.as_str() {
                    "run" => vec![node.text().to_owned()],
                    "before_script" | "script" | "after_script" => {
                        node.items().iter().map(|line| line.text().to_owned()).collect()
                    }
                    _ => node.scripts(),
                })
                .collect(),
        }
    }
}

fn page() -> String {
    fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/ci.md")).unwrap()
}

/// Returns the blocks of the page that begin with this fence.
fn blocks(page: &str, fence: &str) -> Vec<String> {
    let block = |rest: &str| rest.split("\n```").next().unwrap().to_owned();
    page.split(&format!("```{fence}\n")).skip(1).map(block).collect()
}

/// Returns the commands of a pipeline that run `assay`.
fn commands(pipeline: &Node) -> Vec<Vec<String>> {
    let scripts = pipeline.scripts();
    let lines = scripts.iter().flat_map(|script| script.lines());
    let words = |line: &str| {
        let command = line.trim().strip_prefix("tools/").unwrap_or(line.trim());
        let command = command.strip_prefix("assay ")?;
        Some(words_of(command).into_iter().take_while(|word| word != ">").collect())
    };
    lines.filter_map(words).collect()
}

/// Returns the words of a command of the shell, which may have single quotes.
fn words_of(command: &str) -> Vec<String> {
    let mut words = Vec::new();
    for (place, part) in command.split('\'').enumerate() {
        match place % 2 {
            0 => words.extend(part.split_whitespace().map(str::to_owned)),
            _ => words.push(part.to_owned()),
        }
    }
    words
}

/// Creates a folder with the files of the page, whose servers are simulated.
fn bench(page: &str) -> Place {
    let place = Place::new();
    fs::create_dir(place.at("bench")).unwrap();
    for block in blocks(page, "ini") {
        let name = block.lines().next().unwrap().trim_start_matches("; ").to_owned();
        let simulated = block
            .replace("postgres://postgres@localhost/main", "sim:mm1?service=1ms")
            .replace("postgres://postgres@localhost/change", "sim:mm1?service=1.2ms");
        place.write(&format!("bench/{name}"), simulated);
    }
    place
}

#[test]
fn pipelines_of_the_guide_run_as_written() {
    let page = page();
    let pipelines: Vec<Node> = blocks(&page, "yaml").iter().map(|yaml| parse(yaml)).collect();
    assert_eq!(pipelines.len(), 2);
    for pipeline in &pipelines {
        let place = bench(&page);
        let commands = commands(pipeline);
        let has = |name: &str| commands.iter().any(|words| words[0] == name);
        assert!(has("run") && has("compare") && has("report"), "{pipeline:?}");
        for command in &commands {
            let mut words: Vec<&str> = command.iter().map(String::as_str).collect();
            if words[0] == "run" {
                words.push("--virtual");
            }
            // The simulated change lowers the throughput by more than 3 %.
            let code = i32::from(words[0] == "compare");
            let ran = place.assay(&words).expect(code);
            if words.contains(&"--markdown") {
                assert!(ran.stdout.contains("change lowers throughput(read)"), "{}", ran.stdout);
            }
        }
        assert!(place.at("change.assay").exists() && place.at("change.xml").exists());
    }
}

#[test]
fn pipelines_of_the_guide_have_the_servers_and_artifacts_that_they_name() {
    let pipelines: Vec<Node> = blocks(&page(), "yaml").iter().map(|yaml| parse(yaml)).collect();
    let github = pipelines[0].get("jobs").get("benchmark");
    assert_eq!(github.get("services").get("postgres").get("image").text(), "postgres:18");
    let gitlab = pipelines[1].get("benchmark");
    let junit = gitlab.get("artifacts").get("reports").get("junit");
    assert_eq!(junit.text(), "change.xml");
    let password = gitlab.get("variables").get("ASSAY_PASSWORD").text();
    assert_eq!(password, gitlab.get("variables").get("POSTGRES_PASSWORD").text());
}

#[test]
fn yaml_that_cannot_be_read_is_noticed() {
    let read = |yaml: &'static str| std::panic::catch_unwind(|| parse(yaml));
    assert!(read("a: [1, 2").is_err());
    assert!(read("a: b: c").is_err());
    assert!(read("a: |\n  x\n  y\nb: [c]").is_ok());
}
