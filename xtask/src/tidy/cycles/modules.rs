//! The modules of a crate, and the file that a path leads to.

use std::collections::{BTreeMap, BTreeSet};

use super::super::code::without_tests;
use super::methods::ImplBlock;
use super::paths::{Names, Paths};
use super::tokens::tokens;

/// Maximum number of re-exports that are followed for one path.
const LONGEST_CHAIN: usize = 16;

/// The modules of a crate by their paths; the crate itself has the empty path.
pub(super) struct Modules<'f> {
    modules: BTreeMap<Names, Module<'f>>,
}

struct Module<'f> {
    file: &'f str,
    paths: Paths,
    blocks: Vec<ImplBlock>,
}

impl<'f> Module<'f> {
    /// Reads a file, without its tests.
    fn read(file: &'f str, text: &str) -> Module<'f> {
        let tokens = tokens(without_tests(text));
        Module { file, paths: Paths::read(&tokens), blocks: ImplBlock::read_all(&tokens) }
    }
}

/// The files that define each method. The key is the module of the method's type, the name of the
/// type, and the name of the method.
type Methods<'f> = BTreeMap<(Names, String, String), BTreeSet<&'f str>>;

/// The end of a path: a module, and the name of an item in it. Without an item, the path leads to
/// the module itself.
struct End {
    module: Names,
    item: Option<String>,
}

impl<'f> Modules<'f> {
    /// Reads the files of a crate, given as path below `src` and text.
    pub(super) fn new(files: &[(&'f str, &str)]) -> Modules<'f> {
        let module = |(file, text): &(&'f str, &str)| (path_of(file), Module::read(file, text));
        Modules { modules: files.iter().map(module).collect() }
    }

    /// Returns, for each file, the other files of the crate whose items it uses.
    pub(super) fn uses(&self) -> BTreeMap<String, BTreeSet<String>> {
        let methods = self.methods();
        let of = |(path, module): (&Names, &Module<'_>)| {
            let imported =
                module.paths.imports.iter().filter(|import| {
                    !import.is_public || module.paths.words.contains(&import.alias)
                });
            let used: BTreeSet<String> = imported
                .map(|import| &import.path)
                .chain(&module.paths.inline)
                .filter_map(|names| self.file_of(path, names))
                .chain(self.called(path, module, &methods))
                .filter(|file| *file != module.file)
                .map(str::to_owned)
                .collect();
            (module.file.to_owned(), used)
        };
        self.modules.iter().map(of).collect()
    }

    /// Returns the files that define each method of the crate's types.
    fn methods(&self) -> Methods<'f> {
        let mut methods = Methods::new();
        for (path, module) in &self.modules {
            for block in &module.blocks {
                let Some((home, of)) = self.type_of(path, block) else { continue };
                for method in &block.methods {
                    let key = (home.clone(), of.clone(), method.clone());
                    methods.entry(key).or_default().insert(module.file);
                }
            }
        }
        methods
    }

    /// Returns the files with the methods that the `impl` blocks of a module call on their own
    /// types.
    fn called(&self, path: &Names, module: &Module<'_>, methods: &Methods<'f>) -> Vec<&'f str> {
        let mut files = Vec::new();
        for block in &module.blocks {
            let Some((home, of)) = self.type_of(path, block) else { continue };
            for method in &block.calls {
                let key = (home.clone(), of.clone(), method.clone());
                // Several files may define the method, each for different parameters of the type.
                // If the calling file is one of them, its own method is taken for the called one.
                let defined = methods.get(&key).filter(|files| !files.contains(module.file));
                files.extend(defined.into_iter().flatten());
            }
        }
        files
    }

    /// Returns the module and the name of the type of an `impl` block in module `from`.
    fn type_of(&self, from: &Names, block: &ImplBlock) -> Option<(Names, String)> {
        match (self.follow(from, &block.of, 0), block.of.as_slice()) {
            (Some(End { module, item }), _) => Some((module, item?)),
            (None, [name]) => Some((from.clone(), name.clone())),
            (None, _) => None,
        }
    }

    /// Returns the file of the item that a path in module `from` leads to, if it belongs to this
    /// crate.
    fn file_of(&self, from: &Names, names: &Names) -> Option<&'f str> {
        let end = self.follow(from, names, 0)?;
        end.item?;
        self.modules.get(&end.module).map(|module| module.file)
    }

    /// Follows a path from module `from` to its end, after `depth` steps through imports. Returns
    /// `None` if the path begins with neither a module nor an import, or takes too many steps.
    fn follow(&self, from: &Names, names: &[String], depth: usize) -> Option<End> {
        if depth > LONGEST_CHAIN {
            return None;
        }
        let (first, mut rest) = names.split_first()?;
        let mut module = match first.as_str() {
            "crate" => Names::new(),
            "self" => from.clone(),
            "super" => parent(from)?,
            name => {
                let child = self.child(from, name);
                match child {
                    Some(child) => child,
                    None => {
                        let end = self.imported(from, name, depth)?;
                        match end.item {
                            Some(_) => return Some(end),
                            None => end.module,
                        }
                    }
                }
            }
        };
        while let Some((name, more)) = rest.split_first() {
            match name.as_str() {
                "super" => module = parent(&module)?,
                _ => match self.child(&module, name) {
                    Some(child) => module = child,
                    None => return Some(self.item(module, name, more, depth)),
                },
            }
            rest = more;
        }
        Some(End { module, item: None })
    }

    /// Returns the place of the item `name` of a module, followed through re-exports. `rest` is the
    /// path after the name.
    fn item(&self, module: Names, name: &str, rest: &[String], depth: usize) -> End {
        match self.imported(&module, name, depth) {
            Some(End { module, item: Some(item) }) => End { module, item: Some(item) },
            // A module that is re-exported: the rest of the path continues within it.
            Some(End { module, item: None }) if !rest.is_empty() => {
                let names: Vec<String> =
                    std::iter::once("self".to_owned()).chain(rest.iter().cloned()).collect();
                self.follow(&module, &names, depth + 1).unwrap_or(End { module, item: None })
            }
            Some(end) => end,
            None => End { module, item: Some(name.to_owned()) },
        }
    }

    /// Returns the module or item that a name imported by a module refers to.
    fn imported(&self, module: &Names, name: &str, depth: usize) -> Option<End> {
        let imports = &self.modules.get(module)?.paths.imports;
        let import =
            imports.iter().find(|import| import.alias == name && import.path[..] != [name])?;
        self.follow(module, &import.path, depth + 1)
    }

    fn child(&self, module: &Names, name: &str) -> Option<Names> {
        let mut path = module.clone();
        path.push(name.to_owned());
        self.modules.contains_key(&path).then_some(path)
    }
}

fn parent(module: &Names) -> Option<Names> {
    let (_, above) = module.split_last()?;
    Some(above.to_vec())
}

/// Returns the module path of a file: `plan/mod.rs` and `plan.rs` are both `plan`.
fn path_of(file: &str) -> Names {
    let names = file.trim_end_matches(".rs").split('/').map(str::to_owned);
    let mut path: Names = names.collect();
    if matches!(path.last().map(String::as_str), Some("mod" | "lib" | "main")) {
        path.pop();
    }
    path
}
