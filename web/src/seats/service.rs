//! The seats of people: lets them in, follows what their doors ask, and makes what their pages are
//! told. What they do is kept before it is answered. Called by `routes.rs`, and by the command line,
//! which waits for people before a game begins and after it has ended.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;
use std::time::{Duration, Instant};

use agon_service_kit::clock::unix_ms;
use parking_lot::Mutex;
use serde_json::Value;
use tokio::sync::watch;

use super::course::{Course, Standing};
use super::invitations::{Book, Claim, Invitation, PlayedGame};
use super::people::People;
use super::ports::{Asks, DoorAsk, Doors, Keeper, Kept};
use super::presence::{Following, Presence};
use super::seat_state::{CheckQuestion, GameState, LobbyState, SeatState, Stage, Waiting};
use super::table::Tables;
use crate::library::{Library, beside};
use crate::refusal::Refusal;
use crate::sweeps::{State, States, Sweep, Sweeps};

/// Between two looks at whether everybody is there.
const LOOK_EVERY: Duration = Duration::from_millis(250);

/// See the module.
pub struct Seats {
    /// What people are told and asked.
    pub(super) people: People,
    keeper: Arc<dyn Keeper>,
    pub(super) doors: Arc<dyn Doors>,
    states: Option<watch::Receiver<States>>,
    library: Arc<Library>,
    pub(super) presence: Presence,
    pub(super) tables: Mutex<HashMap<String, Tables>>,
    /// Rung when somebody did something, so that pages look at once.
    bell: watch::Sender<()>,
}

impl Seats {
    /// Seats for people who are invited; `sweeps` says how their experiments stand.
    pub fn new(
        people: People,
        keeper: Arc<dyn Keeper>,
        doors: Arc<dyn Doors>,
        library: Arc<Library>,
        sweeps: Option<&Arc<dyn Sweeps>>,
    ) -> Self {
        Self {
            people,
            keeper,
            doors,
            states: sweeps.map(|sweeps| sweeps.states()),
            library,
            presence: Presence::default(),
            tables: Mutex::default(),
            bell: watch::Sender::new(()),
        }
    }

    /// The host by which people call these pages from elsewhere.
    pub fn host(&self) -> Option<&str> {
        self.people.host()
    }

    /// How long people are waited for before a game.
    pub fn lobby_waits(&self) -> Duration {
        self.people.lobby_waits()
    }

    /// Returns once everybody who was invited is ready, the experiment goes on anyway, or nobody is
    /// waited for any longer.
    pub async fn everybody_ready(&self, experiment: &str) {
        let began = Instant::now();
        while began.elapsed() < self.lobby_waits() {
            if self.are_ready(experiment) || !self.is_waiting(experiment) {
                return;
            }
            tokio::time::sleep(LOOK_EVERY).await;
        }
    }

    /// Whether an experiment waits for people: nobody has handed it in, or it pauses for them.
    pub fn is_waiting(&self, experiment: &str) -> bool {
        let Some(states) = &self.states else {
            return false;
        };
        let states = states.borrow();
        let found = states.iter().find(|sweep| sweep.experiment == experiment);
        found.is_none_or(Sweep::waits_for_people)
    }

    /// Experiments that pause for people and to which somebody is invited.
    pub fn waiting(&self) -> Vec<String> {
        let (Some(states), Ok(book)) = (&self.states, self.keeper.read()) else {
            return Vec::new();
        };
        let states = Arc::clone(&states.borrow());
        let waiting = states.iter().filter(|sweep| sweep.waits_for_people());
        let names = waiting.map(|sweep| sweep.experiment.clone());
        names
            .filter(|name| !book.seats(name, now()).is_empty())
            .collect()
    }

