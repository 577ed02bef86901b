//! Which sessions results are made of: what stands in the address of a page of results. Knows no record and
//! looks nothing up.

use std::collections::{BTreeMap, BTreeSet};

use agon_engine::SessionSpec;
use agon_report::Selection;
use agon_report::selection::value_of;

/// Before the name of an axis in an address.
const AXIS: &str = "where.";

/// Sessions that fit all of this.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Wanted {
    /// Runs by their addresses; all where there is none.
    runs: BTreeSet<String>,
    /// Everybody here sits in them.
    players: BTreeSet<String>,
    /// Values of axes in words, by the last segments of their names, as `--where` has them.
    axes: BTreeMap<String, String>,
    /// What a row or a point rests on.
    selection: Selection,
}

impl Wanted {
    /// What an address asks for.
    ///
    /// # Errors
    /// A setting cannot be read; says how it is written.
    pub fn of(query: &[(String, String)]) -> Result<Self, String> {
        let mut wanted = Self::default();
        for (name, value) in query.iter().filter(|(_, value)| !value.is_empty()) {
            let selection = &mut wanted.selection;
            match &**name {
                "run" => drop(wanted.runs.insert(value.clone())),
                "player" => drop(wanted.players.insert(value.clone())),
                "game" => selection.game = Some(value.clone()),
                "experiment" => selection.experiment = Some(value.clone()),
                "simulated" => selection.simulated = Some(value == "true"),
                "loose" => selection.loose = value == "true",
                "setting" => {
                    let setting = serde_json::from_str(value);
                    selection.setting = Some(setting.map_err(|error| {
                        format!("setting: {error}; it is a JSON object of axes and values")
                    })?);
                }
                name => {
                    if let Some(axis) = name.strip_prefix(AXIS) {
                        wanted.axes.insert(axis.to_owned(), value.clone());
                    }
                }
            }
        }
        Ok(wanted)
    }

    /// Whether sessions of a run are wanted.
    pub(crate) fn takes_run(&self, run: &str) -> bool {
        self.runs.is_empty() || self.runs.contains(run)
    }

    /// Whether a session like this is wanted, whoever sits in it.
    pub(crate) fn takes(&self, spec: &SessionSpec, simulated: bool) -> bool {
        let mut axes = self.axes.iter();
        self.selection.fits(spec, simulated)
            && axes.all(|(axis, value)| value_of(spec, axis) == *value)
    }

    /// Whether these names, a line each, are those of everybody who is wanted.
    pub(crate) fn takes_names(&self, names: &str) -> bool {
        let mut players = self.players.iter();
        players.all(|player| names.split('\n').any(|name| name == player))
    }
}
