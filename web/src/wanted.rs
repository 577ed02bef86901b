//! Which sessions results are made of: what stands in the address of a page of results. Knows no record and
//! looks nothing up.

use std::collections::{BTreeMap, BTreeSet};

use agon_engine::SessionSpec;
use agon_report::Selection;
use agon_report::selection::{SeveralAxes, value_of};
use utoipa::IntoParams;

/// Before the name of an axis in an address.
const AXIS: &str = "where.";

/// How [`Wanted::of`] is written in an address: one parameter for each of its names.
#[derive(IntoParams)]
#[into_params(parameter_in = Query)]
#[allow(
    dead_code,
    reason = "it describes the parameters, which are read one by one"
)]
pub struct WantedQuery {
    /// Only sessions of this run. May be given several times, for sessions of any of these runs.
    #[param(required = false)]
    run: Vec<String>,
    /// Only sessions in which this player sits. May be given several times, for sessions in which all of
    /// them sit.
    #[param(required = false)]
    player: Vec<String>,
    /// Only sessions of this game.
    game: Option<String>,
    /// Only sessions of this experiment.
    experiment: Option<String>,
    /// Only sessions in which a simulated model answered, or only those without one.
    simulated: Option<bool>,
    /// Only sessions with exactly these axes of their experiment: a JSON object of axes and values.
    setting: Option<String>,
    /// Whether `setting` also fits sessions that have further axes for a model or a label.
    #[param(default = false)]
    loose: Option<bool>,
    /// One parameter for each axis, `where.AXIS=VALUE`: only sessions with this value of the axis. The
    /// last segments of an axis' name are enough.
    #[param(required = false, style = Form, explode, value_type = BTreeMap<String, String>)]
    r#where: BTreeMap<String, String>,
}

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

    /// Whether a session like this is wanted, whoever sits in it. None is where a name means several axes,
    /// see [`Wanted::several`].
    pub(crate) fn takes(&self, spec: &SessionSpec, simulated: bool) -> bool {
        let mut axes = self.axes.iter();
        self.selection.fits(spec, simulated)
            && axes.all(|(axis, value)| value_of(spec, axis).is_ok_and(|own| own == *value))
    }

    /// A name of an axis that means several in a session like this, which would be wanted otherwise.
    pub(crate) fn several(&self, spec: &SessionSpec) -> Option<SeveralAxes> {
        if ![true, false]
            .map(|one| self.selection.fits(spec, one))
            .contains(&true)
        {
            return None;
        }
        let mut several = None;
        for (axis, value) in &self.axes {
            match value_of(spec, axis) {
                Ok(own) if own == *value => {}
                Ok(_) => return None,
                Err(found) => several = Some(found),
            }
        }
        several
    }

    /// Whether these names, a line each, are those of everybody who is wanted.
    pub(crate) fn takes_names(&self, names: &str) -> bool {
        let mut players = self.players.iter();
        players.all(|player| names.split('\n').any(|name| name == player))
    }
}