    /// Returns once everybody who came and did not leave has done everything that is asked after the
    /// game, or nobody is waited for any longer.
    pub async fn everybody_done(&self, experiment: &str) {
        let began = Instant::now();
        while began.elapsed() < self.people.end_waits() {
            let Ok(book) = self.keeper.read() else { return };
            let seats = self.asked(&book, experiment);
            let mut busy = seats.iter().filter(|seat| {
                let claim = seat.claim.as_ref().filter(|claim| !claim.left);
                let is_done = claim.is_none_or(|claim| claim.finished);
                !is_done && self.presence.is_here(&seat.id)
            });
            if busy.next().is_none() {
                return;
            }
            tokio::time::sleep(LOOK_EVERY).await;
        }
    }

    /// The doors of an experiment to which somebody is invited.
    pub fn invited(&self, experiment: &str) -> BTreeSet<String> {
        let Ok(book) = self.keeper.read() else {
            return BTreeSet::new();
        };
        let seats = book.seats(experiment, now()).into_iter();
        seats.map(|seat| seat.door.clone()).collect()
    }

    /// The seats of an experiment at whose doors it asks. Somebody may have been invited to one that it
    /// has no more.
    fn asked<'a>(&self, book: &'a Book, experiment: &str) -> Vec<&'a Invitation> {
        let doors = self.doors.doors(experiment);
        let is_asked = |door: &String| doors.as_ref().is_none_or(|doors| doors.contains(door));
        let seats = book.seats(experiment, now()).into_iter();
        seats.filter(|seat| is_asked(&seat.door)).collect()
    }

    /// Whether everybody whom the experiment asks is at their page and ready, or has played all their
    /// games.
    pub fn are_ready(&self, experiment: &str) -> bool {
        let Ok(book) = self.keeper.read() else {
            return false;
        };
        let seats = self.asked(&book, experiment);
        let alone = seats.len() == 1;
        !seats.is_empty()
            && seats.iter().all(|seat| {
                let claim = seat.claim.as_ref().filter(|claim| !claim.left);
                let is_ready = claim.is_some_and(|claim| self.course(claim, alone).is_ready());
                // Who has closed their page since is waited for again.
                (is_ready && self.presence.is_here(&seat.id)) || self.has_finished(seat)
            })
    }

    /// Whether somebody has done everything, and no game is left for them.
    fn has_finished(&self, seat: &Invitation) -> bool {
        let all = self.doors.games(&seat.experiment, &seat.door);
        let claim = seat.claim.as_ref().filter(|claim| claim.finished);
        claim.is_some_and(|claim| all.is_none_or(|all| claim.games.len() as u64 >= all))
    }

    fn course<'a>(&'a self, claim: &'a Claim, alone: bool) -> Course<'a> {
        Course {
            people: &self.people,
            claim,
            alone,
        }
    }

    fn standing(&self, experiment: &str) -> Standing {
        let Some(states) = &self.states else {
            return Standing::Going;
        };
        let states = states.borrow();
        let found = states.iter().find(|sweep| sweep.experiment == experiment);
        let Some(sweep) = found else {
            return Standing::NotBegun;
        };
        match sweep.state {
            // Whoever is asked already is not sent back to the lobby.
            State::Paused if sweep.waits_for_people() && sweep.has_not_begun() => {
                Standing::NotBegun
            }
            State::Running | State::Paused => Standing::Going,
            State::Done | State::Cancelled => Standing::Over,
        }
    }

    /// All invitations.
    pub(super) fn book(&self) -> Result<Arc<Book>, Refusal> {
        self.keeper.read().map_err(unkept)
    }

    /// Changes invitations; what this gives back is kept.
    pub(super) async fn change<T: Send + 'static>(
        &self,
        change: impl FnOnce(&mut Book) -> T + Send + 'static,
    ) -> Result<T, Refusal> {
        let keeper = Arc::clone(&self.keeper);
        let changed = beside(move || {
            let (mut change, mut given) = (Some(change), None);
            keeper.change(&mut |book| {
                if let Some(change) = change.take() {
                    given = Some(change(book));
                }
            })?;
            given.ok_or_else(|| "the change was not made".to_owned())
        });
        let changed = changed.await?.map_err(unkept);
        self.ring();
        changed
    }

    /// Tells pages that somebody did something.
    pub(super) fn ring(&self) {
        self.bell.send_replace(());
    }

    /// Hears when somebody does something.
    pub(super) fn bell(&self) -> watch::Receiver<()> {
        self.bell.subscribe()
    }

    /// Keeps something of a person.
    pub(super) async fn keep(&self, kept: Kept) -> Result<(), Refusal> {
        let keeper = Arc::clone(&self.keeper);
        beside(move || keeper.keep(&kept)).await?.map_err(unkept)
    }

    /// A page follows its seat from now on.
    pub(super) fn follow(&self, id: &str) -> Result<Following, Refusal> {
        self.presence.follow(id).ok_or(Refusal::Busy)
    }

    /// What the door of a seat asks, as it changes.
    pub(super) fn asks(&self, seat: &Invitation) -> watch::Receiver<Asks> {
        self.doors.asks(&seat.door)
    }

    /// The open question of a seat by its name; nobody else's.
    pub(super) fn open(&self, seat: &Invitation, id: &str) -> Option<DoorAsk> {
        let asks = self.asks(seat);
        let asks = asks.borrow();
        let mut own = asks.iter().filter(|ask| ask.experiment == seat.experiment);
        own.find(|ask| ask.id() == id).cloned()
    }

    /// What the page of a seat is told.
    pub(super) async fn state(&self, seat: &Invitation) -> Result<SeatState, Refusal> {
        let claim = seat.claim.as_ref().ok_or(Refusal::NotSeated)?;
        let book = self.book()?;
        let seats = self.asked(&book, &seat.experiment);
        let course = self.course(claim, seats.len() <= 1);
        let standing = self.standing(&seat.experiment);
        let before = course.stage_before_play(standing);
        let mut state = SeatState {
            pseudonym: claim.pseudonym.clone(),
            stage: before.unwrap_or(Stage::Play),
            stages: course.stages(),
            text: String::new(),
            check: Vec::new(),
            lobby: None,
            games: Vec::new(),
            games_in_all: self.doors.games(&seat.experiment, &seat.door),
            ask: None,
            notice: None,
            questions: Vec::new(),
            completion_code: None,
            return_link: None,
        };
        if before.is_none() {
            self.play(seat, claim, &mut state).await?;
            let is_over = standing == Standing::Over
                || state.games_in_all.is_some_and(|all| {
                    let over = state.games.iter().filter(|game| game.over).count();
                    all > 0 && over as u64 >= all
                });
            let all_over = state.games.iter().all(|game| game.over);
            if is_over && state.ask.is_none() && (all_over || self.is_told(&seat.id)) {
                state.stage = course.stage_after_play();
            }
        }
        self.tell(&mut state, &seats, &seat.id);
        Ok(state)
    }

    /// What belongs to the stage.
    fn tell(&self, state: &mut SeatState, seats: &[&Invitation], own: &str) {
        let people = &self.people;
        match state.stage {
            Stage::Consent => state.text.clone_from(&people.consent.text),
            Stage::Instructions => {
                state.text.clone_from(&people.instructions.text);
                let check = people.check.iter().map(|check| CheckQuestion {
                    question: check.question.clone(),
                    choices: check.choices.clone(),
                });
                state.check = check.collect();
            }
            Stage::Lobby => {
                state.text.clone_from(&people.lobby.text);
                state.lobby = Some(self.lobby(seats, own));
            }
            Stage::Play | Stage::Left => {}
            Stage::Questions => state.questions.clone_from(&people.questions),
            Stage::Thanks => {
                state.text.clone_from(&people.thanks.text);
                state
                    .completion_code
                    .clone_from(&people.thanks.completion_code);
                state.return_link.clone_from(&people.thanks.return_link);
            }
        }
    }

    fn lobby(&self, seats: &[&Invitation], own: &str) -> LobbyState {
        let waiting = seats.iter().map(|seat| {
            let claim = seat.claim.as_ref().filter(|claim| !claim.left);
            Waiting {
                pseudonym: claim.map(|claim| claim.pseudonym.clone()),
                here: claim.is_some() && self.presence.is_here(&seat.id),
                ready: claim.is_some_and(|claim| self.course(claim, false).is_ready()),
                you: seat.id == own,
            }
        });
        let people: Vec<Waiting> = waiting.collect();
        let own = people.iter().find(|one| one.you);
        LobbyState {
            asks_ready: own.is_some_and(|own| !own.ready),
            all_ready: people.iter().all(|one| one.ready && one.here),
            people,
        }
    }

    /// The games of a seat, what is asked, and what became of the last question.
    async fn play(
        &self,
        seat: &Invitation,
        claim: &Claim,
        state: &mut SeatState,
    ) -> Result<(), Refusal> {
        let asks = Arc::clone(&self.asks(seat).borrow());
        let new = {
            let mut tables = self.tables.lock();
            let tables = tables.entry(seat.id.clone()).or_default();
            tables.look(&asks, &seat.experiment);
            tables.current_game()
        };
        let mut games = claim.games.clone();
        if let Some(new) = new.filter(|new| !games.contains(new)) {
            games.push(new.clone());
            let id = seat.id.clone();
            self.change(move |book| {
                let claim = book.claim_mut(&id);
                if let Some(claim) = claim.filter(|claim| !claim.games.contains(&new)) {
                    claim.games.push(new);
                }
            })
            .await?;
        }
        for game in games {
            state.games.push(self.game(&seat.id, &game).await);
        }
        let mut tables = self.tables.lock();
        let tables = tables.entry(seat.id.clone()).or_default();
        // The game that is asked about comes last.
        if let Some(current) = tables.current_game() {
            let at = |one: &GameState| one.session == current.session;
            if let Some(at) = state.games.iter().position(at) {
                let current = state.games.remove(at);
                state.games.push(current);
            }
        }
        state.ask = tables.ask();
        state.notice.clone_from(&tables.notice);
        Ok(())
    }

    /// A game as its seat sees it: from its record once there is one, and else as it was seen last.
    async fn game(&self, id: &str, game: &PlayedGame) -> GameState {
        let known = self
            .tables
            .lock()
            .get(id)
            .and_then(|tables| tables.finished(game));
        if let Some(known) = known {
            return known;
        }
        match self.library.viewing(&game.session).await {
            Ok((_, viewing)) => {
                let mut tables = self.tables.lock();
                let tables = tables.entry(id.to_owned()).or_default();
                tables.finish(game, &viewing)
            }
            Err(_) => {
                let tables = self.tables.lock();
                let tables = tables.get(id);
                tables.map_or_else(|| Tables::unseen(game), |tables| tables.going(game))
            }
        }
    }

    /// Whether nothing more will be known of games whose experiment is over: some have no record.
    fn is_told(&self, id: &str) -> bool {
        let mut tables = self.tables.lock();
        tables.entry(id.to_owned()).or_default().is_told()
    }

    /// Checks answers to the questionnaire; what is missing or wrong, by name.
    pub(super) fn wrong_answers(&self, answers: &Value) -> Vec<String> {
        let wrong = self.people.questions.iter();
        let wrong = wrong.filter(|question| !question.takes(&answers[&question.name]));
        wrong.map(|question| question.name.clone()).collect()
    }
}

/// Now, in seconds since 1970.
pub(super) fn now() -> u64 {
    unix_ms() / 1_000
}

fn unkept(reason: String) -> Refusal {
    tracing::error!(%reason, "invitations cannot be kept");
    Refusal::Unreadable("the server cannot keep this now; try again in a moment".to_owned())
}
