//! Tests of the pipelines of docs/ci.md: their YAML is parsed, and their scripts run on simulated
//! servers.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command;

use saphyr_parser::{Event, Parser};

use crate::support::{CommandResult, TestFolder};

/// A node of a YAML document.
#[derive(Clone, Debug, PartialEq)]
enum Node {
    Scalar(String),
    List(Vec<Node>),
    Map(Vec<(String, Node)>),
}

/// Parses a document; panics if it is not YAML.
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

    /// Returns the scripts of a pipeline. Each script ends at its first failure.
    fn scripts(&self) -> Vec<String> {
        let entries = match self {
            Node::Scalar(_) => return Vec::new(),
            Node::List(items) => return items.iter().flat_map(Node::scripts).collect(),
            Node::Map(entries) => entries,
        };
        let mut scripts = Vec::new();
        let mut job = Vec::new();
        for (key, node) in entries {
            match (key.as_str(), node) {
                ("run", Node::Scalar(text)) => scripts.push(text.clone()),
                ("before_script" | "script", Node::List(lines)) => {
                    job.extend(lines.iter().map(Node::text));
                }
                _ => scripts.extend(node.scripts()),
            }
        }
        scripts.extend((!job.is_empty()).then(|| job.join("\n")));
        scripts
    }

    /// Returns the variables of a job.
    fn variables(&self, key: &str) -> Vec<(String, String)> {
        let Node::Map(entries) = self.get(key) else { panic!("no map: {self:?}") };
        entries.iter().map(|(name, value)| (name.clone(), value.text().to_owned())).collect()
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

/// A stand-in for `assay` that replaces the servers of the pipeline: by SQLite databases when it
/// loads tables, and by simulated servers otherwise. Requests take longer on the server with the
/// change.
const ASSAY: &str = r#"#!/bin/sh
command=$1
shift
for word; do
    shift
    case $command-$word in
        load-*@localhost:5432/* | load-*@main/*) word=sqlite:main.db ;;
        load-*@localhost:5433/* | load-*@change/*) word=sqlite:change.db ;;
        *-*@localhost:5432/* | *-*@main/*) word='sim:mm1?service=1ms' ;;
        *-*@localhost:5433/* | *-*@change/*) word='sim:mm1?service=1.2ms' ;;
    esac
    set -- "$@" "$word"
done
[ "$command" != run ] || set -- --virtual --seed "$(ls | wc -l)" "$@"
exec "$ASSAY" "$command" "$@"
"#;

/// A stand-in for `git` that shows the file of the other branch.
const GIT: &str = "#!/bin/sh\n[ \"$1\" != show ] || cat bench/schema.ini\n";

/// Creates a folder with the files of the page and the programs of a pipeline.
fn bench(page: &str) -> TestFolder {
    let place = TestFolder::new();
    for folder in ["bench", "tools", "programs"] {
        fs::create_dir(place.at(folder)).unwrap();
    }
    for block in blocks(page, "ini") {
        let name = block.lines().next().unwrap().trim_start_matches("; ").to_owned();
        let simulated = block
            .replace("postgres://postgres@localhost:5432/postgres", "sim:mm1?service=1ms")
            .replace("postgres://postgres@localhost:5433/postgres", "sim:mm1?service=1.2ms");
        place.write(&format!("bench/{name}"), simulated);
    }
    for (name, text) in [("tools/assay", ASSAY), ("programs/git", GIT)] {
        place.write(name, text);
        fs::set_permissions(place.at(name), fs::Permissions::from_mode(0o755)).unwrap();
    }
    place
}

/// Runs a script of a pipeline with the variables of its job.
fn run(place: &TestFolder, script: &str, variables: &[(String, String)]) -> CommandResult {
    let [tools, programs] = ["tools", "programs"].map(|name| place.at(name).display().to_string());
    let path = format!("{tools}:{programs}:/usr/bin:/bin");
    let mut command = Command::new("sh");
    command.args(["-e", "-c", script]);
    place.run_in_folder(&mut command);
    command.envs(variables.iter().cloned()).env("PATH", path);
    command.env("ASSAY", env!("CARGO_BIN_EXE_assay"));
    for file in ["GITHUB_PATH", "GITHUB_STEP_SUMMARY"] {
        command.env(file, place.at(file));
    }
    CommandResult::of(&mut command)
}

#[test]
fn pipelines_of_the_guide_run_as_written() {
    let page = page();
    let pipelines: Vec<Node> = blocks(&page, "yaml").iter().map(|yaml| parse(yaml)).collect();
    let [github, gitlab] = pipelines.as_slice() else { panic!("{pipelines:?}") };
    let github = (github, github.get("jobs").get("benchmark").variables("env"));
    let gitlab = (gitlab, gitlab.get("benchmark").variables("variables"));
    for (pipeline, variables) in [github, gitlab] {
        let place = bench(&page);
        let scripts = pipeline.scripts();
        let all = scripts.join("\n");
        let has = |name: &str| all.contains(&format!("assay {name} "));
        assert!(has("load") && has("run") && has("compare"), "{all}");
        // Scripts use only `assay`, and programs that every image has.
        for other in ["psql", "createdb", "gh "] {
            assert!(!all.contains(other), "{all}");
        }
        for script in &scripts {
            // The simulated change lowers the throughput by more than 3 %.
            let code = i32::from(script.contains("assay compare"));
            run(&place, script, &variables).expect(code);
        }
        assert!(place.at("main.db").exists() && place.at("change.db").exists());
        assert!(place.at("change.xml").exists());
        let answer = fs::read_to_string(place.at("change.md")).unwrap();
        assert!(answer.contains(" lowers throughput(read) by "), "{answer}");
    }
}

#[test]
fn pipelines_of_the_guide_have_the_servers_and_artifacts_that_they_name() {
    let pipelines: Vec<Node> = blocks(&page(), "yaml").iter().map(|yaml| parse(yaml)).collect();
    let github = pipelines[0].get("jobs").get("benchmark");
    let ports = ["main", "change"].map(|name| {
        let server = github.get("services").get(name);
        assert_eq!(server.get("image").text(), "postgres:18");
        server.get("ports").items()[0].text().to_owned()
    });
    assert_eq!(ports, ["5432:5432", "5433:5432"]);
    let gitlab = pipelines[1].get("benchmark");
    let aliases: Vec<&str> =
        gitlab.get("services").items().iter().map(|server| server.get("alias").text()).collect();
    assert_eq!(aliases, ["main", "change"]);
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
