//! What servers have refused, by server and model, each for a while: a server may be updated.
//! Replicas tell each other through a store where there is one (`stored.rs`). Reply formats are learnt by schema, so that the faulty one of a single
//! caller costs nobody else theirs. Bounded, whatever callers send.

use std::collections::{BTreeMap, VecDeque};
use std::time::{Duration, Instant};

use parking_lot::Mutex;
use tokio::sync::Notify;

use super::super::error_body::ErrorBody;
use super::super::http::Incoming;
use super::super::{LearntRefusal, is_named};
use super::{Capabilities, Complaint, complaint_about, format_key};
use crate::catalogue::{ResolvedModel, StructuredOutput};
use crate::decision::Request;
use crate::parameters::Parameter;

/// How long a parameter is left out. Asking again costs one refused call an hour, which is
/// free.
const LEARNT_FOR: Duration = Duration::from_secs(3_600);

/// More models, and more schemas of one, than anybody compares at once.
pub(super) const MOST_MODELS: usize = 1_000;
const MOST_FORMATS: usize = 256;

/// See the module.
#[derive(Default)]
pub(crate) struct Learnt {
    pub(super) models: Mutex<BTreeMap<ModelKey, Lessons>>,
    more: Notify,
}

/// Address and name at the provider.
pub(super) type ModelKey = (String, String);

#[derive(Default)]
pub(super) struct Lessons {
    pub(super) provider: String,
    pub(super) refused: Vec<(Complaint, Lesson)>,
    pub(super) formats: VecDeque<(blake3::Hash, StructuredOutput, Lesson)>,
}

#[derive(Clone)]
pub(super) struct Lesson {
    pub(super) said: String,
    pub(super) ends: Instant,
    /// The store of all replicas has it.
    pub(super) is_stored: bool,
}

impl Learnt {
    /// As configured, less what the server has refused.
    pub(in super::super) fn capabilities(
        &self,
        model: &ResolvedModel,
        request: &Request,
        now: Instant,
    ) -> Capabilities {
        let configured = Capabilities::configured(model);
        let models = self.models.lock();
        let Some(lessons) = models.get(&key(model)) else {
            return configured;
        };
        let mut less = configured;
        for (complaint, lesson) in &lessons.refused {
            if lesson.ends > now {
                less = less.without(complaint);
            }
        }
        let format = request.reply_format.as_ref().map(format_key);
        let known = lessons
            .formats
            .iter()
            .find(|(known, _, lesson)| Some(*known) == format && lesson.ends > now);
        if let Some((_, weaker, _)) = known {
            less.structured_output = *weaker;
        }
        less
    }

    /// Learns from a refused call; says whether another one will be different.
    pub(in super::super) fn learn(
        &self,
        model: &ResolvedModel,
        request: &Request,
        sent: Capabilities,
        incoming: &Incoming,
        now: Instant,
    ) -> bool {
        let Some(complaint) = complaint_about(model, request, sent, incoming) else {
            return false;
        };
        let said = ErrorBody::read(&incoming.body).text.to_string();
        tracing::warn!(
            model = model.name,
            ?complaint,
            said,
            "the provider does not take this parameter; it is left out for a while, and every \
             decision says so"
        );
        let lesson = Lesson {
            said,
            ends: now + LEARNT_FOR,
            is_stored: false,
        };
        let mut models = self.models.lock();
        make_room(&mut models, now);
        let lessons = models.entry(key(model)).or_default();
        lessons.provider.clone_from(&model.provider.name);
        match (complaint, &request.reply_format) {
            (Complaint::Parameter(Parameter::ReplyFormat), Some(format)) => {
                let weaker = sent.without(&complaint).structured_output;
                lessons.note_format(format_key(format), weaker, lesson);
            }
            _ => {
                lessons.refused.retain(|(known, _)| *known != complaint);
                lessons.refused.push((complaint, lesson));
            }
        }
        self.more.notify_one();
        true
    }

    /// Resolves once something more was learnt here.
    pub(crate) async fn learnt_more(&self) {
        self.more.notified().await;
    }

    /// Asks with everything again, of one model or of all; what was left out.
    pub(crate) fn forget(&self, model: &str) -> Vec<LearntRefusal> {
        let mut forgotten = self.list(Instant::now());
        forgotten.retain(|refusal| refusal.is_about(model));
        let mut models = self.models.lock();
        models.retain(|(_, name), lessons| !is_named(&lessons.provider, name, model));
        forgotten
    }

    /// Everything that is left out now, in order of address and model.
    pub(in super::super) fn list(&self, now: Instant) -> Vec<LearntRefusal> {
        let models = self.models.lock();
        let mut listed = Vec::new();
        for ((_, model), lessons) in models.iter() {
            let refused = lessons
                .refused
                .iter()
                .map(|(complaint, lesson)| (complaint.name(), lesson));
            let format = Parameter::ReplyFormat.name();
            let formats = lessons
                .formats
                .iter()
                .map(|(_, _, lesson)| (format, lesson));
            listed.extend(refused.chain(formats).filter_map(|(parameter, lesson)| {
                let expires_in = lesson.ends.checked_duration_since(now)?;
                Some(LearntRefusal {
                    provider: lessons.provider.clone(),
                    model: model.clone(),
                    parameter,
                    said: lesson.said.clone(),
                    expires_in,
                })
            }));
        }
        listed
    }
}

impl Lessons {
    pub(super) fn note_format(
        &mut self,
        format: blake3::Hash,
        weaker: StructuredOutput,
        lesson: Lesson,
    ) {
        self.formats.retain(|(known, ..)| *known != format);
        if self.formats.len() == MOST_FORMATS {
            self.formats.pop_front();
        }
        self.formats.push_back((format, weaker, lesson));
    }

    fn end(&self) -> Option<Instant> {
        let refused = self.refused.iter().map(|(_, lesson)| lesson.ends);
        let formats = self.formats.iter().map(|(_, _, lesson)| lesson.ends);
        refused.chain(formats).max()
    }
}

/// Forgets what is over, and the model that is over first when there are too many.
pub(super) fn make_room(models: &mut BTreeMap<ModelKey, Lessons>, now: Instant) {
    models.retain(|_, lessons| lessons.end().is_some_and(|end| end > now));
    if models.len() < MOST_MODELS {
        return;
    }
    let first = models.iter().min_by_key(|(_, lessons)| lessons.end());
    if let Some(first) = first.map(|(key, _)| key.clone()) {
        models.remove(&first);
    }
}

fn key(model: &ResolvedModel) -> ModelKey {
    (model.provider.base_url.clone(), model.model.to_string())
}
