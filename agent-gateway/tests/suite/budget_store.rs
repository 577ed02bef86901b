//! The contract of a budget store, kept by both back ends; then whatever happens when:
//! random interleavings, a thousand at once, death by kill -9.

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use agon_agent_gateway::budgets::store::{
    Account, Bill, BudgetCaps, BudgetScope, BudgetStanding, BudgetStore, CallId, CostFilter,
    CostRow, EmbeddedBudgetStore, HoldVerdict, MoneyHold, RedisBudgetStore, Shortage,
};
use agon_agent_gateway::decision::Usage;
use agon_agent_gateway::ledger::{EmbeddedLedger, Ledger};
use agon_agent_gateway::money::{Day, NanoDollars};
use agon_agent_gateway::peers::Peers;
use agon_agent_gateway::store_error::StoreError;
use agon_service_kit::clock::Clock;
use agon_service_kit::folder::Folder;
use async_trait::async_trait;

use crate::ground::{Ground, ScratchFiles, contract};
use crate::redis_server::RedisServer;
use crate::support::until;

/// Files of one process, which may crash.
struct EmbeddedGround {
    files: ScratchFiles,
    ledger: parking_lot::Mutex<Option<Arc<EmbeddedLedger>>>,
}

impl EmbeddedGround {
    fn new() -> Self {
        Self {
            files: ScratchFiles::new(),
            ledger: parking_lot::Mutex::default(),
        }
    }

    /// As the end of a process: what it held is nobody's now.
    async fn crash(&self) {
        let ledger = self.ledger.lock().take();
        if let Some(ledger) = ledger {
            ledger.close().await;
        }
    }
}

/// A process that another test is just starting has our files open for a moment,
/// and their locks with them.
fn open_ledger(path: &Path, clock: Clock) -> EmbeddedLedger {
    let began = Instant::now();
    loop {
        match EmbeddedLedger::open_with_clock(path, Arc::clone(&clock)) {
            Err(StoreError::InUse { .. }) if began.elapsed() < Duration::from_secs(10) => {
                std::thread::yield_now();
            }
            opened => return opened.unwrap(),
        }
    }
}

#[async_trait]
impl Ground<dyn BudgetStore> for EmbeddedGround {
    async fn open(&self) -> Arc<dyn BudgetStore> {
        let ledger = {
            let mut open = self.ledger.lock();
            let (file, clock) = (self.files.file("ledger.sqlite"), self.files.clock());
            let ledger = open.get_or_insert_with(|| Arc::new(open_ledger(&file, clock)));
            Arc::clone(ledger)
        };
        Arc::new(EmbeddedBudgetStore::open(&ledger).await.unwrap())
    }

    fn pass(&self, time: Duration) {
        self.files.move_clock(time);
    }
}

#[async_trait]
impl Ground<dyn BudgetStore> for RedisServer {
    async fn open(&self) -> Arc<dyn BudgetStore> {
        Arc::new(RedisBudgetStore::new(self.connection().await))
    }
}

contract!(
    EmbeddedGround::new();
    hold_is_for_the_most_and_settled_for_what_it_cost,
    call_that_may_fit_later_waits_and_one_that_cannot_is_told_why,
    smaller_of_two_budgets_binds_and_neither_is_touched_alone,
    attempt_is_held_and_charged_once_however_often_it_is_said,
    released_hold_costs_nothing,
    hold_of_nothing_is_settled_released_and_given_up_for_lost,
    looking_tells_what_reserving_would_and_holds_nothing,
    raised_and_lowered_budgets_count_at_once,
    spending_without_a_budget_counts_under_a_later_one,
    hold_of_the_dead_is_spent_in_full_and_corrected_if_they_were_not,
    rows_are_kept_by_day_team_experiment_and_model,
    awkward_names_and_absurd_numbers_are_kept_apart,
    thousand_reservers_at_once_never_overspend,
    random_interleavings_never_overspend_and_lose_no_cost,
);

const DAY: &str = "2026-11-21";
const LONG: Duration = Duration::from_secs(3_600);
const SHORT: Duration = Duration::from_millis(300);

fn attempt(number: u64) -> CallId {
    CallId {
        owner: "gateway".to_owned(),
        number,
    }
}

