//! Criteria and the marks that judges gave.
//! Folds events into a scene; what is unknown is absent. Called by `board.rs`.

use agon_engine::Seat;

use super::Fold;
use super::scene::{BoardSeat, Criterion, Marked, Scene};
use super::seen::Seen;

/// See the module.
#[derive(Default)]
pub struct Criteria(Vec<Criterion>);

impl Fold for Criteria {
    fn see(&mut self, event: &Seen<'_>) {
        match event.kind() {
            "criterion_opened" => self.0.push(Criterion {
                name: event
                    .text("criterion")
                    .unwrap_or_default()
                    .replace('_', " "),
                marks: Vec::new(),
            }),
            "round_result" => {
                let ratings = event.fact("ratings");
                if let Some(criterion) = self.0.last_mut() {
                    let marks = (0..ratings.len()).filter_map(|seat| {
                        let mark = ratings.entry(seat).number()?;
                        Some(Marked { seat, mark })
                    });
                    criterion.marks = marks.collect();
                }
            }
            _ => {}
        }
    }

    fn scene(&self) -> Scene {
        Scene::Criteria {
            criteria: self.0.clone(),
        }
    }

    fn seat(&self, seat: Seat) -> BoardSeat {
        let last = self.0.last();
        let mark = last.and_then(|last| last.marks.iter().find(|mark| mark.seat == seat));
        BoardSeat::playing(seat).figure("mark", mark.map(|mark| mark.mark))
    }
}
