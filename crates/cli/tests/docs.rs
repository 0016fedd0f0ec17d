//! Tests that the guide is true: its workload files are accepted, its commands run, the output
//! shown is the program's, its links resolve, and it is complete.
//!
//! A page is a script. A workload file whose first line is a comment with a name, `; shop.ini`, is
//! written under that name into a folder for the page. The page's blocks `file NAME` are written
//! there, too. The page's commands run in this folder, in order. Commands in virtual time run as
//! written, and a `text` block after one is compared with its output; runs against a real database
//! are shortened.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicU32, Ordering};

use workload::keys;

/// A fenced block of a page.
#[derive(Clone, Debug, PartialEq)]
struct Block {
    /// The info string after the fence: `ini`, `ini error`, `sh`, `text`.
    info: String,
    /// The number of the line after the fence.
    line: usize,
    text: String,
}

/// A page of the repository, with its name for messages.
#[derive(Clone, Debug)]
struct Page {
    name: String,
    text: String,
}

impl Page {
    fn new(name: &str, text: &str) -> Page {
        Page { name: name.to_owned(), text: text.to_owned() }
    }

    /// Returns the fenced blocks, in order.
    fn blocks(&self) -> Vec<Block> {
        let mut blocks = Vec::new();
        let mut open: Option<Block> = None;
        for (number, line) in self.text.lines().enumerate() {
            match (line.strip_prefix("```"), open.take()) {
                (Some(_), Some(block)) => blocks.push(block),
                (Some(info), None) => {
                    let (info, line) = (info.trim().to_owned(), number + 2);
                    open = Some(Block { info, line, text: String::new() });
                }
                (None, Some(mut block)) => {
                    block.text.push_str(line);
                    block.text.push('\n');
                    open = Some(block);
                }
                (None, None) => {}
            }
        }
        assert_eq!(open, None, "{}: a block is not closed", self.name);
        blocks
    }

    /// Returns the lines outside of fenced and indented blocks, with their numbers from 1.
    fn prose(&self) -> Vec<(usize, String)> {
        let mut prose = Vec::new();
        let mut inside = false;
        for (number, line) in self.text.lines().enumerate() {
            if line.starts_with("```") {
                inside = !inside;
            } else if !inside && !line.starts_with("    ") {
                prose.push((number + 1, line.to_owned()));
            }
        }
        prose
    }
}

fn root() -> PathBuf {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    root.canonicalize().expect("the checkout is there")
}

/// Returns every page of the repository, named by its path from the root.
fn pages() -> Vec<Page> {
    let root = root();
    let mut pages = Vec::new();
    let mut folders = vec![root.clone()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).expect("a readable folder") {
            let path = entry.expect("an entry").path();
            let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            if path.is_dir() {
                let foreign = name.starts_with('.') || name == "target" || name == "node_modules";
                if !foreign {
                    folders.push(path);
                }
            } else if name.ends_with(".md") {
                let name = path.strip_prefix(&root).expect("below the root").to_string_lossy();
                pages.push(Page::new(&name, &fs::read_to_string(&path).expect("a text")));
            }
        }
    }
    pages.sort_by(|a, b| a.name.cmp(&b.name));
    pages
}

/// Returns the pages with blocks for readers to try: the guide and the README.
fn guide() -> Vec<Page> {
    let is_guide = |page: &Page| page.name.starts_with("docs/") || page.name == "README.md";
    let guide: Vec<Page> =
        pages().into_iter().filter(|page| is_guide(page) && !is_decision(&page.name)).collect();
    assert!(guide.len() >= 8, "the guide is not where it is looked for");
    guide
}

/// Returns true if a page is a record of a decision; such pages may be outdated.
fn is_decision(name: &str) -> bool {
    name.starts_with("docs/decisions/")
}

fn page(name: &str) -> Page {
    let found = guide().into_iter().find(|page| page.name == name);
    found.unwrap_or_else(|| panic!("there is no {name}"))
}

/// A temporary folder, removed with its content when it is dropped.
struct Folder(PathBuf);

