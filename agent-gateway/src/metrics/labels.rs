//! Which names may be labels of metrics. Callers name teams and models as they
//! like, and every new label is a new series for ever; so only configured names
//! are told apart, everything else is "other". Experiments are never labels.
//! Filled by `routes.rs`, read by `metrics.rs`.

use std::collections::BTreeSet;

use parking_lot::RwLock;

/// The team of whoever names none.
const DEFAULT_TEAM: &str = "default";

/// Whatever is not configured.
const OTHER: &str = "other";

/// Names that have been configured since the process started. One for all
/// gateways of the process, as the metrics are.
static KNOWN: RwLock<KnownNames> = RwLock::new(KnownNames {
    teams: BTreeSet::new(),
    models: BTreeSet::new(),
});

struct KnownNames {
    teams: BTreeSet<String>,
    models: BTreeSet<String>,
}

/// Learns the names of configured teams and models.
pub(crate) fn know<'a>(
    teams: impl IntoIterator<Item = &'a str>,
    models: impl IntoIterator<Item = &'a str>,
) {
    let mut known = KNOWN.write();
    known.teams.extend(teams.into_iter().map(str::to_owned));
    known.models.extend(models.into_iter().map(str::to_owned));
}

/// The label of a team.
pub(crate) fn team(name: &str) -> String {
    let is_known = name == DEFAULT_TEAM || KNOWN.read().teams.contains(name);
    if is_known { name } else { OTHER }.to_owned()
}

/// The label of a model by its name in the configuration.
pub(crate) fn model(name: &str) -> String {
    let is_known = KNOWN.read().models.contains(name);
    if is_known { name } else { OTHER }.to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_configured_names_are_labels() {
        know(["labelled"], ["labelled"]);
        assert_eq!(
            (team("labelled"), model("labelled")),
            ("labelled".into(), "labelled".into())
        );
        assert_eq!(team("default"), "default");
        assert_eq!(
            (team("anybody"), model("p/any")),
            ("other".into(), "other".into())
        );
    }
}
