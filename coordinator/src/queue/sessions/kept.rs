//! What a snapshot keeps of the sessions, and how they are made again from it. Who holds them is in
//! memory only.

use super::{Finished, Sessions, Shape, State, Tries};

/// Sessions as plain data. Those that were leased wait again: who holds them is in memory only.
#[derive(Debug, Default)]
pub struct Kept {
    /// By position.
    pub states: Vec<State>,
    /// Of those that are done, in order of position.
    pub finished: Vec<Finished>,
    /// Tries by position.
    pub tries: Vec<(u32, Tries)>,
    /// Reasons of those set aside.
    pub reasons: Vec<(u32, String)>,
    /// Those that wait behind all others, in order.
    pub last: Vec<u32>,
}

/// Takes the sessions down.
pub fn keep(sessions: &Sessions) -> Kept {
    let waiting = |position: usize| match sessions.tries(position as u32).losses {
        0 => State::Returned,
        _ => State::Suspect,
    };
    let states = sessions.states.iter().enumerate();
    let states = states.map(|(position, state)| match state {
        State::Leased => waiting(position),
        state => *state,
    });
    Kept {
        states: states.collect(),
        finished: sessions
            .finished_after(None)
            .map(|(_, done)| done)
            .collect(),
        tries: sessions
            .tries
            .iter()
            .map(|(at, tries)| (*at, *tries))
            .collect(),
        reasons: sessions
            .reasons
            .iter()
            .map(|(at, why)| (*at, why.clone()))
            .collect(),
        last: sessions.last.in_order().collect(),
    }
}

/// Makes sessions from what was kept; `None` when that is no grid of this shape.
pub fn restore(shape: Shape, kept: Kept) -> Option<Sessions> {
    let mut sessions = Sessions::new(shape);
    let count = shape.sessions();
    let named = kept.tries.iter().map(|(at, _)| at).chain(&kept.last);
    let named = named.chain(kept.reasons.iter().map(|(at, _)| at));
    if kept.states.len() != count as usize || named.copied().any(|at| at >= count) {
        return None;
    }
    let mut finished = kept.finished.into_iter();
    for (position, state) in kept.states.into_iter().enumerate() {
        sessions.set(position as u32, state);
        if state == State::Done {
            sessions.finished[position] = finished.next()?;
        }
    }
    for position in kept.last {
        if sessions.states[position as usize] == State::Last {
            sessions.set(position, State::Last);
        }
    }
    sessions.tries = kept.tries.into_iter().collect();
    sessions.reasons = kept.reasons.into_iter().collect();
    sessions.cursor = 0;
    Some(sessions)
}
