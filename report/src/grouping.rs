//! Observations in groups: what a section of a report groups by, which statistics it shows of
//! each group, and the sums that these need. Sums and counts are made here and nowhere else;
//! values are kept only where a statistic needs every one of them.

use std::collections::BTreeMap;

use crate::accumulator::Accumulator;
use crate::observation::{Observation, SessionObservations};
use crate::row::{Row, Value, list};

/// Rows of a report: groups of observations, and what is shown of each.
pub(crate) struct Section {
    /// What the rows are called.
    pub name: &'static str,
    /// What the labels of a group are called.
    pub labels: &'static [&'static str],
    /// The group of an observation; `None` of one that belongs to none.
    pub by: fn(&SessionObservations<'_>, &Observation<'_>) -> Option<Key>,
    /// What is shown of a group, in order.
    pub fields: &'static [(&'static str, Statistic)],
}

/// A number of the observations of a group.
#[derive(Clone, Copy)]
pub(crate) enum Statistic {
    /// How many there are of a measure.
    Count(&'static str),
    /// The sum of a measure that is counted.
    Total(&'static str),
    /// The mean of a measure.
    Mean(&'static str),
    /// Its sample standard deviation (n - 1).
    Deviation(&'static str),
    /// The sum of a measure that is 0 or 1 over how many there are.
    Share(&'static str),
    /// The sum of the first over the sum of all of the others.
    Ratio(&'static str, &'static [&'static str]),
    /// Its last value, a whole number.
    Last(&'static str),
    /// Its largest value, a whole number.
    Largest(&'static str),
    /// Anything else that is made of every value of these.
    Of(&'static [&'static str], fn(&Sums) -> Value),
}

/// The groups of a section, in the order in which they came first.
#[derive(Clone)]
pub(crate) struct Groups {
    section: &'static Section,
    measures: Vec<(&'static str, Keep)>,
    groups: Vec<(Key, Sums)>,
    places: BTreeMap<Key, usize>,
}

/// What tells a group from the others of its section.
pub(crate) type Key = Vec<Label>;

/// One of the things that a group is of.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Label {
    /// A round, a seat, a price.
    Number(i64),
    /// A name.
    Word(String),
    /// Several names.
    Words(Vec<String>),
}

/// Sums of a group by measure.
#[derive(Debug, Clone, Default)]
pub(crate) struct Sums(Vec<(&'static str, Sum)>);

/// Numbers of one measure.
#[derive(Debug, Clone, Default)]
struct Sum {
    numbers: Accumulator,
    total: f64,
    last: f64,
    largest: f64,
    values: Vec<f64>,
}

/// What is kept of a measure.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Keep {
    Sums,
    Values,
}

/// The group of a player: all its seats taken together.
pub(crate) fn by_player(session: &SessionObservations<'_>, one: &Observation<'_>) -> Option<Key> {
    Some(vec![session.player(one.at.seat?)?.into()])
}

/// The group of a player in a round.
pub(crate) fn by_player_and_round(
    session: &SessionObservations<'_>,
    one: &Observation<'_>,
) -> Option<Key> {
    Some(vec![
        session.player(one.at.seat?)?.into(),
        one.at.round?.into(),
    ])
}

/// One group of all sessions.
pub(crate) fn all_together(_: &SessionObservations<'_>, _: &Observation<'_>) -> Option<Key> {
    Some(Vec::new())
}

impl From<&str> for Label {
    fn from(word: &str) -> Self {
        Self::Word(word.to_owned())
    }
}

impl From<u32> for Label {
    fn from(number: u32) -> Self {
        Self::Number(number.into())
    }
}

impl From<&Label> for Value {
    fn from(label: &Label) -> Self {
        match label {
            Label::Number(number) => (*number).into(),
            Label::Word(word) => word.clone().into(),
            Label::Words(words) => list(words.iter().cloned()),
        }
    }
}

impl Groups {
    /// No group yet.
    pub fn new(section: &'static Section) -> Self {
        let mut measures: Vec<(&'static str, Keep)> = Vec::new();
        for (_, statistic) in section.fields {
            let (read, keep) = statistic.reads();
            for measure in read {
                match measures.iter_mut().find(|(known, _)| *known == measure) {
                    Some((_, known)) if keep == Keep::Values => *known = keep,
                    Some(_) => {}
                    None => measures.push((measure, keep)),
                }
            }
        }
        Self {
            section,
            measures,
            groups: Vec::new(),
            places: BTreeMap::new(),
        }
    }

    /// What its rows are called.
    pub fn name(&self) -> &'static str {
        self.section.name
    }

    /// Takes in the observations of a session that the section reads. A group is there as
    /// soon as anything belongs to it, even where means leave that out.
    pub fn add(&mut self, session: &SessionObservations<'_>) {
        for one in session.iter() {
            let mut measures = self.measures.iter();
            let Some((measure, keep)) = measures.find(|(known, _)| *known == one.measure) else {
                continue;
            };
            let Some(group) = (self.section.by)(session, one) else {
                continue;
            };
            let (measure, keep) = (*measure, *keep);
            let sums = self.sums(group);
            if one.counts() {
                sums.add(measure, keep, one.value);
            }
        }
    }

    fn sums(&mut self, group: Key) -> &mut Sums {
        let known = self.places.get(&group).copied();
        let place = known.unwrap_or_else(|| {
            self.places.insert(group.clone(), self.groups.len());
            self.groups.push((group, Sums::default()));
            self.groups.len() - 1
        });
        &mut self.groups[place].1
    }

    /// Takes in what was gathered of another setting.
    pub fn merge(&mut self, other: &Self) {
        for (group, sums) in &other.groups {
            self.sums(group.clone()).merge(sums);
        }
    }

    /// Its rows; those with the same first label stand together.
    pub fn rows(&self) -> Vec<Row> {
        let mut first: Vec<Option<&Label>> = Vec::new();
        for (labels, _) in &self.groups {
            if !first.contains(&labels.first()) {
                first.push(labels.first());
            }
        }
        let of_label = first.into_iter().flat_map(|label| {
            let groups = self.groups.iter();
            groups.filter(move |(labels, _)| labels.first() == label)
        });
        of_label
            .map(|(labels, sums)| self.row(labels, sums))
            .collect()
    }

    /// The row of a group that nothing belongs to.
    pub fn empty(&self, labels: &[Label]) -> Row {
        self.row(labels, &Sums::default())
    }

    fn row(&self, labels: &[Label], sums: &Sums) -> Row {
        let labels = self.section.labels.iter().zip(labels);
        let row = labels.fold(Row::default(), |row, (name, label)| row.with(*name, label));
        let fields = self.section.fields.iter();
        fields.fold(row, |row, (name, statistic)| {
            row.with(*name, statistic.of(sums))
        })
    }
}

impl Statistic {
    /// The measures that it is made of, and whether it needs every value of them.
    fn reads(&self) -> (Vec<&'static str>, Keep) {
        match self {
            Self::Of(measures, _) => (measures.to_vec(), Keep::Values),
            Self::Ratio(part, whole) => ([&[*part], *whole].concat(), Keep::Sums),
            Self::Count(one)
            | Self::Total(one)
            | Self::Mean(one)
            | Self::Deviation(one)
            | Self::Share(one)
            | Self::Largest(one)
            | Self::Last(one) => (vec![one], Keep::Sums),
        }
    }

    fn of(&self, sums: &Sums) -> Value {
        match self {
            Self::Count(measure) => sums.count(measure).into(),
            Self::Total(measure) => (sums.total(measure) as u64).into(),
            Self::Mean(measure) => sums.numbers(measure).mean().into(),
            Self::Deviation(measure) => sums.numbers(measure).standard_deviation().into(),
            Self::Share(measure) => {
                let count = sums.count(measure);
                (count > 0)
                    .then(|| sums.total(measure) / count as f64)
                    .into()
            }
            Self::Ratio(part, whole) => {
                let whole: f64 = whole.iter().map(|measure| sums.total(measure)).sum();
                (whole > 0.0).then(|| sums.total(part) / whole).into()
            }
            Self::Last(measure) => (sums.get(measure).map_or(0.0, |sum| sum.last) as i64).into(),
            Self::Largest(measure) => {
                (sums.get(measure).map_or(0.0, |sum| sum.largest) as i64).into()
            }
            Self::Of(_, made) => made(sums),
        }
    }
}

impl Sums {
    fn add(&mut self, measure: &'static str, keep: Keep, value: f64) {
        let sum = self.sum(measure);
        sum.numbers.add(value);
        sum.total += value;
        sum.last = value;
        sum.largest = sum.largest.max(value);
        if keep == Keep::Values {
            sum.values.push(value);
        }
    }

    fn sum(&mut self, measure: &'static str) -> &mut Sum {
        let place = self.0.iter().position(|(known, _)| *known == measure);
        let place = place.unwrap_or_else(|| {
            self.0.push((measure, Sum::default()));
            self.0.len() - 1
        });
        &mut self.0[place].1
    }

    fn merge(&mut self, other: &Self) {
        for (measure, sum) in &other.0 {
            let own = self.sum(measure);
            own.total += sum.total;
            own.last = sum.last;
            own.largest = own.largest.max(sum.largest);
            if sum.values.is_empty() {
                own.numbers.merge(&sum.numbers);
            }
            for value in &sum.values {
                own.numbers.add(*value);
            }
            own.values.extend(&sum.values);
        }
    }

    fn get(&self, measure: &str) -> Option<&Sum> {
        let mut sums = self.0.iter();
        let found = sums.find(|(known, _)| *known == measure);
        found.map(|(_, sum)| sum)
    }

    /// How many observations of a measure there are.
    pub fn count(&self, measure: &str) -> u64 {
        self.numbers(measure).count()
    }

    /// The sum of a measure.
    pub fn total(&self, measure: &str) -> f64 {
        self.get(measure).map_or(0.0, |sum| sum.total)
    }

    /// Mean and spread of a measure.
    pub fn numbers(&self, measure: &str) -> Accumulator {
        self.get(measure)
            .map_or_else(Accumulator::default, |sum| sum.numbers)
    }

    /// Every value of a measure, in the order in which they came.
    pub fn values(&self, measure: &str) -> &[f64] {
        self.get(measure).map_or(&[], |sum| &sum.values)
    }
}

/// Whole numbers as a list.
pub(crate) fn counts(values: &[f64]) -> Value {
    list(values.iter().map(|value| *value as u64))
}