fn account(team: &str, experiment: &str) -> Account {
    Account {
        day: DAY.parse().unwrap(),
        team: team.to_owned(),
        experiment: experiment.to_owned(),
        model: "m".to_owned(),
    }
}

/// Of team `t`, experiment `e`.
fn hold(number: u64, most: u64, team: Option<u64>, experiment: Option<u64>) -> MoneyHold {
    MoneyHold {
        attempt: attempt(number),
        account: account("t", "e"),
        most: NanoDollars(most),
        budgets: BudgetCaps {
            team: team.map(NanoDollars),
            experiment: experiment.map(NanoDollars),
        },
        lasts: LONG,
    }
}

fn usage(input: u64, output: u64) -> Usage {
    Usage {
        input_tokens: input,
        output_tokens: output,
        ..Usage::default()
    }
}

fn bill(number: u64, cost: Option<u64>) -> Bill {
    Bill {
        attempt: attempt(number),
        account: account("t", "e"),
        usage: usage(10, 1),
        cost: cost.map(NanoDollars),
    }
}

fn wait_for_team() -> HoldVerdict {
    HoldVerdict::Wait(BudgetScope::Team("t".to_owned()))
}

fn wait_for_experiment() -> HoldVerdict {
    HoldVerdict::Wait(BudgetScope::Experiment("e".to_owned()))
}

async fn reserve(store: &dyn BudgetStore, hold: MoneyHold) -> HoldVerdict {
    store.reserve(&hold).await.unwrap()
}

async fn standing(store: &dyn BudgetStore, scope: BudgetScope) -> (u64, u64) {
    let standings = store.standings().await.unwrap();
    let found = standings.iter().find(|standing| standing.scope == scope);
    found.map_or((0, 0), |found| (found.spent.0, found.reserved.0))
}

/// Spent and reserved of team `t`.
async fn team(store: &dyn BudgetStore) -> (u64, u64) {
    standing(store, BudgetScope::Team("t".to_owned())).await
}

async fn experiment(store: &dyn BudgetStore) -> (u64, u64) {
    standing(store, BudgetScope::Experiment("e".to_owned())).await
}

async fn rows(store: &dyn BudgetStore) -> Vec<CostRow> {
    store.costs(&CostFilter::default()).await.unwrap()
}

fn cost_of(rows: &[CostRow]) -> u64 {
    rows.iter().map(|row| row.cost.0).sum()
}

async fn hold_is_for_the_most_and_settled_for_what_it_cost(ground: &dyn Ground<dyn BudgetStore>) {
    let store = ground.open().await;
    let granted = reserve(&*store, hold(1, 60, Some(100), Some(80))).await;
    assert_eq!(granted, HoldVerdict::Granted);
    assert_eq!(team(&*store).await, (0, 60));
    assert_eq!(experiment(&*store).await, (0, 60));
    store.settle(&bill(1, Some(7))).await.unwrap();
    assert_eq!(team(&*store).await, (7, 0));
    assert_eq!(experiment(&*store).await, (7, 0));
    let standings = store.standings().await.unwrap();
    let expected = [
        BudgetStanding {
            scope: BudgetScope::Team("t".to_owned()),
            spent: NanoDollars(7),
            reserved: NanoDollars(0),
            last_budget: None,
        },
        BudgetStanding {
            scope: BudgetScope::Experiment("e".to_owned()),
            spent: NanoDollars(7),
            reserved: NanoDollars(0),
            last_budget: Some(NanoDollars(80)),
        },
    ];
    assert_eq!(standings, expected);
}

async fn call_that_may_fit_later_waits_and_one_that_cannot_is_told_why(
    ground: &dyn Ground<dyn BudgetStore>,
) {
    let store = ground.open().await;
    reserve(&*store, hold(1, 60, Some(100), None)).await;
    assert_eq!(
        reserve(&*store, hold(2, 41, Some(100), None)).await,
        wait_for_team()
    );
    assert_eq!(
        reserve(&*store, hold(3, 40, Some(100), None)).await,
        HoldVerdict::Granted
    );
    store.settle(&bill(1, Some(10))).await.unwrap();
    assert_eq!(
        reserve(&*store, hold(2, 41, Some(100), None)).await,
        HoldVerdict::Granted
    );
    let never = reserve(&*store, hold(4, 91, Some(100), None)).await;
    let shortage = Shortage {
        scope: BudgetScope::Team("t".to_owned()),
        budget: NanoDollars(100),
        spent: NanoDollars(10),
        reserved: NanoDollars(81),
    };
    assert_eq!(never, HoldVerdict::Spent(shortage));
}