impl Folder {
    fn new() -> Folder {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let name = format!("docs-{}-{number}", std::process::id());
        let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
        fs::create_dir_all(&path).expect("a folder");
        Folder(path)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// The result of a command.
#[derive(Debug)]
struct CommandResult {
    code: i32,
    stdout: String,
    stderr: String,
}

fn assay(folder: &Path, words: &[String]) -> CommandResult {
    let output = Command::new(env!("CARGO_BIN_EXE_assay"))
        .args(words)
        .current_dir(folder)
        .env("NO_COLOR", "1")
        .env("XDG_STATE_HOME", folder.join("state"))
        .output()
        .expect("the program starts");
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    CommandResult {
        code: output.status.code().unwrap_or(-1),
        stdout: text(&output.stdout),
        stderr: text(&output.stderr),
    }
}

fn words(line: &[&str]) -> Vec<String> {
    line.iter().map(|word| (*word).to_owned()).collect()
}

// Workload files.

/// Returns the name that a block gives its file: `; shop.ini` in its first line.
fn file_name(block: &Block) -> Option<&str> {
    let name = block.text.lines().next()?.strip_prefix("; ")?.trim();
    name.ends_with(".ini").then_some(name)
}

/// Returns the error of a workload file on a page, if any.
fn file_complaint(folder: &Path, page: &Page, block: &Block) -> Option<String> {
    let is_wrong = match block.info.as_str() {
        "ini" => false,
        "ini error" => true,
        _ => return None,
    };
    let name = file_name(block).unwrap_or("block.ini");
    fs::write(folder.join(name), &block.text).expect("a file");
    let ran = assay(folder, &words(&["check", name]));
    let place = format!("{}:{}", page.name, block.line);
    match (is_wrong, ran.code) {
        (false, 0) if ran.stderr.is_empty() => None,
        (true, 2) => None,
        (true, _) => Some(format!("{place}: this file should be rejected, and is not")),
        (false, _) => Some(format!("{place}: this file is not accepted:\n{}", ran.stderr)),
    }
}

/// Writes the input files of a page's workloads: blocks with the info string `file NAME`.
fn write_files(folder: &Path, page: &Page) {
    for block in page.blocks() {
        if let Some(name) = block.info.strip_prefix("file ") {
            fs::write(folder.join(name), &block.text).expect("a file");
        }
    }
}

fn file_complaints(page: &Page) -> Vec<String> {
    let folder = Folder::new();
    write_files(&folder.0, page);
    let blocks = page.blocks();
    blocks.iter().filter_map(|block| file_complaint(&folder.0, page, block)).collect()
}

#[test]
fn every_workload_file_of_the_guide_is_accepted_and_every_wrong_one_rejected() {
    let complaints: Vec<String> = guide().iter().flat_map(file_complaints).collect();
    assert!(complaints.is_empty(), "{}", complaints.join("\n"));
}

#[test]
fn a_wrong_file_and_one_that_should_be_wrong_are_noticed() {
    let good = "```ini\n[a]\nquery = select 1\n```\n";
    let bad = "```ini\n[a]\nqery = select 1\n```\n";
    let warned = "```ini\n[global]\n[a]\nquery = select 1\n```\n";
    let complaints = |text: &str| file_complaints(&Page::new("p.md", text));
    assert_eq!(complaints(good), Vec::<String>::new());
    assert!(complaints(bad)[0].starts_with("p.md:2: this file is not accepted"));
    assert!(complaints(warned)[0].starts_with("p.md:2: this file is not accepted"));
    let fed = "```ini\n[a]\nquery = select ?\nquery-args-file = a.csv\n```\n";
    assert!(complaints(fed)[0].contains("there is no file `a.csv`"));
    assert_eq!(complaints(&format!("```file a.csv\n1\n```\n{fed}")), Vec::<String>::new());
    let wrong = |text: &str| text.replace("```ini", "```ini error");
    assert_eq!(complaints(&wrong(bad)), Vec::<String>::new());
    let unexpected = "p.md:2: this file should be rejected, and is not";
    assert_eq!(complaints(&wrong(good)), [unexpected]);
}

// Command lines.

/// A command of a page, with the outcome that the page shows.
#[derive(Clone, Debug, PartialEq)]
struct Step {
    line: usize,
    words: Vec<String>,
    /// The file that receives stdout, from `> hello.ini` after the command.
    into: Option<String>,
    /// The exit code: `# exit code 1` after the command, or `exit 1` in the fence for all commands
    /// of a block. The second form is for commands typed at a prompt, where some shells accept no
    /// comments.
    code: i32,
    /// The `text` blocks that follow, up to the next command.
    shown: Vec<Block>,
}

/// Returns the commands of a page that begin with `assay`.
fn steps(page: &Page) -> Vec<Step> {
    let mut steps: Vec<Step> = Vec::new();
    for block in page.blocks() {
        match block.info.as_str() {
            "sh" => steps.extend(steps_of(&block, 0)),
            exits if exits.starts_with("sh exit ") => {
                let code = exits["sh exit ".len()..].parse().expect("a number in the fence");
                steps.extend(steps_of(&block, code));
            }
            "text" => {
                if let Some(step) = steps.last_mut() {
                    step.shown.push(block);
                }
            }
            _ => {}
        }
    }
    steps
}

fn steps_of(block: &Block, usual_code: i32) -> Vec<Step> {
    let joined = block.text.replace("\\\n", " ");
    let mut steps = Vec::new();
    for (number, line) in joined.lines().enumerate() {
        let (command, remark) = line.split_once(" # ").unwrap_or((line, ""));
        let words = shell_words(command);
        if words.first().is_some_and(|word| word == "assay") {
            let code = remark.trim().strip_prefix("exit code ").and_then(|code| code.parse().ok());
            let (line, code) = (block.line + number, code.unwrap_or(usual_code));
            let into = command.split_once(" > ").map(|(_, file)| file.trim().to_owned());
            steps.push(Step { line, words: words[1..].to_vec(), into, code, shown: Vec::new() });
        }
    }
    steps
}

/// Splits a line into words like a shell. Supports only the syntax that the guide uses: quotes, and
/// `|`, `>`, `;` and `&`, at which the command ends.
fn shell_words(line: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut quote = None;
    for character in line.chars() {
        match (quote, character) {
            (Some(open), _) if open == character => quote = None,
            (Some(_), _) => word.get_or_insert_default().push(character),
            (None, '\'' | '"') => {
                quote = Some(character);
                word.get_or_insert_default();
            }
            (None, '|' | '>' | ';' | '&') => break,
            (None, _) if character.is_whitespace() => words.extend(word.take()),
            (None, _) => word.get_or_insert_default().push(character),
        }
    }
    words.extend(word);
    words
}

impl Step {
    fn has(&self, word: &str) -> bool {
        self.words.iter().any(|other| other == word)
    }

    /// Returns true if the command is a run in real time.
    fn is_real_run(&self) -> bool {
        self.has("run") && !self.has("--virtual")
    }

    /// Returns true if the output differs between machines: the command measures, or prints
    /// measurements. A command that must be refused is refused everywhere.
    fn depends_on_the_machine(&self) -> bool {
        let asks_for_help = self.has("--help");
        let runs_dbbench = self.has("dbbench") && !asks_for_help;
        let looks =
            ["report", "doctor", "observe", "calibrate"].iter().any(|command| self.has(command));
        let measures = self.is_real_run() || self.has("load") || looks || runs_dbbench;
        measures && self.code != 2
    }

    /// Returns the arguments of the command that the test runs. Runs in real time and calibrations
    /// are shortened.
    fn tried(&self) -> Vec<String> {
        let mut tried = self.words.clone();
        if self.is_real_run() {
            for (option, value) in [("--duration", "100ms"), ("--warmup", "0s")] {
                match tried.iter().position(|word| word == option) {
                    Some(place) => tried[place + 1] = value.to_owned(),
                    None => tried.extend(words(&[option, value])),
                }
            }
        }
        if self.has("calibrate") {
            tried.extend(words(&["--quick"]));
        }
        tried
    }
}

/// Returns the errors of a command: its exit code, or a difference from the output shown on the
/// page.
fn step_complaints(folder: &Path, page: &Page, step: &Step) -> Vec<String> {
    let tried = step.tried();
    let ran = assay(folder, &tried);
    if let Some(file) = &step.into {
        fs::write(folder.join(file), &ran.stdout).expect("a file");
    }
    let place = format!("{}:{}: `assay {}`", page.name, step.line, tried.join(" "));
    let is_wrong = match step.depends_on_the_machine() {
        // The verdict on a run of a tenth of a second depends on the machine, so each of these
        // codes is accepted.
        true => ![0, 1, 3].contains(&ran.code),
        false => ran.code != step.code,
    };
    if is_wrong {
        let CommandResult { code, stdout, stderr } = ran;
        return vec![format!("{place} ends with exit code {code}:\n{stdout}{stderr}")];
    }
    if step.depends_on_the_machine() {
        return Vec::new();
    }
    let missing = step.shown.iter().filter(|block| !shows(&block.text, &ran));
    missing
        .map(|block| {
            let CommandResult { stdout, stderr, .. } = &ran;
            format!("{place} does not print what line {} shows:\n{stdout}{stderr}", block.line)
        })
        .collect()
}

/// Returns true if a command printed a text. A line `…` in the text matches any number of lines.
fn shows(text: &str, ran: &CommandResult) -> bool {
    let printed: Vec<&str> = ran.stderr.lines().chain(ran.stdout.lines()).collect();
    let mut from = 0;
    let lines: Vec<&str> = text.lines().collect();
    lines.split(|line| *line == "…").filter(|part| !part.is_empty()).all(|part| {
        let place = printed[from..].windows(part.len()).position(|lines| lines == part);
        from += place.map_or(0, |place| place + part.len());
        place.is_some()
    })
}

fn command_complaints(page: &Page) -> Vec<String> {
    let folder = Folder::new();
    write_files(&folder.0, page);
    for block in page.blocks().iter().filter(|block| block.info.starts_with("ini")) {
        if let Some(name) = file_name(block) {
            fs::write(folder.0.join(name), &block.text).expect("a file");
        }
    }
    let steps = steps(page);
    steps.iter().flat_map(|step| step_complaints(&folder.0, page, step)).collect()
}

#[test]
fn every_command_of_the_guide_does_what_the_guide_says() {
    let complaints: Vec<String> = guide().iter().flat_map(command_complaints).collect();
    assert!(complaints.is_empty(), "{}", complaints.join("\n"));
    let commands: usize = guide().iter().map(|page| steps(page).len()).sum();
    assert!(commands >= 20, "{commands}");
}

#[test]
fn a_command_that_does_something_else_is_noticed() {
    let file = "```ini\n; a.ini\nduration = 60s\n[a]\nquery = select 1\nrate = 100\n```\n";
    let complaints = |commands: &str, shown: &str| {
        let text = format!("{file}```sh\n{commands}\n```\n```text\n{shown}```\n");
        command_complaints(&Page::new("p.md", &text))
    };
    let run = "assay run a.ini --url sim:mm1 --virtual --quiet";
    assert_eq!(complaints(run, "VALID: 17 checks passed, 15 not possible here\n…\n"), [""; 0]);
    let wrong = complaints(run, "VALID: 9 checks passed\n");
    assert!(wrong[0].contains("does not print what line 12 shows"), "{wrong:?}");
    let wrong = complaints("assay run a.ini --url sim:mm1 --virtuall", "");
    assert!(wrong[0].contains("ends with exit code 2"), "{wrong:?}");
    let wrong = complaints(&format!("{run} # exit code 3"), "");
    assert!(wrong[0].contains("ends with exit code 0"), "{wrong:?}");
    let fence = format!("{file}```sh exit 3\n{run}\n```\n");
    let wrong = command_complaints(&Page::new("p.md", &fence));
    assert!(wrong[0].contains("ends with exit code 0"), "{wrong:?}");
    let wrong = complaints("assay run nothing.ini", "");
    assert!(wrong[0].contains("ends with exit code 2"), "{wrong:?}");
    let into = "assay check a.ini > b.ini\nassay run b.ini --url sim:mm1 --virtual --quiet";
    assert_eq!(complaints(into, "VALID: 17 checks passed, 15 not possible here\n"), [""; 0]);
    assert_eq!(complaints("assay run a.ini --url sqlite:a.db", "anything\n"), [""; 0]);
}

#[test]
fn guide_commands_are_split_like_a_shell_does() {
    let line = "assay export 'a b.assay' --format \"csv\" > x.csv";
    assert_eq!(shell_words(line), words(&["assay", "export", "a b.assay", "--format", "csv"]));
    assert_eq!(shell_words("a '' | b"), words(&["a", ""]));
}

// Links.

/// Returns the anchor that GitHub gives a heading: lower case, without punctuation, `-` for spaces.
fn slug(heading: &str) -> String {
    let kept = heading.trim().chars().filter(|c| c.is_alphanumeric() || " -_".contains(*c));
    kept.collect::<String>().to_lowercase().replace(' ', "-")
}

/// Returns the anchors of a page; the second of two equal headings gets a number.
fn anchors(page: &Page) -> Vec<String> {
    let mut seen: BTreeMap<String, u32> = BTreeMap::new();
    let mut anchors = Vec::new();
    for (_, line) in page.prose() {
        let heading = line.trim_start_matches('#');
        if heading.len() == line.len() || !heading.starts_with(' ') {
            continue;
        }
        let slug = slug(heading);
        let times = seen.entry(slug.clone()).or_default();
        anchors.push(if *times == 0 { slug } else { format!("{slug}-{times}") });
        *times += 1;
    }
    anchors
}

/// Returns the link targets in a line: the text between `](` and `)`, outside of code.
fn targets(line: &str) -> Vec<String> {
    let mut prose = String::new();
    for (place, part) in line.split('`').enumerate() {
        // Code between backquotes is replaced by a word.
        prose.push_str(if place % 2 == 0 { part } else { "code" });
    }
    let rest = prose.split("](").skip(1);
    rest.filter_map(|rest| rest.split_once(')').map(|(target, _)| target.to_owned())).collect()
}

/// Returns the errors in the links of a page.
fn link_complaints(page: &Page, all: &[Page], root: &Path) -> Vec<String> {
    let folder = Path::new(&page.name).parent().unwrap_or(Path::new(""));
    let mut complaints = Vec::new();
    for (number, line) in page.prose() {
        for target in targets(&line) {
            if target.contains("://") || target.starts_with("mailto:") {
                continue;
            }
            let (file, anchor) = target.split_once('#').unwrap_or((&target, ""));
            let name = if file.is_empty() { page.name.clone() } else { joined(folder, file) };
            let place = format!("{}:{number}: `{target}`", page.name);
            if !root.join(&name).exists() && !all.iter().any(|page| page.name == name) {
                complaints.push(format!("{place}: there is no `{name}`"));
            } else if !anchor.is_empty() {
                let page = all.iter().find(|page| page.name == name);
                if !page.is_some_and(|page| anchors(page).iter().any(|known| known == anchor)) {
                    complaints.push(format!("{place}: `{name}` has no heading `#{anchor}`"));
                }
            }
        }
    }
    complaints
}

/// Joins a folder and a relative path, without `..`.
fn joined(folder: &Path, file: &str) -> String {
    let mut parts: Vec<String> =
        folder.iter().map(|part| part.to_string_lossy().into_owned()).collect();
    for part in file.split('/') {
        match part {
            "." | "" => {}
            ".." => {
                parts.pop();
            }
            part => parts.push(part.to_owned()),
        }
    }
    parts.join("/")
}

#[test]
fn every_link_of_the_guide_resolves() {
    let all = pages();
    let root = root();
    let complaints: Vec<String> =
        all.iter().flat_map(|page| link_complaints(page, &all, &root)).collect();
    assert!(complaints.is_empty(), "{}", complaints.join("\n"));
    let links = all.iter().flat_map(Page::prose).flat_map(|(_, line)| targets(&line)).count();
    assert!(links >= 40, "{links}");
}

#[test]
fn a_broken_link_is_noticed() {
    let a = Page::new(
        "docs/a.md",
        "# A `page`\n[good](b.md#two-words) [here](#a-page) [up](../docs/b.md)\n\
         [again](b.md#two-words-1) `[code](nowhere)` [out](https://example.org/x)\n\
         [bad](c.md) [worse](b.md#none)\n```sh\n[x](y)\n```\n",
    );
    let b = Page::new("docs/b.md", "## Two, words\n## Two words\n");
    let nowhere = Path::new("/nonexistent");
    assert_eq!(
        link_complaints(&a, &[a.clone(), b.clone()], nowhere),
        [
            "docs/a.md:4: `c.md`: there is no `docs/c.md`",
            "docs/a.md:4: `b.md#none`: `docs/b.md` has no heading `#none`",
        ]
    );
}

// Completeness.

/// Returns the names that do not occur between backquotes in a text.
fn undocumented<'n>(text: &str, names: impl IntoIterator<Item = &'n str>) -> Vec<&'n str> {
    let quoted = |name: &str| {
        let code = text.split('`').skip(1).step_by(2);
        code.into_iter().any(|code| code.split([' ', '=', ',']).any(|word| word == name))
    };
    names.into_iter().filter(|name| !quoted(name)).collect()
}

