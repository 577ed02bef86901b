//! The arrows inside a crate. Modules form layers: a file imports what lies below it, parent and
//! child may know each other, and siblings do not import each other in a circle, whether straight
//! or through anything below them. In crates that are done, one name of a type has one meaning.
//! Tests of a crate are not looked at.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path as FilePath;

use agon_tests::tree;
use syn::visit::{self, Visit};
use syn::{Attribute, Item, ItemMod, ItemUse, Path, UseTree, Visibility};

/// The crates that are looked at.
const CRATES: &[&str] = &[
    "agent-gateway",
    "redis-link",
    "sim-llm",
    "agents",
    "cli",
    "coordinator",
    "engine",
    "figures",
    "outlets",
    "report",
    "service-kit",
    "web",
    "worker",
];

/// The crates in which no two types have one name.
const UNAMBIGUOUS: &[&str] = &["agent-gateway"];

/// Names from the root of a crate to a module or an item.
type Name = Vec<String>;

#[test]
fn no_modules_import_each_other_in_a_circle() {
    let mut found = String::new();
    for name in CRATES {
        let sources = Crate::read(name);
        assert!(!sources.modules.is_empty(), "{name} has no sources");
        let imports = sources.imports();
        for circle in circles(&imports) {
            for ((from, to), file) in &imports {
                if circle.contains(from) && circle.contains(to) {
                    let (from, to) = (from.join("::"), to.join("::"));
                    found.push_str(&format!("{name}: {from} -> {to}, as in {file}\n"));
                }
            }
        }
    }
    assert!(found.is_empty(), "{found}");
}

#[test]
fn a_circle_is_found_through_what_lies_below_and_through_re_exports() {
    let files = [
        (&[][..], "pub mod list; pub mod games; pub use list::find;"),
        (&["list"], "use crate::games::chess::RULES;"),
        (&["games"], "pub mod chess; pub mod shared;"),
        (
            &["games", "chess"],
            "use crate::find; use super::shared::x;",
        ),
        (
            &["games", "shared"],
            "use super::MOST; #[cfg(test)] mod t { use super::super::chess; }",
        ),
    ];
    let mut sources = Crate::default();
    for (name, text) in files {
        let name = name.iter().map(|part| (*part).to_owned()).collect();
        sources.add(name, "a file", text);
    }
    let list = vec!["list".to_owned()];
    let games = vec!["games".to_owned()];
    assert_eq!(circles(&sources.imports()), [vec![games, list]]);
}

#[test]
fn one_name_of_a_type_has_one_meaning_in_a_crate() {
    for name in UNAMBIGUOUS {
        let mut declared: BTreeMap<String, Vec<String>> = BTreeMap::new();
        for module in Crate::read(name).modules.into_values() {
            for type_name in module.types {
                declared
                    .entry(type_name)
                    .or_default()
                    .push(module.file.clone());
            }
        }
        declared.retain(|_, files| files.len() > 1);
        assert!(declared.is_empty(), "{name}: {declared:#?}");
    }
}

/// The modules of a crate, those of tests left out.
#[derive(Default)]
struct Crate {
    modules: BTreeMap<Name, Module>,
}

#[derive(Default)]
struct Module {
    file: String,
    /// Every path that it names, as it is written there.
    paths: Vec<Name>,
    /// Names that it hands on, and where they come from.
    re_exports: Vec<(String, Name)>,
    /// Modules of which it hands everything on.
    globs: Vec<Name>,
    items: BTreeSet<String>,
    /// The types that are declared in it, those of its functions too.
    types: Vec<String>,
    of_tests: BTreeSet<String>,
}

impl Crate {
    fn read(name: &str) -> Self {
        let root = tree::root().join(name).join("src");
        let mut sources = Self::default();
        for file in tree::files(".rs") {
            let Ok(below) = file.strip_prefix(&root) else {
                continue;
            };
            if below == FilePath::new("main.rs") {
                continue;
            }
            let below = below.with_extension("");
            let mut module: Name = below
                .iter()
                .map(|part| part.to_string_lossy().into_owned())
                .collect();
            if module == ["lib"] {
                module.clear();
            }
            sources.add(
                module,
                &tree::short(&file),
                &fs::read_to_string(&file).unwrap(),
            );
        }
        sources.drop_tests();
        sources
    }