async fn smaller_of_two_budgets_binds_and_neither_is_touched_alone(
    ground: &dyn Ground<dyn BudgetStore>,
) {
    let store = ground.open().await;
    reserve(&*store, hold(1, 50, Some(1_000), Some(100))).await;
    let waits = reserve(&*store, hold(2, 60, Some(1_000), Some(100))).await;
    assert_eq!(waits, wait_for_experiment());
    assert_eq!(team(&*store).await, (0, 50));
    // Spent in one is final, though the other would have it wait.
    let spent = reserve(&*store, hold(3, 101, Some(150), Some(100))).await;
    assert!(
        matches!(&spent, HoldVerdict::Spent(shortage) if shortage.scope == BudgetScope::Experiment("e".into())),
        "{spent:?}"
    );
    assert_eq!(experiment(&*store).await, (0, 50));
    // Another experiment of the team has its own money but not its own team.
    let mut other = hold(4, 990, Some(1_000), Some(1_000));
    other.account.experiment = "f".to_owned();
    assert_eq!(reserve(&*store, other).await, wait_for_team());
}

async fn attempt_is_held_and_charged_once_however_often_it_is_said(
    ground: &dyn Ground<dyn BudgetStore>,
) {
    let store = ground.open().await;
    for _ in 0..3 {
        let again = reserve(&*store, hold(1, 60, Some(100), None)).await;
        assert_eq!(again, HoldVerdict::Granted);
    }
    assert_eq!(team(&*store).await, (0, 60));
    for _ in 0..3 {
        store.settle(&bill(1, Some(7))).await.unwrap();
        store.settle(&bill(2, Some(1))).await.unwrap();
    }
    store.release(&attempt(1)).await.unwrap();
    assert_eq!(team(&*store).await, (8, 0));
    assert_eq!(rows(&*store).await[0].calls, 2);
}

async fn released_hold_costs_nothing(ground: &dyn Ground<dyn BudgetStore>) {
    let store = ground.open().await;
    reserve(&*store, hold(1, 60, Some(100), Some(100))).await;
    for _ in 0..2 {
        store.release(&attempt(1)).await.unwrap();
    }
    store.release(&attempt(2)).await.unwrap();
    assert_eq!(team(&*store).await, (0, 0));
    assert_eq!(experiment(&*store).await, (0, 0));
    assert!(rows(&*store).await.is_empty());
}

async fn hold_of_nothing_is_settled_released_and_given_up_for_lost(
    ground: &dyn Ground<dyn BudgetStore>,
) {
    let store = ground.open().await;
    for number in 1..5 {
        let mut nothing = hold(number, 0, Some(100), Some(100));
        nothing.lasts = if number < 3 { LONG } else { Duration::ZERO };
        assert_eq!(reserve(&*store, nothing).await, HoldVerdict::Granted);
    }
    store.settle(&bill(1, Some(7))).await.unwrap();
    store.release(&attempt(2)).await.unwrap();
    ground.pass(SHORT);
    until("the dead have called", async || {
        rows(&*store).await[0].calls == 3
    })
    .await;
    store.settle(&bill(3, Some(2))).await.unwrap();
    store.release(&attempt(4)).await.unwrap();
    assert_eq!(team(&*store).await, (9, 0));
    assert_eq!(rows(&*store).await[0].calls, 2);
}

async fn looking_tells_what_reserving_would_and_holds_nothing(
    ground: &dyn Ground<dyn BudgetStore>,
) {
    let store = ground.open().await;
    let look = async |number, most| {
        let hold = hold(number, most, Some(100), Some(100));
        store.look(&hold).await.unwrap()
    };
    assert_eq!(look(1, 60).await, HoldVerdict::Granted);
    assert_eq!(team(&*store).await, (0, 0));
    reserve(&*store, hold(2, 60, Some(100), Some(100))).await;
    assert_eq!(look(1, 60).await, wait_for_team());
    store.settle(&bill(2, Some(60))).await.unwrap();
    assert!(matches!(look(1, 60).await, HoldVerdict::Spent(_)));
    assert_eq!(team(&*store).await, (60, 0));
}