#[test]
fn omitted_name_is_noticed() {
    let text = "The key `rate` and `--url URL`, and rows.";
    assert_eq!(undocumented(text, ["rate", "--url", "rows"]), ["rows"]);
}

#[test]
fn every_key_is_in_the_reference_and_in_an_example() {
    let names = || keys::ALL.iter().map(|key| key.name);
    assert_eq!(undocumented(&page("docs/reference.md").text, names()), [""; 0]);
    let mut used = Vec::new();
    for block in guide().iter().flat_map(Page::blocks).filter(|block| block.info == "ini") {
        for line in block.text.lines() {
            used.extend(line.split_once('=').map(|(key, _)| key.trim().to_owned()));
        }
    }
    let is_shown = |key: &keys::Key| used.iter().any(|used| key.is_named(used));
    let missing: Vec<&str> =
        keys::ALL.iter().filter(|key| !is_shown(key)).map(|key| key.name).collect();
    assert_eq!(missing, [""; 0], "no example of the guide sets these keys");
}

/// Returns the JSON document of a virtual run.
fn document(file: &str, url: &str) -> serde_json::Value {
    let folder = Folder::new();
    fs::write(folder.0.join("a.ini"), file).expect("a file");
    let line = ["run", "a.ini", "--url", url, "--virtual", "--json", "--quiet"];
    let ran = assay(&folder.0, &words(&line));
    serde_json::from_str(&ran.stdout).unwrap_or_else(|error| panic!("{error}: {}", ran.stderr))
}

