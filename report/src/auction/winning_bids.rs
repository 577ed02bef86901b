//! Winning bids of each player and of each group of bidders, those out for the same, as
//! a histogram with a kernel density over it (arXiv 2310.05746, niche experiment and
//! figure 8): which prices they pay.

use super::sections::{GROUPS, MEMBERS, WINNERS};
use crate::gathered::Gathered;
use crate::row::{Row, Value, list};
use crate::statistics::gaussian_density;

/// Bins of a histogram: enough to show two humps, few enough for ten repeats.
const BINS: usize = 20;

/// Points of a density per bin.
const POINTS_PER_BIN: usize = 5;

/// Winning bids of every player and of every group, with where their bins and densities are: 20
/// bins from 0 to the highest winning bid, each with its lower end, the last with both.
pub(super) fn table<K>(gathered: &Gathered<K>) -> Row {
    let players = gathered.rows(WINNERS.name);
    let highest = players.iter().flat_map(bids).fold(0.0, f64::max);
    let width = highest / BINS as f64;
    let at: Vec<f64> = if highest > 0.0 {
        let points = BINS * POINTS_PER_BIN;
        let point = |place: usize| highest * place as f64 / points as f64;
        (0..=points).map(point).collect()
    } else {
        Vec::new()
    };
    let histogram = |of: Row, row: &Row| {
        let bids: Vec<f64> = bids(row).collect();
        let mut counts = vec![0u64; if highest > 0.0 { BINS } else { 0 }];
        for bid in &bids {
            let place = (bid / width) as usize;
            if let Some(count) = counts.get_mut(place.min(BINS - 1)) {
                *count += 1;
            }
        }
        // Not defined for fewer than two winning bids and where all are the same.
        let density = gaussian_density(&bids, &at).unwrap_or_default();
        of.with("won", bids.len() as u64)
            .with("counts", list(counts))
            .with("density", density.map(list))
    };
    let members = gathered.rows(MEMBERS.name);
    let groups = gathered.rows(GROUPS.name);
    let groups = groups.iter().map(|row| {
        let own = members.iter();
        let own = own.filter(|member| member.get("group") == row.get("group"));
        let names = own.map(|member| member.word("player"));
        let of = row.clone().split(1).0.with("players", list(names));
        histogram(of, row)
    });
    let groups: Vec<Row> = groups.collect();
    let players = players.iter();
    let players = players.map(|row| histogram(row.clone().split(1).0, row));
    Row::default()
        .with("bin_width", width)
        .with("at", list(at.iter().copied()))
        .with("players", players.collect::<Vec<_>>())
        .with("groups", groups)
}

fn bids(row: &Row) -> impl Iterator<Item = f64> {
    row.list("bids").iter().filter_map(Value::number)
}
