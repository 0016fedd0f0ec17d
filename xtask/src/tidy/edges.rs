//! Check of the dependencies between crates, which point down only. `crates/edges.txt` declares
//! them: each declared dependency must exist, and no other may, except dependencies of tests.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;

use serde_json::Value;

/// Dependencies of each crate within this workspace, in alphabetical order.
type Edges = BTreeMap<String, Vec<String>>;

pub(crate) fn check(root: &Path) -> Vec<String> {
    let path = root.join("crates/edges.txt");
    let declared = match std::fs::read_to_string(&path) {
        Ok(text) => text,
        Err(error) => return vec![format!("crates/edges.txt: {error}")],
    };
    let metadata = match metadata(root) {
        Ok(metadata) => metadata,
        Err(error) => return vec![error],
    };
    match (parse(&declared), actual(&metadata)) {
        (Ok(declared), Ok(actual)) => compare(&declared, &actual),
        (Err(error), _) | (_, Err(error)) => vec![error],
    }
}

fn metadata(root: &Path) -> Result<Value, String> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let output = Command::new(cargo)
        .args(["metadata", "--no-deps", "--format-version", "1"])
        .current_dir(root)
        .output()
        .map_err(|error| format!("cannot run cargo metadata: {error}"))?;
    if !output.status.success() {
        return Err(format!("cargo metadata: {}", String::from_utf8_lossy(&output.stderr)));
    }
    serde_json::from_slice(&output.stdout).map_err(|error| format!("cargo metadata: {error}"))
}

/// Parses lines of the form `engine: base driver record`, from the bottom up: a crate may depend
/// only on crates of earlier lines.
fn parse(text: &str) -> Result<Edges, String> {
    let mut edges = Edges::new();
    for (number, line) in text.lines().enumerate() {
        let line = line.split('#').next().unwrap_or_default().trim();
        if line.is_empty() {
            continue;
        }
        let place = format!("crates/edges.txt:{}", number + 1);
        let (name, below) =
            line.split_once(':').ok_or_else(|| format!("{place}: write `crate: crate crate`"))?;
        let mut below: Vec<String> = below.split_whitespace().map(str::to_owned).collect();
        if let Some(up) = below.iter().find(|crate_| !edges.contains_key(*crate_)) {
            return Err(format!("{place}: `{up}` stands above `{name}` or nowhere"));
        }
        below.sort();
        edges.insert(name.trim().to_owned(), below);
    }
    Ok(edges)
}

/// Returns the dependencies between crates of this workspace from cargo's metadata, except
/// dependencies of tests.
fn actual(metadata: &Value) -> Result<Edges, String> {
    let packages = metadata["packages"].as_array().ok_or("cargo metadata lists no packages")?;
    let name_of = |package: &Value| package["name"].as_str().unwrap_or_default().to_owned();
    let ours: Vec<String> = packages.iter().map(name_of).collect();
    let mut edges = Edges::new();
    for package in packages {
        let name = name_of(package);
        let manifest = Path::new(package["manifest_path"].as_str().unwrap_or_default());
        let folder = manifest.parent().and_then(Path::file_name).unwrap_or_default();
        if folder.to_string_lossy() != name {
            return Err(format!("crate `{name}` lies in folder `{}`", folder.to_string_lossy()));
        }
        let dependencies =
            package["dependencies"].as_array().map(Vec::as_slice).unwrap_or_default();
        let mut below: Vec<String> = dependencies
            .iter()
            .filter(|dependency| dependency["kind"].as_str() != Some("dev"))
            .map(name_of)
            .filter(|dependency| ours.contains(dependency))
            .collect();
        below.sort();
        below.dedup();
        edges.insert(name, below);
    }
    Ok(edges)
}

fn compare(declared: &Edges, actual: &Edges) -> Vec<String> {
    let mut complaints = Vec::new();
    for (name, below) in actual {
        match declared.get(name) {
            None => complaints.push(format!("crate `{name}` is missing in crates/edges.txt")),
            Some(allowed) => {
                for other in below.iter().filter(|other| !allowed.contains(other)) {
                    complaints.push(format!("crate `{name}` may not depend on `{other}`"));
                }
                for other in allowed.iter().filter(|other| !below.contains(other)) {
                    complaints.push(format!("crate `{name}` does not depend on `{other}`"));
                }
            }
        }
    }
    for name in declared.keys().filter(|name| !actual.contains_key(*name)) {
        complaints.push(format!("crates/edges.txt names `{name}`, which does not exist"));
    }
    complaints
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    const TREE: &str = "base:\nrt: base\nengine: base rt\n";

    fn package(name: &str, dependencies: &[(&str, Option<&str>)]) -> Value {
        let dependencies: Vec<Value> =
            dependencies.iter().map(|(name, kind)| json!({"name": name, "kind": kind})).collect();
        let manifest = format!("/x/crates/{name}/Cargo.toml");
        json!({"name": name, "manifest_path": manifest, "dependencies": dependencies})
    }

    fn check(declared: &str, packages: &[Value]) -> Vec<String> {
        let actual = actual(&json!({ "packages": packages })).unwrap();
        compare(&parse(declared).unwrap(), &actual)
    }

    fn tree() -> Vec<Value> {
        vec![
            package("base", &[("libm", None)]),
            package("rt", &[("base", None)]),
            package("engine", &[("base", None), ("rt", None)]),
        ]
    }

    #[test]
    fn tree_matches_its_declared_edges() {
        assert_eq!(check(TREE, &tree()), Vec::<String>::new());
    }

    #[test]
    fn an_edge_that_is_not_declared_is_refused_unless_it_is_for_tests() {
        let mut packages = tree();
        packages[1] = package("rt", &[("base", None), ("engine", None)]);
        assert_eq!(check(TREE, &packages), ["crate `rt` may not depend on `engine`"]);
        packages[1] = package("rt", &[("base", None), ("engine", Some("dev"))]);
        assert_eq!(check(TREE, &packages), Vec::<String>::new());
    }

    #[test]
    fn declared_dependency_must_exist() {
        assert_eq!(
            check("base:\nrt: base\nlua: base\nengine: base lua rt\n", &tree()),
            [
                "crate `engine` does not depend on `lua`",
                "crates/edges.txt names `lua`, which does not exist"
            ]
        );
        assert_eq!(
            check("base:\nrt: base\n", &tree()),
            ["crate `engine` is missing in crates/edges.txt"]
        );
    }

    #[test]
    fn dependencies_point_down_only() {
        let error = parse("base: rt\nrt: base\n").unwrap_err();
        assert_eq!(error, "crates/edges.txt:1: `rt` stands above `base` or nowhere");
    }

    #[test]
    fn a_crate_lies_in_the_folder_of_its_name() {
        let mut odd = package("base", &[]);
        odd["manifest_path"] = json!("/x/crates/foundation/Cargo.toml");
        let error = actual(&json!({ "packages": [odd] })).unwrap_err();
        assert_eq!(error, "crate `base` lies in folder `foundation`");
    }
}