const OPEN: &str = "duration = 60s\n[a]\nquery = select 1\nrate = 100\n";
const CLOSED: &str = "duration = 60s\n[a]\nquery = select 1\n";

#[test]
fn every_check_has_a_heading_and_every_heading_is_a_check() {
    let document = document(OPEN, "sim:mm1");
    let checks = document["verdict"]["checks"].as_array().expect("checks");
    let mut names: Vec<&str> = checks.iter().filter_map(|check| check["name"].as_str()).collect();
    let text = page("docs/checks.md").text;
    let mut headings: Vec<&str> =
        text.lines().filter_map(|line| line.strip_prefix("### ")).collect();
    names.sort_unstable();
    headings.sort_unstable();
    assert_eq!(names, headings);
}

/// Returns the checks of a page, each with the advice of its section on one line.
fn sections(text: &str) -> Vec<(&str, String)> {
    let sections = text.split("\n### ").skip(1);
    let sections = sections.filter_map(|section| {
        let (name, body) = section.split_once('\n')?;
        // A following chapter is not a part of the last section.
        let body = body.split("\n## ").next()?;
        let advice: Vec<&str> =
            body.trim_start().split("\n\n").filter(|it| it.starts_with(ADVICE)).collect();
        let advice = advice.join(" ").split_whitespace().collect::<Vec<_>>().join(" ");
        Some((name, advice))
    });
    sections.collect()
}