async fn raised_and_lowered_budgets_count_at_once(ground: &dyn Ground<dyn BudgetStore>) {
    let store = ground.open().await;
    store.settle(&bill(1, Some(100))).await.unwrap();
    let spent = reserve(&*store, hold(2, 1, Some(100), None)).await;
    assert!(matches!(spent, HoldVerdict::Spent(_)));
    assert_eq!(
        reserve(&*store, hold(2, 1, Some(101), None)).await,
        HoldVerdict::Granted
    );
    let lowered = reserve(&*store, hold(3, 1, Some(50), None)).await;
    assert!(matches!(lowered, HoldVerdict::Spent(_)));
    assert_eq!(
        reserve(&*store, hold(4, 1_000, None, None)).await,
        HoldVerdict::Granted
    );
}

async fn spending_without_a_budget_counts_under_a_later_one(ground: &dyn Ground<dyn BudgetStore>) {
    let store = ground.open().await;
    for number in 0..5 {
        store.settle(&bill(number, Some(10))).await.unwrap();
    }
    let spent = reserve(&*store, hold(9, 51, Some(100), None)).await;
    assert!(matches!(spent, HoldVerdict::Spent(shortage) if shortage.spent == NanoDollars(50)));
    assert_eq!(
        reserve(&*store, hold(9, 50, Some(100), None)).await,
        HoldVerdict::Granted
    );
}

async fn hold_of_the_dead_is_spent_in_full_and_corrected_if_they_were_not(
    ground: &dyn Ground<dyn BudgetStore>,
) {
    let store = ground.open().await;
    for number in [1, 2] {
        let mut short = hold(number, 40, Some(100), Some(200));
        short.lasts = SHORT;
        assert_eq!(reserve(&*store, short).await, HoldVerdict::Granted);
    }
    assert_eq!(
        reserve(&*store, hold(3, 21, Some(100), None)).await,
        wait_for_team()
    );
    ground.pass(SHORT);
    // Nobody will settle them: waiting becomes being told.
    until("the holds count as spent", async || {
        let told = reserve(&*store, hold(3, 21, Some(100), None)).await;
        matches!(told, HoldVerdict::Spent(shortage) if shortage.spent == NanoDollars(80))
    })
    .await;
    assert_eq!(team(&*store).await, (80, 0));
    assert_eq!(experiment(&*store).await, (80, 0));
    assert_eq!(cost_of(&rows(&*store).await), 80);

    // One was only slow.
    for _ in 0..2 {
        store.settle(&bill(1, Some(5))).await.unwrap();
    }
    assert_eq!(team(&*store).await, (45, 0));
    assert_eq!(experiment(&*store).await, (45, 0));
    let left = rows(&*store).await;
    assert_eq!((left.len(), left[0].calls, cost_of(&left)), (1, 2, 45));
    // And the other had not even called.
    store.release(&attempt(2)).await.unwrap();
    assert_eq!(team(&*store).await, (5, 0));
    assert_eq!(rows(&*store).await[0].calls, 1);
}

