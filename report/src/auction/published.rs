//! Published figures of AucArena and Harbor to read beside one's own; facts, not targets.
//! Each table is a file in `data/` and belongs to one preset, which names it under
//! `[report] compare`.

use crate::summary::{plain_table, trimmed};

/// One published table.
struct Published {
    /// What an experiment calls it.
    name: &'static str,
    /// What it holds, and where it is published.
    title: &'static str,
    /// Its rows below their headings.
    rows: &'static str,
}

const PUBLISHED: [Published; 4] = [
    Published {
        name: "aucarena-competition",
        title: "Published beside it: Spearman's rho of plan faithfulness (arXiv 2310.05746, figure 6);\n\
                lowest error rate of bids and beliefs: GPT-4, 0.21 % (section 4.2)",
        rows: include_str!("../../data/aucarena_faithfulness.csv"),
    },
    Published {
        name: "aucarena-human",
        title: "Published beside it: mean profit and items won by order of sale (arXiv 2310.05746,\n\
                table 2 in appendix B, four persons)",
        rows: include_str!("../../data/aucarena_human.csv"),
    },
    Published {
        name: "harbor-persona-profit",
        title: "Published beside it: profit ratio in percent, personas rotated and averaged (Harbor,\n\
                table 2)",
        rows: include_str!("../../data/harbor_persona_profit.csv"),
    },
    Published {
        name: "harbor-theory-of-mind",
        title: "Published beside it: Claude-3.5-Sonnet, personas rotated and averaged (Harbor, table 3)",
        rows: include_str!("../../data/harbor_theory_of_mind.csv"),
    },
];

/// The published table of this name with its source, in at most `width` columns; `None`
/// when there is none.
pub fn published(name: &str, width: u16) -> Option<String> {
    let published = PUBLISHED.iter().find(|table| table.name == name)?;
    let mut reader = csv::Reader::from_reader(published.rows.as_bytes());
    let mut table = plain_table(width);
    table.set_header(reader.headers().ok()?);
    for row in reader.records() {
        table.add_row(&row.ok()?);
    }
    Some(format!("{}\n\n{}", published.title, trimmed(&table)))
}