/// The start of the paragraph with the remedy.
const ADVICE: &str = "What to do: ";

#[test]
fn advice_on_each_check_begins_with_the_remedy_that_the_answer_prints() {
    let text = page("docs/checks.md").text;
    let sections = sections(&text);
    assert!(!sections.is_empty());
    for (name, advice) in sections {
        let check = analyze::CheckKind::ALL.into_iter().find(|check| check.name() == name);
        let remedy = report::remedy(check.unwrap_or_else(|| panic!("{name} is no check")));
        let rest = advice.strip_prefix(ADVICE).and_then(|advice| advice.strip_prefix(remedy));
        let is_whole = rest.is_some_and(|rest| rest.starts_with(['.', ':', ' ']));
        assert!(is_whole, "{name}: `{advice}` does not begin with `{remedy}`");
        assert_eq!(advice.matches(ADVICE).count(), 1, "{name}");
    }
}

#[test]
fn advice_is_extracted_from_its_section() {
    let text = "# A\n\n### a\n\nB.\n\nWhat to do:\n  x. y\n\n### b\n\nWhat to do: z\nw.\n\n## C\n";
    assert_eq!(sections(text), [("a", String::new()), ("b", "What to do: z w.".to_owned())]);
}

#[test]
fn every_limiter_is_explained() {
    let text = page("docs/limiter.md").text;
    let names = analyze::Component::ALL.map(analyze::Component::name);
    assert_eq!(undocumented(&text, names), [""; 0]);
    for (file, url, limiter) in [
        (OPEN, "sim:mm1", "not-saturated"),
        (CLOSED, "sim:mm1", "unknown"),
        (OPEN, "sim:mmc?service=1s&servers=unlimited&max-connections=4", "connections"),
    ] {
        let document = document(file, url);
        assert_eq!(document["limiter"]["component"], limiter, "{url}");
        assert_eq!(undocumented(&text, [limiter]), [""; 0]);
    }
}

