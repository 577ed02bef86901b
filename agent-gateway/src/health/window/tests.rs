//! The window against simulated servers that queue, refuse or batch: where it
//! settles, and at what share of the best throughput.

use std::collections::{BinaryHeap, VecDeque};

use super::*;

/// A model server, and callers who always have more to ask.
struct Simulation {
    server: Server,
    window: Window,
    epoch: Instant,
    now: f64,
    draws: u64,
    /// Calls inside, by the time at which they end.
    serving: BinaryHeap<Call>,
    /// How many of them are not refusals under way.
    inside: u64,
    queued: VecDeque<Call>,
    /// The most that callers ever have at once.
    demand: u64,
    /// All answers take so many times longer.
    pace: f64,
    seen: Seen,
}

#[derive(Clone, Copy)]
enum Server {
    /// So many at once; the others wait inside.
    Queueing { places: u64 },
    /// So many at once; the others are refused.
    Refusing { places: u64 },
    /// As vLLM: each call in the batch slows all of them by this share, and
    /// what does not fit waits inside.
    Batching { places: u64, slows: f64 },
}

impl Server {
    fn places(self) -> u64 {
        match self {
            Server::Queueing { places }
            | Server::Refusing { places }
            | Server::Batching { places, .. } => places,
        }
    }

    fn slowed_by(self, inside: u64) -> f64 {
        match self {
            Server::Batching { slows, .. } => 1.0 + slows * inside as f64,
            _ => 1.0,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq)]
struct Call {
    ends: f64,
    began: f64,
    tokens: u64,
    refused: bool,
}

impl Eq for Call {}

impl Ord for Call {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        other.ends.total_cmp(&self.ends)
    }
}

impl PartialOrd for Call {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

/// What happened since the last look.
#[derive(Clone, Copy, Debug, Default)]
struct Seen {
    since: f64,
    seconds_in_band: f64,
    size_seconds: f64,
    tokens: u64,
    answers: u64,
    refused: u64,
}

const SECONDS_PER_TOKEN: f64 = 0.02;
const SECONDS_PER_CALL: f64 = 0.4;

impl Simulation {
    fn new(server: Server) -> Self {
        Self {
            server,
            window: Window::default(),
            epoch: Instant::now(),
            now: 0.0,
            draws: 0,
            serving: BinaryHeap::new(),
            inside: 0,
            queued: VecDeque::new(),
            demand: u64::MAX,
            pace: 1.0,
            seen: Seen::default(),
        }
    }

