//! Removes documents and templates of experiments that are no more. It is done when a term begins: nothing
//! is being submitted here then, so what no experiment names is nobody's. Called by `term.rs`.

use std::collections::BTreeSet;
use std::time::Duration;

use agon_service_kit::tasks::with_causes;
use tracing::warn;

use super::loading::{DOCUMENTS, TEMPLATES, bundle_name, document_name};
use crate::journal::{Epoch, Journal, JournalResult};
use crate::queue::Queue;
use crate::specs::Specs;

/// Names of documents and templates. Those that come later may be of experiments that are not loaded.
pub(super) async fn stored(journal: &dyn Journal) -> JournalResult<Vec<String>> {
    let mut names = journal.blobs(DOCUMENTS).await?;
    names.extend(journal.blobs(TEMPLATES).await?);
    Ok(names)
}

/// Removes those of these that no experiment names, as long as this is the owner.
pub(super) async fn sweep(
    journal: &dyn Journal,
    (epoch, ownership_time): (Epoch, Duration),
    stored: Vec<String>,
    queue: &Queue,
    specs: &Specs,
) {
    let named = named(queue, specs);
    for name in stored {
        let is_template = name.starts_with(TEMPLATES);
        if named.blobs.contains(&name) || (is_template && !named.all_templates) {
            continue;
        }
        let removed = match journal.renew(epoch, ownership_time).await {
            Ok(()) => journal.delete_blob(&name).await,
            // Whoever owns it now looks for itself.
            deposed => deposed,
        };
        if let Err(error) = removed {
            let error = with_causes(&error);
            warn!(%error, "what removed experiments left in the store stays there for now");
            return;
        }
    }
}

/// What experiments name.
struct Named {
    blobs: BTreeSet<String>,
    /// Whether all templates are among it: not if a document cannot be read.
    all_templates: bool,
}

fn named(queue: &Queue, specs: &Specs) -> Named {
    let mut named = Named {
        blobs: BTreeSet::new(),
        all_templates: true,
    };
    for key in queue.numbers() {
        if let Some(submitted) = queue.submitted(key) {
            named.blobs.insert(document_name(&submitted.document));
        }
        match specs.get(key) {
            Some(known) => {
                let digest = known.document().prompt_bundle.as_deref();
                named.blobs.extend(digest.map(bundle_name));
            }
            None => named.all_templates = false,
        }
    }
    named
}