/// Returns the help of a command.
fn help(command: &[&str]) -> String {
    let folder = Folder::new();
    assay(&folder.0, &words(&[command, &["--help"]].concat())).stdout
}

#[test]
fn every_command_option_and_exit_code_is_on_the_page_of_the_command_line() {
    let text = page("docs/command-line.md").text;
    let commands = [
        "run",
        "check",
        "load",
        "report",
        "compare",
        "history",
        "serve",
        "repeat",
        "note",
        "publish",
        "explain",
        "export",
        "doctor",
        "observe",
        "calibrate",
        "dbbench",
        "workloads",
        "selftest",
    ];
    let all = help(&[]);
    let listed = all.lines().skip_while(|line| *line != "Commands:").skip(1);
    let listed: Vec<&str> = listed
        .take_while(|line| !line.is_empty())
        .filter_map(|line| line.split_whitespace().next())
        .collect();
    assert_eq!(listed, commands);
    for command in commands {
        assert!(text.contains(&format!("### assay {command}\n")), "{command}");
        let help = help(&[command]);
        let options: Vec<&str> = help
            .lines()
            .take_while(|line| !line.starts_with("WORKLOAD FILE"))
            .filter_map(|line| line.trim_start().strip_prefix("--"))
            .filter_map(|rest| rest.split([' ', '[']).next())
            .collect();
        assert!(!options.is_empty() || matches!(command, "workloads" | "explain"), "{help}");
        let options: Vec<String> = options.iter().map(|name| format!("--{name}")).collect();
        assert_eq!(undocumented(&text, options.iter().map(String::as_str)), [""; 0]);
    }
    let codes = all.split("Exit codes:").nth(1).expect("exit codes");
    for code in codes.split(|c: char| !c.is_ascii_digit()).filter(|code| !code.is_empty()) {
        assert!(text.contains(&format!("\n| {code} |")), "exit code {code}");
    }
}