async fn rows_are_kept_by_day_team_experiment_and_model(ground: &dyn Ground<dyn BudgetStore>) {
    let store = ground.open().await;
    let day = |text: &str| -> Day { text.parse().unwrap() };
    let mut number = 0;
    for (day_text, team, experiment, model) in [
        ("2026-11-20", "t", "e", "m"),
        ("2026-11-21", "t", "e", "m"),
        ("2026-11-21", "t", "e", "n"),
        ("2026-11-21", "t", "", "m"),
        ("2026-11-21", "s", "e", "m"),
        ("2026-11-22", "t", "f", "m"),
    ] {
        for cost in [Some(NanoDollars(3)), None] {
            number += 1;
            let bill = Bill {
                attempt: attempt(number),
                account: Account {
                    day: day(day_text),
                    team: team.to_owned(),
                    experiment: experiment.to_owned(),
                    model: model.to_owned(),
                },
                usage: Usage {
                    input_tokens: 100,
                    output_tokens: 20,
                    cached_input_tokens: 30,
                    reasoning_tokens: 4,
                    estimated: cost.is_none(),
                    cache_write_input_tokens: 5,
                },
                cost,
            };
            store.settle(&bill).await.unwrap();
        }
    }
    let all = rows(&*store).await;
    let named: Vec<_> = all
        .iter()
        .map(|row| {
            let Account {
                day,
                team,
                experiment,
                model,
            } = &row.account;
            format!("{day} {team}/{experiment}/{model}")
        })
        .collect();
    let expected = [
        "2026-11-20 t/e/m",
        "2026-11-21 s/e/m",
        "2026-11-21 t//m",
        "2026-11-21 t/e/m",
        "2026-11-21 t/e/n",
        "2026-11-22 t/f/m",
    ];
    assert_eq!(named, expected);
    for row in &all {
        assert_eq!((row.calls, row.unpriced_calls, row.cost.0), (2, 1, 3));
        let expected = Usage {
            input_tokens: 200,
            output_tokens: 40,
            cached_input_tokens: 60,
            reasoning_tokens: 8,
            estimated: true,
            cache_write_input_tokens: 10,
        };
        assert_eq!(row.usage, expected);
    }
    let count = async |filter: CostFilter| store.costs(&filter).await.unwrap().len();
    let some = |text: &str| Some(text.to_owned());
    let (from, to) = (Some(day("2026-11-21")), Some(day("2026-11-21")));
    assert_eq!(
        count(CostFilter {
            from,
            ..CostFilter::default()
        })
        .await,
        5
    );
    assert_eq!(
        count(CostFilter {
            to,
            ..CostFilter::default()
        })
        .await,
        5
    );
    assert_eq!(
        count(CostFilter {
            from,
            to,
            ..CostFilter::default()
        })
        .await,
        4
    );
    assert_eq!(
        count(CostFilter {
            team: some("s"),
            ..CostFilter::default()
        })
        .await,
        1
    );
    let of_both = CostFilter {
        team: some("t"),
        experiment: some("e"),
        ..CostFilter::default()
    };
    assert_eq!(count(of_both).await, 3);
}

async fn awkward_names_and_absurd_numbers_are_kept_apart(ground: &dyn Ground<dyn BudgetStore>) {
    let store = ground.open().await;
    let names = [
        "a/b",
        "a\",\"b",
        "]calls",
        "'; --",
        "\u{1F600}",
        "a b",
        "{x}",
    ];
    for (number, name) in (0..).zip(names) {
        let mut bill = bill(number, Some(1));
        bill.account.team = name.to_owned();
        bill.account.experiment = name.to_owned();
        bill.account.model = name.to_owned();
        let mut hold = hold(number, 9, Some(10), Some(10));
        hold.account = bill.account.clone();
        assert_eq!(reserve(&*store, hold).await, HoldVerdict::Granted);
        store.settle(&bill).await.unwrap();
        assert_eq!(
            standing(&*store, BudgetScope::Team(name.to_owned())).await,
            (1, 0)
        );
        assert_eq!(
            standing(&*store, BudgetScope::Experiment(name.to_owned())).await,
            (1, 0)
        );
    }
    let mut kept: Vec<_> = rows(&*store)
        .await
        .into_iter()
        .map(|row| row.account.model)
        .collect();
    let mut expected = names.map(str::to_owned);
    kept.sort();
    expected.sort();
    assert_eq!(kept, expected);

    for number in 100..103 {
        let absurd = Bill {
            usage: usage(u64::MAX, u64::MAX),
            ..bill(number, Some(u64::MAX))
        };
        store.settle(&absurd).await.unwrap();
        let most = reserve(&*store, hold(number + 100, u64::MAX, None, None)).await;
        assert_eq!(most, HoldVerdict::Granted);
    }
    let most = agon_agent_gateway::budgets::store::MOST_PER_CALL;
    assert_eq!(team(&*store).await, (3 * most, 3 * most));
    let never = reserve(&*store, hold(300, 1, Some(u64::MAX), None)).await;
    assert_eq!(never, HoldVerdict::Granted);
}

