//! Callers of the gateway: closed loops that ask their next question when the last
//! is answered, as the seats of sessions do. They keep their decision address when
//! a replica or its store is away and ask again, elsewhere if they may. Called by
//! every section.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use agon_proto::v1::{ChatMessage, DecideRequest, DecideResponse, DecisionAddress, MessageRole};
use agon_service_kit::status::is_retryable;
use tokio::task::JoinSet;
use tonic::{Code, Status};

use crate::report;
use crate::stand::Client;

/// Before a caller asks again where nobody was there.
const ASK_AGAIN_AFTER: Duration = Duration::from_millis(100);

/// A caller whose team is out of money looks after this long for more.
const BROKE_FOR: Duration = Duration::from_millis(500);

/// Enough of a refusal to know it by.
const SHOWN_OF_A_REFUSAL: usize = 160;

/// Different refusals that are printed.
const SHOWN_REFUSALS: usize = 4;

/// What callers ask, and for whom.
#[derive(Clone)]
pub struct Ask {
    /// Names the crowd: no two of one store share it, or they would share addresses.
    pub crowd: String,
    /// Who pays.
    pub team: String,
    /// Which model.
    pub model: String,
    /// Characters of the question, about.
    pub question: usize,
    /// Characters that the simulated provider writes, from and below.
    pub reply: (usize, usize),
    /// The most that it may write, from and below, in tokens.
    pub most_tokens: (u32, u32),
}

impl Ask {
    /// A small question with a short reply.
    pub fn small(crowd: &str, team: &str, model: &str) -> Self {
        Self {
            crowd: crowd.to_owned(),
            team: team.to_owned(),
            model: model.to_owned(),
            question: 120,
            reply: (30, 60),
            most_tokens: (32, 33),
        }
    }

    /// One question. The reply's length is drawn from the address, so that the
    /// same address is always the same question.
    pub fn request(&self, caller: usize, index: u32) -> DecideRequest {
        let draw = scatter(caller as u64, index);
        let reply = within(draw, self.reply.0 as u64, self.reply.1 as u64) as usize;
        let most = within(
            draw >> 20,
            self.most_tokens.0.into(),
            self.most_tokens.1.into(),
        );
        // The simulated provider repeats the last example in the conversation.
        let content = format!(
            "Question {index} of caller {caller} of {}. {:.<2$}\n{{\"answer\":\"{3:x<4$}\"}}",
            self.crowd,
            "",
            self.question.saturating_sub(40),
            "",
            reply.saturating_sub(13),
        );
        DecideRequest {
            address: Some(DecisionAddress {
                session_id: format!("{}-{caller}", self.crowd),
                seat: 0,
                index,
            }),
            team: self.team.clone(),
            experiment_id: format!("experiment-{}", self.crowd),
            model: self.model.clone(),
            messages: vec![ChatMessage {
                role: MessageRole::User as i32,
                content,
            }],
            max_output_tokens: Some(most as u32),
            purpose: "act".to_owned(),
            ..DecideRequest::default()
        }
    }
}

/// What a crowd has met with so far.
#[derive(Default)]
pub struct Counts {
    answered: AtomicU64,
    told_unavailable: AtomicU64,
    told_broke: AtomicU64,
    cost_nanodollars: AtomicU64,
    seconds: Mutex<Vec<f64>>,
    wrong: Mutex<BTreeMap<String, u64>>,
}

impl Counts {
    /// Answers received.
    pub fn answered(&self) -> u64 {
        self.answered.load(Ordering::Relaxed)
    }

    /// Times that a caller was told to come again.
    pub fn told_unavailable(&self) -> u64 {
        self.told_unavailable.load(Ordering::Relaxed)
    }

    /// Times that a caller was told that the money is spent.
    pub fn told_broke(&self) -> u64 {
        self.told_broke.load(Ordering::Relaxed)
    }

    /// What the answers cost, as they say.
    pub fn cost_nanodollars(&self) -> u64 {
        self.cost_nanodollars.load(Ordering::Relaxed)
    }

    /// Refusals that no caller should meet, and how often each was met.
    pub fn wrong(&self) -> BTreeMap<String, u64> {
        lock(&self.wrong).clone()
    }