#[test]
fn every_fact_of_a_record_and_every_check_of_the_doctor_is_explained() {
    let text = page("docs/environment.md").text;
    let folder = Folder::new();
    fs::write(folder.0.join("a.ini"), "duration = 10ms\n[a]\nquery = select 1\n").expect("a file");
    assay(&folder.0, &words(&["run", "a.ini", "--quiet", "--out", "a.assay"]));
    let shown = assay(&folder.0, &words(&["report", "a.assay", "--environment", "--json"]));
    let facts: serde_json::Value = serde_json::from_str(&shown.stdout).expect("a document");
    let names = || facts.as_object().expect("names").keys().map(String::as_str);
    let of_host: Vec<&str> = names().filter(|name| name.starts_with("host.")).collect();
    assert!(of_host.len() >= 35, "{of_host:?}");
    assert_eq!(undocumented(&text, of_host), [""; 0]);
    let calibrated = page("docs/calibrate.md").text;
    let by_route = |name: &str| {
        let of = |text: String, route| text.replace(&format!(".{route}."), ".ROUTE.");
        ["null", "postgres", "mysql", "sqlite"].into_iter().fold(name.to_owned(), of)
    };
    let figures: Vec<String> = names()
        .filter(|name| name.starts_with("calibration.") && !name.ends_with("hand_off_us"))
        .map(by_route)
        .collect();
    assert_eq!(figures.len(), 27, "{figures:?}");
    assert_eq!(undocumented(&calibrated, figures.iter().map(String::as_str)), [""; 0]);
    let looked = assay(&folder.0, &words(&["doctor", "--json"])).stdout;
    let document: serde_json::Value = serde_json::from_str(&looked).expect("a document");
    let of = |part: &str| document[part].as_array().expect("a list").clone();
    let passed = of("passed").into_iter();
    let others = [of("findings"), of("not_possible")].concat();
    let others = others.into_iter().map(|other| other["check"].clone());
    let checks: Vec<String> =
        passed.chain(others).filter_map(|name| Some(name.as_str()?.to_owned())).collect();
    assert_eq!(undocumented(&text, checks.iter().map(String::as_str)), [""; 0]);
}

