//! From a document that is handed in to what the queue takes: checked, expanded cell by cell, with the
//! keys of its cells and everything that its sessions depend on. Called by the service of the
//! command line, off the threads that serve.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use agon_engine::versions;
use agon_proto::capabilities;
use agon_proto::v1::{ExperimentSubmitted, GridShape, Requirement, StoredDocument};
use agon_proto::v1::{ModelOrigin, SubmitExperimentRequest};
use agon_service_kit::status::{ErrorClass, to_status};
use bytes::Bytes;
use prost::Message as _;
use tonic::Status;

use crate::experiment::{Cell, ExperimentDocument, expand_with};
use crate::specs::cell_key;
use crate::templates::{self, Templates};

/// An experiment, ready to be stored and queued.
pub struct Submission {
    /// What the queue takes.
    pub submitted: ExperimentSubmitted,
    /// The document.
    pub document: Arc<ExperimentDocument>,
    /// The document as it is stored, under its digest.
    pub stored: Bytes,
    /// Digest and content of the templates that it brings.
    pub bundle: Option<(String, Templates)>,
    /// Whether sessions of other versions may be left behind.
    pub accept_new: bool,
    /// Why it pauses at once, if it does.
    pub pause: Option<String>,
}

/// Checks and expands what is handed in.
///
/// # Errors
/// INVALID_ARGUMENT, with everything that is wrong with it.
pub fn prepare(
    request: SubmitExperimentRequest,
    known: Vec<ModelOrigin>,
) -> Result<Submission, Status> {
    let invalid = |message: String| to_status(ErrorClass::Invalid, message);
    let document = ExperimentDocument::from_json(&request.document);
    let document = document.map_err(|faults| invalid(faults.to_string()))?;
    let document = Arc::new(ExperimentDocument {
        origins: crate::wire::origins(&known),
        ..document
    });
    let (mut cells, mut games) = (Vec::new(), BTreeMap::new());
    let note = |cell: &Cell| {
        cells.extend(cell_key(cell));
        games.insert(cell.spec.game.clone(), cell.spec.rules_version);
    };
    let expansion = expand_with(Arc::clone(&document), note);
    let expansion = expansion.map_err(|faults| invalid(faults.to_string()))?;
    let stored = Bytes::from(
        StoredDocument {
            document: request.document,
            origins: known,
        }
        .encode_to_vec(),
    );
    let terms = document.terms();
    let submitted = ExperimentSubmitted {
        experiment: 0,
        name: document.name.clone(),
        team: document.team.clone(),
        document: blake3::hash(&stored).to_hex().to_string(),
        traceparent: request.traceparent,
        priority: terms.priority,
        budget_nanodollars: terms.budget,
        content_cache: terms.content_cache,
        shape: Some(GridShape {
            // The bound of sessions is below 2^32.
            cells: expansion.settings() as u32,
            repeats: document.repeats,
            series_length: document.series_length(),
        }),
        cells: cells.into(),
        requirements: requirements(&document, &games),
        first_segment: 0,
    };
    let templates = request.templates.into_iter().collect();
    Ok(Submission {
        bundle: bundle(&document, templates).map_err(invalid)?,
        submitted,
        stored,
        document,
        accept_new: request.accept_new,
        pause: Some(request.pause).filter(|reason| !reason.trim().is_empty()),
    })
}

/// What the ids of an experiment's sessions depend on in the program, rather than in what its author
/// writes.
fn requirements(document: &ExperimentDocument, games: &BTreeMap<String, u32>) -> Vec<Requirement> {
    let rules = games.iter().map(|(game, version)| Requirement {
        name: capabilities::rules_of(game),
        version: version.to_string(),
        of_workers: true,
    });
    let records = Requirement {
        name: capabilities::RECORDS.to_owned(),
        version: versions::record().to_string(),
        of_workers: true,
    };
    let versions: BTreeSet<(&str, &str)> = document
        .prompts
        .iter()
        .map(|(key, prompts)| (&**key, &*prompts.version))
        .collect();
    let prompts = versions.into_iter().map(|(key, version)| Requirement {
        name: format!("prompts of {key}"),
        version: version.to_owned(),
        of_workers: false,
    });
    rules.chain([records]).chain(prompts).collect()
}

fn bundle(
    document: &ExperimentDocument,
    templates: Templates,
) -> Result<Option<(String, Templates)>, String> {
    match (&document.prompt_bundle, templates.is_empty()) {
        (_, true) => Ok(None),
        (Some(digest), false) => {
            let digest = templates::checked_digest(digest, &templates)?;
            Ok(Some((digest, templates)))
        }
        (None, false) => {
            Err("templates came without prompt_bundle, their digest, in the document".to_owned())
        }
    }
}
