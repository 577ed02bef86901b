//! Lessons on their way between replicas: as JSON that says whose model it is and what its server
//! refused. What another version of this program has learnt and this one does not know is left
//! out. Part of `learnt.rs`.

use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};

use super::Complaint;
use super::learnt::{Learnt, Lesson, Lessons, MOST_MODELS, ModelKey, make_room};
use crate::catalogue::StructuredOutput;
use crate::parameters::Parameter;

/// A lesson as the store keeps it.
pub(crate) struct StoredLesson {
    /// The same at all replicas.
    pub name: String,
    /// For how much longer it holds.
    pub holds_for: Duration,
    /// What was learnt.
    pub json: String,
}

/// What stands in the JSON.
#[derive(Serialize, Deserialize)]
struct WrittenLesson {
    provider: String,
    address: String,
    model: String,
    /// What was refused.
    refused: String,
    /// Digest of the reply format that was refused, and what is sent in its place.
    format: Option<(String, String)>,
    said: String,
}

impl WrittenLesson {
    fn name(&self) -> String {
        let format = self.format.as_ref().map_or("", |(digest, _)| digest);
        let parts = [&self.address, &self.model, &self.refused, format];
        let mut hasher = blake3::Hasher::new_derive_key("agon agent-gateway lesson 1");
        for part in parts {
            hasher.update(&(part.len() as u64).to_le_bytes());
            hasher.update(part.as_bytes());
        }
        hasher.finalize().to_hex()[..16].to_owned()
    }
}

impl Learnt {
    /// What the store has not been told yet.
    pub(crate) fn news(&self) -> Vec<StoredLesson> {
        let now = Instant::now();
        let all = self.all_written();
        let news = all.into_iter().filter(|(_, lesson)| !lesson.is_stored);
        news.filter_map(|(written, lesson)| {
            Some(StoredLesson {
                name: written.name(),
                holds_for: lesson.ends.checked_duration_since(now)?,
                json: serde_json::to_string(&written).ok()?,
            })
        })
        .collect()
    }

    /// The store has these now.
    pub(crate) fn told(&self, news: &[StoredLesson]) {
        self.for_each(|written, lesson| {
            let name = written.name();
            lesson.is_stored |= news.iter().any(|told| told.name == name);
        });
    }

    /// Names of the lessons about a model, see [`super::super::LearntRefusal::is_about`].
    pub(crate) fn names_about(&self, model: &str) -> Vec<String> {
        let all = self.all_written().into_iter();
        let about = all.filter(|(written, _)| {
            super::super::is_named(&written.provider, &written.model, model)
        });
        about.map(|(written, _)| written.name()).collect()
    }

    /// What the store holds takes the place of what it held; what it was not told yet stays.
    pub(crate) fn hear(&self, stored: Vec<StoredLesson>) {
        let now = Instant::now();
        let mut models = self.models.lock();
        for lessons in models.values_mut() {
            lessons.refused.retain(|(_, lesson)| !lesson.is_stored);
            lessons.formats.retain(|(.., lesson)| !lesson.is_stored);
        }
        for lesson in stored {
            let Ok(written) = serde_json::from_str::<WrittenLesson>(&lesson.json) else {
                continue;
            };
            let key: ModelKey = (written.address.clone(), written.model.clone());
            if !models.contains_key(&key) && models.len() >= MOST_MODELS {
                continue;
            }
            let lessons = models.entry(key).or_default();
            if lessons.provider.is_empty() {
                lessons.provider.clone_from(&written.provider);
            }
            let heard = Lesson {
                said: written.said.clone(),
                ends: now + lesson.holds_for,
                is_stored: true,
            };
            lessons.hear(&written, heard);
        }
        make_room(&mut models, now);
    }

    fn all_written(&self) -> Vec<(WrittenLesson, Lesson)> {
        let mut all = Vec::new();
        self.for_each(|written, lesson| all.push((written, lesson.clone())));
        all
    }

    fn for_each(&self, mut visit: impl FnMut(WrittenLesson, &mut Lesson)) {
        for ((address, model), lessons) in self.models.lock().iter_mut() {
            let provider = &lessons.provider;
            let written = |refused: &str, format, lesson: &Lesson| WrittenLesson {
                provider: provider.clone(),
                address: address.clone(),
                model: model.clone(),
                refused: refused.to_owned(),
                format,
                said: lesson.said.clone(),
            };
            for (complaint, lesson) in &mut lessons.refused {
                visit(written(complaint.name(), None, lesson), lesson);
            }
            for (format, weaker, lesson) in &mut lessons.formats {
                let format = (format.to_hex().to_string(), weaker.name().to_owned());
                let refused = Parameter::ReplyFormat.name();
                visit(written(refused, Some(format), lesson), lesson);
            }
        }
    }
}

impl Lessons {
    /// Keeps what another replica has learnt, unless it is known here already.
    fn hear(&mut self, written: &WrittenLesson, heard: Lesson) {
        let Some(complaint) = Complaint::named(&written.refused) else {
            return;
        };
        let Some((digest, weaker)) = &written.format else {
            if self.refused.iter().all(|(known, _)| *known != complaint) {
                self.refused.push((complaint, heard));
            }
            return;
        };
        let all = [
            StructuredOutput::JsonSchema,
            StructuredOutput::JsonObject,
            StructuredOutput::None,
        ];
        let weaker = all.into_iter().find(|known| known.name() == weaker);
        if let (Ok(digest), Some(weaker)) = (blake3::Hash::from_hex(digest), weaker)
            && self.formats.iter().all(|(known, ..)| *known != digest)
        {
            self.note_format(digest, weaker, heard);
        }
    }
}