async fn thousand_reservers_at_once_never_overspend(ground: &dyn Ground<dyn BudgetStore>) {
    let store = ground.open().await;
    const BUDGET: u64 = 10_000;
    let calls = (0..1_000_u64).map(|number| {
        let store = Arc::clone(&store);
        async move {
            let most = 40 + number % 7;
            let verdict = reserve(&*store, hold(number, most, Some(BUDGET), Some(BUDGET))).await;
            if verdict != HoldVerdict::Granted {
                return 0;
            }
            let cost = most - number % 3;
            store.settle(&bill(number, Some(cost))).await.unwrap();
            cost
        }
    });
    let costs = futures_util::future::join_all(calls).await;
    let spent: u64 = costs.iter().sum();
    assert!(spent <= BUDGET, "{spent}");
    assert!(costs.iter().filter(|cost| **cost > 0).count() >= 200);
    assert_eq!(team(&*store).await, (spent, 0));
    assert_eq!(cost_of(&rows(&*store).await), spent);
}

/// SplitMix64 (Steele, Lea and Flood, 2014): a run is repeated from its seed.
struct Luck(u64);

impl Luck {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        (mixed ^ (mixed >> 31)) % bound
    }
}

/// A call under way. The holder of a lost one is believed dead at once, though it
/// may still settle.
struct UnderWay {
    number: u64,
    most: u64,
    lost: bool,
}

async fn random_interleavings_never_overspend_and_lose_no_cost(
    ground: &dyn Ground<dyn BudgetStore>,
) {
    const BUDGETS: [u64; 2] = [2_000, 700];
    let store = ground.open().await;
    for seed in 0..8_u64 {
        let mut luck = Luck(seed);
        let (team, experiment) = (format!("t{seed}"), format!("e{seed}"));
        let mut under_way: Vec<UnderWay> = Vec::new();
        let mut settled = 0;
        for step in 0..250_u64 {
            let number = seed * 1_000 + step;
            match luck.below(10) {
                0..5 => {
                    let most = 1 + luck.below(120);
                    let lost = luck.below(8) == 0;
                    let mut hold = hold(number, most, Some(BUDGETS[0]), Some(BUDGETS[1]));
                    hold.account = account(&team, &experiment);
                    if lost {
                        hold.lasts = Duration::ZERO;
                    }
                    if reserve(&*store, hold).await == HoldVerdict::Granted {
                        under_way.push(UnderWay { number, most, lost });
                    }
                }
                // Settled, released, or it goes on.
                kind @ 5..9 if !under_way.is_empty() => {
                    let chosen = luck.below(under_way.len() as u64);
                    let call = under_way.swap_remove(usize::try_from(chosen).unwrap());
                    if kind == 5 {
                        store.release(&attempt(call.number)).await.unwrap();
                        continue;
                    }
                    let mut bill = bill(call.number, Some(luck.below(call.most + 1)));
                    bill.account = account(&team, &experiment);
                    store.settle(&bill).await.unwrap();
                    settled += bill.cost.unwrap().0;
                }
                _ => {}
            }
            if step % 10 == 0 {
                let sum = |lost: bool| -> u64 {
                    let calls = under_way.iter().filter(|call| call.lost == lost);
                    calls.map(|call| call.most).sum()
                };
                let (spent, reserved) = (settled + sum(true), sum(false));
                let stands = standing(&*store, BudgetScope::Experiment(experiment.clone())).await;
                assert_eq!(stands, (spent, reserved), "seed {seed} step {step}");
                assert!(spent + reserved <= BUDGETS[1], "seed {seed} step {step}");
                assert_eq!(
                    standing(&*store, BudgetScope::Team(team.clone())).await,
                    stands
                );
                let filter = CostFilter {
                    team: Some(team.clone()),
                    ..CostFilter::default()
                };
                assert_eq!(cost_of(&store.costs(&filter).await.unwrap()), spent);
            }
        }
    }
}

#[tokio::test]
async fn hold_of_a_crashed_process_is_spent_when_the_file_is_opened_again() {
    let ground = EmbeddedGround::new();
    let store = ground.open().await;
    reserve(&*store, hold(1, 60, Some(100), None)).await;
    store.settle(&bill(2, Some(10))).await.unwrap();
    ground.crash().await;
    let store = ground.open().await;
    assert_eq!(team(&*store).await, (70, 0));
    let spent = reserve(&*store, hold(3, 31, Some(100), None)).await;
    assert!(matches!(spent, HoldVerdict::Spent(_)));
    assert_eq!(cost_of(&rows(&*store).await), 70);
}