    /// Prints the most frequent of these refusals.
    pub fn tell_wrong(&self) {
        let mut wrong: Vec<(String, u64)> = self.wrong().into_iter().collect();
        wrong.sort_by_key(|(_, times)| std::cmp::Reverse(*times));
        for (told, times) in wrong.iter().take(SHOWN_REFUSALS) {
            report::note(&format!("{times} times a caller was told: {told}"));
        }
    }

    /// Seconds of every answer since the last call, sorted.
    pub fn take_seconds(&self) -> Vec<f64> {
        let mut seconds = std::mem::take(&mut *lock(&self.seconds));
        seconds.sort_by(f64::total_cmp);
        seconds
    }

    fn note_answer(&self, answer: &DecideResponse, took: Duration) {
        self.answered.fetch_add(1, Ordering::Relaxed);
        let cost = answer.cost_nanodollars.unwrap_or(0);
        self.cost_nanodollars.fetch_add(cost, Ordering::Relaxed);
        lock(&self.seconds).push(took.as_secs_f64());
    }

    fn note_wrong(&self, status: &Status) {
        // Ids and numbers differ from one caller to the next; the words do not.
        let words = status
            .message()
            .chars()
            .filter(|letter| !letter.is_ascii_digit());
        let words: String = words.take(SHOWN_OF_A_REFUSAL).collect();
        let told = format!("{:?}: {words}", status.code());
        *lock(&self.wrong).entry(told).or_default() += 1;
    }
}

/// Callers at work. They stop when this is dropped.
pub struct Crowd {
    /// What they have met with.
    pub counts: Arc<Counts>,
    callers: JoinSet<()>,
}

impl Crowd {
    /// Sends so many callers, numbered from 0. Each has clients to try, best
    /// first, and asks until it is stopped, or this many questions.
    pub fn send(
        ask: &Ask,
        callers: usize,
        questions: Option<u32>,
        clients: impl Fn(usize) -> Vec<Client>,
    ) -> Self {
        let counts = Arc::new(Counts::default());
        let mut tasks = JoinSet::new();
        for caller in 0..callers {
            let (ask, clients) = (ask.clone(), clients(caller));
            let counts = Arc::clone(&counts);
            tasks.spawn(async move {
                for index in 0..questions.unwrap_or(u32::MAX) {
                    let request = ask.request(caller, index);
                    ask_until_answered(&clients, &request, &counts).await;
                }
            });
        }
        Self {
            counts,
            callers: tasks,
        }
    }

    /// Waits until all have asked all their questions.
    pub async fn finished(&mut self) {
        while let Some(ended) = self.callers.join_next().await {
            ended.expect("a caller that does not panic");
        }
    }
}

/// Asks one question until there is an answer; gives up only on refusals that
/// nobody should meet.
pub async fn ask_until_answered(
    clients: &[Client],
    request: &DecideRequest,
    counts: &Counts,
) -> Option<DecideResponse> {
    for client in clients.iter().cycle() {
        let began = Instant::now();
        match client.clone().decide(request.clone()).await {
            Ok(answer) => {
                let answer = answer.into_inner();
                counts.note_answer(&answer, began.elapsed());
                return Some(answer);
            }
            Err(status) if status.code() == Code::ResourceExhausted => {
                counts.told_broke.fetch_add(1, Ordering::Relaxed);
                tokio::time::sleep(BROKE_FOR).await;
                return None;
            }
            Err(status) if is_retryable(&status) => {
                counts.told_unavailable.fetch_add(1, Ordering::Relaxed);
                tokio::time::sleep(ASK_AGAIN_AFTER).await;
            }
            Err(status) => {
                counts.note_wrong(&status);
                tokio::time::sleep(ASK_AGAIN_AFTER).await;
                return None;
            }
        }
    }
    None
}

fn within(draw: u64, from: u64, below: u64) -> u64 {
    from + (draw & 0xF_FFFF) % (below - from).max(1)
}

/// Mixes an address into bits that look random (the steps of SplitMix64).
fn scatter(caller: u64, index: u32) -> u64 {
    let mut mixed = (caller << 32 | u64::from(index)).wrapping_add(0x9E37_79B9_7F4A_7C15);
    mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    mixed ^ (mixed >> 31)
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
