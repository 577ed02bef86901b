//! What the ascending auction comes to when everybody stays at the prices up to its
//! private value, without playing it. Called by the measures of `ascending_auction.rs`.

use super::AscendingParams;
use crate::games::private_values::Sale;

/// Who wins, and the price. Each bidder stays at so many called prices as fit into its
/// value; most of them win, the lowest seat of several. The last rival is the next by
/// the same order. It is asked before a winner of a lower seat, which then need not
/// accept the price that it refuses; a winner of a higher seat has accepted it already.
/// When both stay at the last price that can be called, the winner pays that.
///
/// So the price is at most one increment from the second highest value, which the
/// sealed form takes: above it only where the winner sits behind the last rival.
pub(super) fn truthful_sale(params: &AscendingParams, values: &[f64]) -> Option<Sale> {
    let increment = params.increment as f64;
    let stays = |seat: usize| ((values[seat] / increment) as i64).min(params.calls());
    // Of equal ones the first is best: the lowest seat.
    let best = |seats: &mut dyn Iterator<Item = usize>| {
        seats.reduce(|best, seat| {
            if stays(seat) > stays(best) {
                seat
            } else {
                best
            }
        })
    };
    let winner = best(&mut (0..values.len()))?;
    let rival = best(&mut (0..values.len()).filter(|seat| *seat != winner))?;
    let accepted = stays(rival) + i64::from(winner > rival);
    Some(Sale {
        winner,
        price: (accepted * params.increment) as f64,
    })
}