    fn add(&mut self, name: Name, file: &str, text: &str) {
        let parsed = syn::parse_file(text).unwrap_or_else(|error| panic!("{file}: {error}"));
        let mut reader = Reader {
            module: Module {
                file: file.to_owned(),
                ..Module::default()
            },
            inside: 0,
        };
        reader.visit_file(&parsed);
        self.modules.insert(name, reader.module);
    }

    fn drop_tests(&mut self) {
        let of_tests: Vec<Name> = self
            .modules
            .iter()
            .flat_map(|(name, module)| {
                let children = module.of_tests.iter();
                children.map(|child| [name.as_slice(), std::slice::from_ref(child)].concat())
            })
            .collect();
        let is_of_tests = |name: &Name| of_tests.iter().any(|dropped| name.starts_with(dropped));
        self.modules.retain(|name, _| !is_of_tests(name));
    }

    /// Which of two siblings imports which, with a file that does.
    fn imports(&self) -> BTreeMap<(Name, Name), String> {
        let mut imports = BTreeMap::new();
        for (from, module) in &self.modules {
            for path in &module.paths {
                let Some(to) = self.target(from, path) else {
                    continue;
                };
                let shared = from.iter().zip(&to).take_while(|(a, b)| a == b).count();
                if shared < from.len() && shared < to.len() {
                    let siblings = (from[..=shared].to_vec(), to[..=shared].to_vec());
                    imports
                        .entry(siblings)
                        .or_insert_with(|| module.file.clone());
                }
            }
        }
        imports
    }

    /// The module in which stands what a path of a module names; `None` when it is of another crate.
    fn target(&self, from: &Name, path: &[String]) -> Option<Name> {
        let first = path.first()?;
        let mut at = from.clone();
        let mut rest = path;
        match first.as_str() {
            "crate" => {
                at.clear();
                rest = &rest[1..];
            }
            "self" => rest = &rest[1..],
            "super" => {}
            child if self.is_module(&at, child) => {}
            _ => return None,
        }
        while rest.first().is_some_and(|part| part == "super") {
            at.pop()?;
            rest = &rest[1..];
        }
        Some(self.follow(at, rest))
    }

    fn follow(&self, mut at: Name, rest: &[String]) -> Name {
        for (place, part) in rest.iter().enumerate() {
            if self.is_module(&at, part) {
                at.push(part.clone());
                continue;
            }
            let Some(module) = self.modules.get(&at) else {
                return at;
            };
            let handed_on = module.re_exports.iter().find(|(name, _)| name == part);
            if let Some((_, source)) = handed_on {
                let Some(source) = self.target(&at, source) else {
                    return at;
                };
                return self.follow(source, &rest[place + 1..]);
            }
            let globs = module.globs.iter();
            let all = globs.filter_map(|glob| self.target(&at, glob));
            let holds = |source: &Name| self.modules[source].items.contains(part);
            let mut holding = all.filter(holds);
            return holding.next().unwrap_or(at);
        }
        at
    }

    fn is_module(&self, parent: &[String], child: &str) -> bool {
        let name = [parent, &[child.to_owned()]].concat();
        self.modules.contains_key(&name)
    }
}

/// Reads what a file names.
struct Reader {
    module: Module,
    /// In how many modules that stand in the file itself.
    inside: usize,
}

impl Reader {
    fn names(&mut self, path: Name) {
        // Paths of an inner module start one step further away from what is above the file.
        let outward = path.iter().take_while(|part| *part == "super").count();
        let path = match outward.min(self.inside) {
            0 => path,
            within if within == outward => [&["self".to_owned()], &path[within..]].concat(),
            within => path[within..].to_vec(),
        };
        self.module.paths.push(path);
    }