    /// From 0 to 1, the same in every run (SplitMix64).
    fn draw(&mut self) -> f64 {
        self.draws = self.draws.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.draws ^ (self.draws >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (mixed ^ (mixed >> 31)) as f64 / u64::MAX as f64
    }

    /// Answers are long and short: 10 to 1000 tokens, most of them short.
    fn draw_tokens(&mut self) -> u64 {
        (10.0 * 100.0_f64.powf(self.draw())) as u64
    }

    fn serve(&mut self, mut call: Call) {
        let chance = 0.7 + 0.6 * self.draw();
        let alone = self.pace * (SECONDS_PER_CALL + SECONDS_PER_TOKEN * call.tokens as f64);
        let slowed = self.server.slowed_by(self.inside);
        call.ends = self.now + alone * slowed * chance;
        self.inside += 1;
        self.serving.push(call);
    }

    fn send(&mut self) {
        self.window.began();
        let mut call = Call {
            ends: 0.0,
            began: self.now,
            tokens: self.draw_tokens(),
            refused: false,
        };
        let full = self.inside >= self.server.places();
        match self.server {
            _ if !full => self.serve(call),
            Server::Refusing { .. } => {
                call.refused = true;
                call.ends = self.now + 0.05;
                self.serving.push(call);
            }
            _ => self.queued.push_back(call),
        }
    }

    fn run(&mut self, seconds: f64) {
        let until = self.now + seconds;
        loop {
            while self.window.in_flight() < self.window.places().min(self.demand) {
                self.send();
            }
            let Some(call) = self.serving.pop() else {
                return;
            };
            self.pass_to(call.ends);
            let now = self.epoch + Duration::from_secs_f64(self.now);
            let took = Duration::from_secs_f64(self.now - call.began);
            if call.refused {
                self.seen.refused += 1;
                self.window.overloaded(took, now);
            } else {
                self.inside -= 1;
                self.seen.tokens += call.tokens;
                self.seen.answers += 1;
                self.window.succeeded(took, call.tokens, now);
                if let Some(next) = self.queued.front().copied()
                    && self.inside < self.server.places()
                {
                    self.queued.pop_front();
                    self.serve(next);
                }
            }
            if self.now > until {
                return;
            }
        }
    }

    fn pass_to(&mut self, time: f64) {
        let (passed, size) = (time - self.now, self.window.places() as f64);
        let share = size / self.server.places() as f64;
        if (0.7..=1.3).contains(&share) {
            self.seen.seconds_in_band += passed;
        }
        self.seen.size_seconds += passed * size;
        self.now = time;
    }

    /// Runs and tells what happened in that time.
    fn watch(&mut self, seconds: f64) -> Seen {
        self.seen = Seen {
            since: self.now,
            ..Seen::default()
        };
        self.run(seconds);
        self.seen
    }

    /// Tokens per second of a window that is always exactly right.
    fn best(&self) -> f64 {
        let mean_tokens = (0..100_000)
            .map(|step| (10.0 * 100.0_f64.powf(f64::from(step) / 1e5)) as u64 as f64)
            .sum::<f64>()
            / 1e5;
        let places = self.server.places();
        let call = SECONDS_PER_CALL + SECONDS_PER_TOKEN * mean_tokens;
        mean_tokens * places as f64 / (call * self.server.slowed_by(places))
    }

    /// The bars: the window is around the server's places and loses little.
    fn check_settled(&mut self, seconds: f64) {
        let seen = self.watch(seconds);
        let passed = self.now - seen.since;
        let places = self.server.places() as f64;
        let mean = seen.size_seconds / passed / places;
        let in_band = seen.seconds_in_band / passed;
        let throughput = seen.tokens as f64 / passed / self.best();
        let refused = seen.refused as f64 / (seen.answers + seen.refused) as f64;
        let told = format!(
            "{places} places: mean size {mean:.2}, in band {in_band:.3}, throughput \
             {throughput:.3}, refused {refused:.4}"
        );
        assert!((0.7..=1.3).contains(&mean) && in_band > 0.85, "{told}");
        assert!(throughput >= 0.9, "{told}");
        assert!(refused < 0.02, "{told}");
    }
}

/// Time enough for the climb from the first places.
const CLIMB: f64 = 1_200.0;
const WATCH: f64 = 3_600.0;

#[test]
fn window_settles_at_a_server_that_queues() {
    for places in [4, 10, 24, 64, 300] {
        let mut simulation = Simulation::new(Server::Queueing { places });
        simulation.run(CLIMB);
        simulation.check_settled(WATCH);
    }
}

#[test]
fn window_settles_at_a_server_that_refuses() {
    for places in [4, 10, 24, 64, 300] {
        let mut simulation = Simulation::new(Server::Refusing { places });
        simulation.run(CLIMB);
        simulation.check_settled(WATCH);
    }
}

#[test]
fn batching_server_is_filled_though_each_call_slows_the_others() {
    for slows in [0.005, 0.02] {
        let places = 100;
        let mut simulation = Simulation::new(Server::Batching { places, slows });
        simulation.run(2.0 * CLIMB);
        let seen = simulation.watch(WATCH);
        let throughput = seen.tokens as f64 / (simulation.now - seen.since) / simulation.best();
        assert!(throughput >= 0.9, "slows {slows}: {throughput}");
    }
}

#[test]
fn window_follows_a_server_that_grows_and_shrinks() {
    for kind in [
        |places| Server::Queueing { places },
        |places| Server::Refusing { places },
    ] {
        let mut simulation = Simulation::new(kind(60));
        simulation.run(CLIMB);
        for places in [20, 80, 30, 120, 15] {
            simulation.server = kind(places);
            simulation.run(CLIMB);
            simulation.check_settled(1_200.0);
        }
    }
}
#[test]
fn window_that_is_not_used_does_not_grow() {
    let mut simulation = Simulation::new(Server::Queueing { places: 100 });
    simulation.demand = 5;
    simulation.run(CLIMB);
    assert_eq!(simulation.window.places(), FIRST_PLACES);
}

#[test]
fn window_stays_within_its_bounds() {
    let mut window = Window::default();
    let mut now = Instant::now();
    let took = Duration::from_secs(1);
    for _ in 0..50 {
        window.began();
        now += 2 * took;
        window.overloaded(took, now);
    }
    assert_eq!((window.places(), window.in_flight()), (1, 0));
    for _ in 0..200 {
        now += 2 * took;
        for _ in 0..window.places().max(24) {
            while window.in_flight() < window.places() {
                window.began();
            }
            window.succeeded(took, 100, now);
        }
    }
    assert_eq!(window.places(), 1_024);
}

#[test]
fn server_that_becomes_slower_for_all_keeps_its_window() {
    let mut simulation = Simulation::new(Server::Batching {
        places: 60,
        slows: 0.0,
    });
    simulation.run(CLIMB);
    simulation.check_settled(1_200.0);
    // Three times as slow whatever the window is: longer prompts, say.
    simulation.pace = 3.0;
    simulation.run(CLIMB);
    let seen = simulation.watch(WATCH);
    let mean = seen.size_seconds / (simulation.now - seen.since) / 60.0;
    assert!((0.7..=1.3).contains(&mean), "{mean}");
}
