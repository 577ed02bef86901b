//! Coordinators whose journal or archive fails, hangs or loses something at a certain point: what was
//! taken in stays, and nobody is stopped by it who does not need it.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use agon_coordinator::archive::Archive;
use agon_coordinator::{Coordinator, CoordinatorOptions};
use agon_proto::v1::ListExperimentsRequest;
use agon_service_kit::tasks::Tasks;

use crate::faulty::{Act, Call, Faulty, Gate};
use crate::stand::{LONG, submit};
use crate::worker::{Commands, commands};

/// A coordinator over such a journal, which also holds its archive.
struct Faulted {
    journal: Faulty,
    coordinator: Coordinator,
    tasks: Tasks,
}

impl Faulted {
    async fn open(journal: &Faulty) -> Self {
        let tasks = Tasks::new();
        let shared = Arc::new(journal.clone());
        let archive = Archive::in_journal(shared.clone());
        let options = CoordinatorOptions::default();
        let coordinator = Coordinator::over(shared, archive, options, &tasks).await;
        let mut in_charge = coordinator.in_charge();
        let came = in_charge.wait_for(|in_charge| *in_charge);
        tokio::time::timeout(LONG, came).await.unwrap().unwrap();
        Self {
            journal: journal.clone(),
            coordinator,
            tasks,
        }
    }

    fn commands(&self) -> Commands {
        commands(&self.coordinator.services())
    }

    /// The coordinator that comes after this one.
    async fn successor(self) -> Self {
        self.tasks.shutdown(LONG).await.unwrap();
        Self::open(&self.journal).await
    }
}

async fn names(commands: &mut Commands) -> Vec<String> {
    let listed = commands.list_experiments(ListExperimentsRequest {}).await;
    let listed = listed.unwrap().into_inner().experiments.into_iter();
    listed.map(|one| one.experiment_id).collect()
}

/// Loses the end of the journal once, when the gate is opened.
fn lose_end_once(journal: &Faulty, gate: &Arc<Gate>, refuse_first_mend: bool) {
    let (gate, lost) = (gate.clone(), AtomicBool::new(false));
    let refuse = AtomicBool::new(refuse_first_mend);
    journal.plan(move |call| match call {
        Call::Append if !lost.swap(true, Ordering::SeqCst) => Act::LoseEnd(gate.clone()),
        Call::PutSnapshot if refuse.swap(false, Ordering::SeqCst) => Act::Fail,
        _ => Act::Go,
    });
}

#[tokio::test]
async fn state_in_memory_stays_when_it_cannot_take_the_place_of_a_lost_end_at_once() {
    let stand = Faulted::open(&Faulty::new()).await;
    let gate = Gate::closed();
    gate.open();
    lose_end_once(&stand.journal, &gate, true);
    let id = submit(&mut stand.commands()).await.experiment_id;
    assert_eq!(names(&mut stand.commands()).await, [id.as_str()]);
    let next = stand.successor().await;
    assert_eq!(names(&mut next.commands()).await, [id]);
}

#[tokio::test]
async fn end_that_is_lost_while_a_coordinator_stops_is_mended() {
    let stand = Faulted::open(&Faulty::new()).await;
    let gate = Gate::closed();
    lose_end_once(&stand.journal, &gate, false);
    let mut commands = stand.commands();
    let submitted = tokio::spawn(async move { submit(&mut commands).await.experiment_id });
    gate.reached().await;
    let stopping = stand.tasks.shutdown_token();
    let tasks = stand.tasks.clone();
    let stopped = tokio::spawn(async move { tasks.shutdown(LONG).await });
    stopping.cancelled().await;
    // Everything runs on one thread: the owner has seen it afterwards.
    for _ in 0..100 {
        tokio::task::yield_now().await;
    }
    gate.open();
    stopped.await.unwrap().unwrap();
    let id = submitted.await.unwrap();
    let next = Faulted::open(&stand.journal).await;
    assert_eq!(names(&mut next.commands()).await, [id]);
}