#[tokio::test]
async fn settlements_are_remembered_as_bits_that_expire() {
    let server = RedisServer::start().await;
    let store: Arc<dyn BudgetStore> = server.open().await;
    for number in [0, 1, 9, 1 << 20, (1 << 20) + 1] {
        store.settle(&bill(number, Some(1))).await.unwrap();
    }
    let mut connection = server.connection().await;
    for (part, bits) in [(0, 3_u64), (1, 2)] {
        let key = format!("agon:purse:{{money}}:settled:gateway:{part}");
        let (counted, left_ms): (u64, u64) = ::redis::pipe()
            .cmd("BITCOUNT")
            .arg(&key)
            .cmd("PTTL")
            .arg(&key)
            .query_async(&mut connection)
            .await
            .unwrap();
        assert_eq!(counted, bits);
        assert!((80_000_000..=86_400_000).contains(&left_ms), "{left_ms}");
    }
}

/// Set for the process that is to be killed; holds the ledger's path.
const VICTIM: &str = "AGON_TEST_BUDGET_VICTIM";

#[tokio::test]
async fn killed_process_loses_no_cost_it_settled_and_no_hold() {
    if let Some(path) = std::env::var_os(VICTIM) {
        return spend_until_killed(Path::new(&path)).await;
    }
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("ledger.sqlite");
    let name = "budget_store::killed_process_loses_no_cost_it_settled_and_no_hold";
    let mut victim = Command::new(std::env::current_exe().unwrap())
        .args([name, "--exact", "--nocapture"])
        .env(VICTIM, &path)
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let lines = BufReader::new(victim.stdout.take().unwrap()).lines();
    let said = lines
        .map_while(Result::ok)
        .filter_map(|line| line.parse::<u64>().ok());
    let acknowledged = said.take(200).last();
    victim.kill().unwrap();
    victim.wait().unwrap();
    // Before settlement number n, n holds were acknowledged, and all but those
    // settled count in full.
    let settled = acknowledged.unwrap();
    let ledger = EmbeddedLedger::open(&path).unwrap();
    let store = EmbeddedBudgetStore::open(&ledger).await.unwrap();
    let (spent, reserved) = team(&store).await;
    assert_eq!(reserved, 0);
    // One more hold and one more settlement may have been on their way.
    let least = 200 * 3 + 100;
    assert!(spent >= least && settled == 199, "{spent}");
    assert_eq!(cost_of(&rows(&store).await), spent);
}

async fn spend_until_killed(path: &Path) {
    let ledger = EmbeddedLedger::open(path).unwrap();
    let store = EmbeddedBudgetStore::open(&ledger).await.unwrap();
    // This call never comes back.
    reserve(&store, hold(u64::MAX, 100, Some(u64::MAX), None)).await;
    for number in 0..1_000_000 {
        reserve(&store, hold(number, 5, Some(u64::MAX), None)).await;
        store.settle(&bill(number, Some(3))).await.unwrap();
        println!("{number}");
    }
}

#[tokio::test]
async fn what_a_living_process_holds_stays_held_when_another_one_opens_the_file() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("ledger.sqlite");
    let open = async |name: &str| {
        let peers = Peers::enter(&Folder::open(folder.path()).unwrap(), name).unwrap();
        let ledger = EmbeddedLedger::open_shared(&file).unwrap();
        let store = EmbeddedBudgetStore::open_shared(&ledger, Arc::new(peers)).await;
        (store.unwrap(), ledger)
    };
    let (first, _first_ledger) = open("first").await;
    let mut held = hold(7, 100, Some(1_000), None);
    "first".clone_into(&mut held.attempt.owner);
    assert_eq!(reserve(&first, held).await, HoldVerdict::Granted);
    let (second, _second_ledger) = open("second").await;
    assert_eq!(team(&second).await, (0, 100));
    let too_much = hold(8, 950, Some(1_000), None);
    assert!(matches!(
        reserve(&second, too_much).await,
        HoldVerdict::Wait(_)
    ));
    drop(first);
    let (third, _third_ledger) = open("third").await;
    assert_eq!(team(&third).await, (100, 0), "that of a dead one is spent");
}