    fn imports(&mut self, before: &[String], tree: &UseTree, is_handed_on: bool) {
        let with = |part: String| [before, &[part]].concat();
        match tree {
            UseTree::Path(path) => {
                self.imports(&with(path.ident.to_string()), &path.tree, is_handed_on);
            }
            UseTree::Group(group) => {
                for tree in &group.items {
                    self.imports(before, tree, is_handed_on);
                }
            }
            UseTree::Glob(_) => {
                if is_handed_on {
                    self.module.globs.push(before.to_vec());
                }
                self.names(before.to_vec());
            }
            UseTree::Name(_) | UseTree::Rename(_) => {
                let (name, known_as) = match tree {
                    UseTree::Rename(renamed) => (&renamed.ident, &renamed.rename),
                    UseTree::Name(name) => (&name.ident, &name.ident),
                    _ => return,
                };
                let path = if name == "self" {
                    before.to_vec()
                } else {
                    with(name.to_string())
                };
                if is_handed_on {
                    self.module
                        .re_exports
                        .push((known_as.to_string(), path.clone()));
                }
                self.names(path);
            }
        }
    }
}

impl<'ast> Visit<'ast> for Reader {
    fn visit_item(&mut self, item: &'ast Item) {
        let (attributes, name) = match item {
            Item::Const(item) => (&item.attrs, Some(&item.ident)),
            Item::Enum(item) => (&item.attrs, Some(&item.ident)),
            Item::Fn(item) => (&item.attrs, Some(&item.sig.ident)),
            Item::Static(item) => (&item.attrs, Some(&item.ident)),
            Item::Struct(item) => (&item.attrs, Some(&item.ident)),
            Item::Trait(item) => (&item.attrs, Some(&item.ident)),
            Item::Type(item) => (&item.attrs, Some(&item.ident)),
            Item::Impl(item) => (&item.attrs, None),
            Item::Mod(item) => (&item.attrs, None),
            Item::Use(item) => (&item.attrs, None),
            _ => return visit::visit_item(self, item),
        };
        if attributes.iter().any(is_for_tests) {
            if let Item::Mod(module) = item {
                self.module.of_tests.insert(module.ident.to_string());
            }
            return;
        }
        if let Item::Enum(_) | Item::Struct(_) | Item::Trait(_) | Item::Type(_) = item {
            self.module.types.extend(name.map(ToString::to_string));
        }
        if self.inside == 0 {
            self.module.items.extend(name.map(ToString::to_string));
        }
        visit::visit_item(self, item);
    }

    fn visit_item_mod(&mut self, module: &'ast ItemMod) {
        self.inside += 1;
        visit::visit_item_mod(self, module);
        self.inside -= 1;
    }

    fn visit_item_use(&mut self, import: &'ast ItemUse) {
        let is_handed_on = self.inside == 0 && !matches!(import.vis, Visibility::Inherited);
        self.imports(&[], &import.tree, is_handed_on);
    }

    fn visit_path(&mut self, path: &'ast Path) {
        let parts = path.segments.iter();
        self.names(parts.map(|part| part.ident.to_string()).collect());
        visit::visit_path(self, path);
    }
}

fn is_for_tests(attribute: &Attribute) -> bool {
    attribute.path().is_ident("cfg")
        && attribute
            .parse_args::<Path>()
            .is_ok_and(|path| path.is_ident("test"))
}

/// Every circle, each as the modules that reach each other, in order.
fn circles(imports: &BTreeMap<(Name, Name), String>) -> Vec<Vec<Name>> {
    let modules: BTreeSet<&Name> = imports.keys().flat_map(|(from, to)| [from, to]).collect();
    let reached: BTreeMap<&Name, BTreeSet<&Name>> = modules
        .iter()
        .map(|module| (*module, reach(module, imports)))
        .collect();
    let mut circles: Vec<Vec<Name>> = Vec::new();
    for module in &modules {
        if !reached[module].contains(module) || circles.iter().flatten().any(|one| one == *module) {
            continue;
        }
        let others = reached[module].iter();
        let circle = others.filter(|other| reached[**other].contains(module));
        circles.push(circle.map(|other| (*other).clone()).collect());
    }
    circles
}

/// What a module imports, straight or through others.
fn reach<'a>(module: &Name, imports: &'a BTreeMap<(Name, Name), String>) -> BTreeSet<&'a Name> {
    let mut reached = BTreeSet::new();
    let mut open: Vec<&Name> = vec![module];
    while let Some(from) = open.pop() {
        for (_, to) in imports.keys().filter(|(one, _)| one == from) {
            if reached.insert(to) {
                open.push(to);
            }
        }
    }
    reached
}