/// Returns the names that an error message lists after these words.
fn listed<'m>(message: &'m str, words: &str) -> Vec<&'m str> {
    let (_, list) = message.split_once(words).unwrap_or_else(|| panic!("{message}"));
    let list = list.lines().next().unwrap_or_default();
    list.split(',').map(|name| name.split_whitespace().next().unwrap_or_default()).collect()
}

#[test]
fn every_kind_and_option_of_a_target_is_on_the_page_of_the_targets() {
    let folder = Folder::new();
    fs::write(folder.0.join("a.ini"), OPEN).expect("a file");
    let text = page("docs/targets.md").text;
    for (url, begins, at_least) in [
        ("sim:somethingelse", "the kinds are ", 6),
        ("sim:mm1?somethingelse=1", "the options are ", 15),
        ("sqlite:?somethingelse=1", "the options are ", 5),
        ("postgres://h/d?somethingelse=1", "the options are ", 8),
        ("mysql://h/d?somethingelse=1", "the options are ", 8),
    ] {
        let ran = assay(&folder.0, &words(&["run", "a.ini", "--url", url]));
        let names = listed(&ran.stderr, begins);
        assert!(names.len() >= at_least, "{names:?}");
        assert_eq!(undocumented(&text, names), [""; 0], "{url}");
    }
}
