//! What claims about the answer come to: one answer, several, or none. A later claim counts
//! more than an earlier one only if it says so; two that are as firm are no answer.

use agon_engine::Action;

/// What words state.
#[derive(Debug, Clone, PartialEq)]
pub enum Stated {
    /// One answer.
    One(Action),
    /// Several at once ("33 or 34").
    Several,
    /// Nothing.
    None,
}

/// How firmly something is said to be the answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Firmness {
    /// It is the last word of a sentence.
    Ended,
    /// The speaker is shown to do something with it: "I keep to my 40".
    Shown,
    /// It is named: "a bid of 40".
    Named,
    /// It is meant: "I should bid 40".
    Intended,
    /// It stands by itself: "40."
    Bare,
    /// It is told in words that may also tell of the past: "I bid 40".
    Told,
    /// It is said: "I bid 40", "Bid: 40".
    Committed,
    /// It is said to be final.
    Final,
}

/// An answer, or several, that a place of the text states.
#[derive(Debug, Clone, PartialEq)]
pub struct Claim {
    /// What is stated.
    pub stated: Stated,
    /// How firmly.
    pub firmness: Firmness,
    /// Where, in tokens.
    pub at: usize,
    /// The number of its sentence.
    pub sentence: usize,
    /// Whether it concludes what was said before.
    pub concludes: bool,
    /// Whether it takes back what was said before.
    pub corrects: bool,
    /// Whether it says that the speaker gives no answer.
    pub is_refusal: bool,
    /// Whether it stands in a table.
    pub is_cell: bool,
    /// Whether its sentence is the speaker's own or concludes.
    pub is_own: bool,
    /// Whether its sentence calls it the speaker's answer: "my bid of 40".
    pub names_own: bool,
    /// Whether it hangs on a condition.
    pub hangs: bool,
    /// Whether it is the whole of its sentence.
    pub is_whole: bool,
    /// Whether it is an order, which may stand in a list of what could be done.
    pub is_order: bool,
    /// Whether somebody is quoted.
    pub is_quoted: bool,
    /// Whether a label or the like says what it is.
    pub is_labelled: bool,
    /// Whether its sentence may be of something else: of a later day, or behind a label.
    pub is_beside: bool,
    /// Whether its sentence names a day or a round, and not this one.
    pub is_dated: bool,
}

impl Claim {
    /// A claim in plain words.
    pub fn new(stated: Stated, firmness: Firmness, at: usize) -> Self {
        Self {
            stated,
            firmness,
            at,
            sentence: 0,
            concludes: false,
            corrects: false,
            is_refusal: false,
            is_cell: false,
            is_own: false,
            names_own: false,
            hangs: false,
            is_whole: false,
            is_order: false,
            is_quoted: false,
            is_labelled: false,
            is_beside: false,
            is_dated: false,
        }
    }
}

/// The first and the last sentence in which anything stands that may be an answer.
#[derive(Debug, Clone, Copy)]
pub struct Ends {
    /// Where a reply opens.
    pub opening: usize,
    /// Where it closes.
    pub closing: usize,
    /// How many sentences it has.
    pub sentences: usize,
    /// Whether it breaks off.
    pub is_cut: bool,
    /// Whether a program says in it that it does not play.
    pub is_declined: bool,
    /// Whether its end says that nothing is decided.
    pub is_undecided: bool,
}

impl Ends {
    /// In a few sentences nobody takes steps.
    const FEW: usize = 3;

    /// Whether it has only a few sentences.
    fn is_short(self) -> bool {
        self.sentences <= Self::FEW
    }

    /// Whether a reply may say its answer in a sentence without declaring it.
    pub fn may_hold(self, sentence: usize) -> bool {
        let is_end = sentence == self.opening || sentence == self.closing;
        !self.is_cut && (is_end || self.is_short())
    }

    /// Whether a reply may say its answer in a sentence by naming nothing else.
    pub fn may_name(self, sentence: usize) -> bool {
        let is_last = sentence == self.closing && sentence + 1 == self.sentences;
        !self.is_cut
            && !self.is_declined
            && !self.is_undecided
            && (is_last || self.sentences < Self::FEW)
    }
}

/// What claims come to, in the order of the text.
pub fn of(mut claims: Vec<Claim>, ends: Ends) -> Stated {
    drop_quoted(&mut claims);
    drop_dated(&mut claims);
    drop_cells(&mut claims);
    drop_options(&mut claims);
    drop_settled(&mut claims);
    drop_corrected(&mut claims);
    if let Some(framed) = framed(&claims) {
        return framed;
    }
    if claims.iter().any(|claim| claim.firmness == Firmness::Final) {
        if claims
            .iter()
            .any(|claim| is_other_choice(claim, &claims, ends.opening))
        {
            return Stated::Several;
        }
        claims.retain(|claim| claim.firmness == Firmness::Final);
        return agreed(&claims).unwrap_or(Stated::Several);
    }
    match claims.iter().any(is_declared) {
        true => resolved(&claims, ends),
        false => implied(&claims, ends),
    }
}

/// Whether a claim chooses one of two options in so many words where a final one says the
/// other: "I reject it. ... My final vote is: accept."
fn is_other_choice(claim: &Claim, claims: &[Claim], opening: usize) -> bool {
    let is_word = |claim: &Claim| matches!(claim.stated, Stated::One(Action::Choice(_)));
    let opens = claim.sentence == opening && claim.sentence < claims[claims.len() - 1].sentence;
    let is_said = claim.firmness == Firmness::Committed && !claim.is_beside && !claim.is_labelled;
    let finals = claims
        .iter()
        .filter(|other| other.firmness == Firmness::Final);
    let mut others = finals.filter(|other| other.stated != claim.stated && !other.corrects);
    (is_word(claim) || opens)
        && is_said
        && !claim.is_dated
        && !claim.is_order
        && others.next().is_some()
}

/// What a reply declares first and says again last, whatever stands between.
fn framed(claims: &[Claim]) -> Option<Stated> {
    let [first, _, .., last] = claims else {
        return None;
    };
    let is_said = |claim: &Claim| claim.firmness >= Firmness::Bare || claim.concludes;
    let is_same = first.stated == last.stated && first.firmness > Firmness::Told;
    let is_rival = |claim: &Claim| {
        let is_apart = claim.sentence != first.sentence && claim.sentence != last.sentence;
        is_apart && claim.stated != first.stated && claim.firmness > Firmness::Told
    };
    if !is_same || first.sentence == last.sentence || !is_said(last) {
        return None;
    }
    match claims
        .iter()
        .any(|claim| is_rival(claim) && !claim.is_beside)
    {
        true => Some(Stated::Several),
        false => Some(first.stated.clone()),
    }
}

/// Where somebody is quoted among other words, only these count.
fn drop_quoted(claims: &mut Vec<Claim>) {
    let is_own = |claim: &Claim| !claim.is_quoted || claim.is_labelled;
    if claims.iter().any(is_own) {
        claims.retain(is_own);
    }
}

/// Of a day that is named counts nothing, if the reply declares anything else.
fn drop_dated(claims: &mut Vec<Claim>) {
    let is_said =
        |claim: &Claim| !claim.is_dated && !claim.is_cell && claim.firmness >= Firmness::Committed;
    if claims.iter().any(is_said) {
        let is_kept = |claim: &Claim| claim.names_own || claim.corrects;
        claims.retain(|claim| !claim.is_dated || is_kept(claim));
    }
}

/// What is said in words counts more than a table.
fn drop_cells(claims: &mut Vec<Claim>) {
    let is_said = |claim: &Claim| !claim.is_cell && claim.firmness >= Firmness::Intended;
    let cells: Vec<Claim> = claims
        .iter()
        .filter(|claim| claim.is_cell)
        .cloned()
        .collect();
    let is_history = agreed(&cells).is_none() && claims.iter().any(|claim| !claim.is_cell);
    if is_history || claims.iter().any(is_said) {
        claims.retain(|claim| !claim.is_cell);
    }
}

/// Orders that differ are a list of what could be done, if anything else is said.
fn drop_options(claims: &mut Vec<Claim>) {
    let mut orders = claims.iter().filter(|claim| claim.is_order);
    let first = orders.next();
    let are_options = first.is_some_and(|first| orders.any(|other| other.stated != first.stated));
    let is_said = |claim: &Claim| !claim.is_order && claim.firmness >= Firmness::Bare;
    if are_options && claims.iter().any(is_said) {
        claims.retain(|claim| !claim.is_order);
    }
}

/// A range that one answer was settled on counts no more.
fn drop_settled(claims: &mut Vec<Claim>) {
    let settled = claims
        .iter()
        .rposition(|claim| claim.stated != Stated::Several && claim.firmness >= Firmness::Bare);
    let mut at = 0;
    claims.retain(|claim| {
        at += 1;
        claim.hangs || claim.stated != Stated::Several || settled.is_none_or(|settled| at > settled)
    });
}

/// What was taken back counts no more. What takes back a declaration is one itself.
fn drop_corrected(claims: &mut Vec<Claim>) {
    let Some(corrected) = claims.iter().rposition(|claim| claim.corrects) else {
        return;
    };
    let dropped: Vec<Claim> = claims.drain(..corrected).collect();
    let firmest = dropped.iter().map(|claim| claim.firmness).max();
    claims[0].firmness = claims[0].firmness.max(firmest.unwrap_or(Firmness::Shown));
}

/// Whether a claim is more than a step: it is said to be the answer.
fn is_declared(claim: &Claim) -> bool {
    claim.firmness >= Firmness::Told
}

/// What all of some claims state.
fn agreed(claims: &[Claim]) -> Option<Stated> {
    let (first, rest) = claims.split_first()?;
    rest.iter()
        .all(|other| other.stated == first.stated)
        .then(|| first.stated.clone())
}

/// What declarations come to. A reply says its answer where it opens or where it closes; who
/// says one thing there and another thing here has not made up his mind.
fn resolved(claims: &[Claim], ends: Ends) -> Stated {
    let declared: Vec<&Claim> = claims.iter().filter(|claim| is_declared(claim)).collect();
    let (Some(first), Some(last)) = (declared.first(), declared.last()) else {
        return Stated::None;
    };
    let opens = first.sentence == ends.opening;
    let is_early = opens || claims[0].sentence == ends.opening;
    if is_early && claims.iter().any(|claim| contradicts(claim, last)) {
        return Stated::Several;
    }
    let leaves = last.stated == Stated::One(Action::Pass);
    let reconsiders = |claim: &Claim| {
        // What is told may be of the past; who leaves may say what he would have bid.
        let is_rival = match last.firmness {
            Firmness::Told => claim.firmness >= Firmness::Named || claim.concludes,
            _ if leaves && claim.firmness == Firmness::Intended => false,
            _ => claim.firmness >= Firmness::Intended && !claim.is_beside,
        };
        claim.at > last.at && is_rival && claim.stated != last.stated
    };
    if claims.iter().any(reconsiders) {
        return Stated::Several;
    }
    let closes = last.sentence == ends.closing && !opens;
    let agree = declared.iter().all(|other| other.stated == last.stated);
    match agree || first.stated == last.stated || closes {
        true => last.stated.clone(),
        false => Stated::Several,
    }
}

/// Whether a claim calls something else the answer than what was declared last, in another
/// sentence: "40. ... So I bid 60."
fn contradicts(claim: &Claim, last: &Claim) -> bool {
    let differs = claim.stated != last.stated && claim.stated != Stated::Several;
    let is_answer = claim.is_whole && last.stated != Stated::One(Action::Pass);
    differs && claim.sentence != last.sentence && (claim.names_own || is_answer)
}

/// What claims come to of which none is a declaration: the one that closes the reply. What
/// stands between the opening and the close of a longer reply is a step on the way.
fn implied(claims: &[Claim], ends: Ends) -> Stated {
    if ends.is_cut || ends.is_undecided {
        return Stated::None;
    }
    if claims.iter().any(|claim| claim.hangs) {
        return Stated::Several;
    }
    let closing: Vec<Claim> = claims
        .iter()
        .filter(|claim| closes(claim, ends))
        .cloned()
        .collect();
    if !closing.is_empty() {
        // "Low: 40. High: 70."
        let goes_on = ends.closing + 1 < ends.sentences;
        let are_labelled = goes_on && closing.iter().all(|claim| claim.is_beside);
        let may_be_list = ends.is_short() || goes_on && !of_numbers(&closing) || are_labelled;
        let is_list = may_be_list && closing.iter().all(is_item) && !are_one(claims);
        let is_contradicted = closing.iter().all(is_item) && is_settled_before(claims, &closing[0]);
        let is_undecided = is_contradicted || are_rivals(claims) && closing.iter().all(is_named);
        let is_weak = goes_on
            && closing
                .iter()
                .all(|claim| claim.firmness == Firmness::Ended);
        let is_rival =
            |claim: &Claim| claim.firmness > Firmness::Ended && claim.stated != closing[0].stated;
        return match is_list || is_undecided || is_weak && claims.iter().any(is_rival) {
            true => Stated::Several,
            false => firmest(&closing)
                .pop()
                .map_or(Stated::None, |last| last.stated),
        };
    }
    let rest: Vec<Claim> = claims
        .iter()
        .filter(|claim| may_count(claim, ends))
        .cloned()
        .collect();
    let rest = firmest(&rest);
    let last = rest.iter().rev().find(|claim| claim.concludes);
    let last = last.map_or(Stated::Several, |last| last.stated.clone());
    match rest.is_empty() {
        true => Stated::None,
        false => agreed(&rest).unwrap_or(last),
    }
}

/// Whether a claim closes the reply. The mere last word of a sentence does so only in the
/// last sentence of all.
fn closes(claim: &Claim, ends: Ends) -> bool {
    let farewell = usize::from(claim.is_own);
    let is_last = claim.sentence + 1 + farewell >= ends.sentences && claim.sentence > 0;
    let ends_well = is_last && (claim.is_own || !ends.is_short());
    claim.sentence == ends.closing && (claim.firmness > Firmness::Ended || ends_well)
}

/// Whether a claim that neither declares nor closes anything may still be the answer.
fn may_count(claim: &Claim, ends: Ends) -> bool {
    let opens = claim.sentence == ends.opening && (ends.is_short() || claim.is_whole);
    let is_step = claim.firmness == Firmness::Bare && !opens;
    !is_step && claim.firmness > Firmness::Shown && ends.may_hold(claim.sentence)
}

/// Whether claims state numbers.
fn of_numbers(claims: &[Claim]) -> bool {
    let is_word = |claim: &Claim| matches!(claim.stated, Stated::One(Action::Choice(_)));
    !claims.iter().any(is_word)
}

/// Whether a claim may be one of a list: "Maybe 30. Maybe 45."
fn is_item(claim: &Claim) -> bool {
    claim.firmness == Firmness::Bare && !claim.concludes
}

/// Whether another answer was said by itself in two sentences before one that closes.
fn is_settled_before(claims: &[Claim], closing: &Claim) -> bool {
    claims.iter().any(|claim| {
        let is_again = |other: &&Claim| other.stated == claim.stated && is_item(other);
        let mut again = claims.iter().filter(is_again);
        let sentences: Vec<usize> = again.by_ref().map(|other| other.sentence).collect();
        claim.stated != closing.stated && sentences.windows(2).any(|pair| pair[0] != pair[1])
    })
}

/// Whether a claim says no more than that there is such an answer: "a bid of 40 is safe".
fn is_named(claim: &Claim) -> bool {
    claim.firmness <= Firmness::Named && !claim.concludes && !claim.is_own
}

/// Whether different answers are merely named.
fn are_rivals(claims: &[Claim]) -> bool {
    let named = claims
        .iter()
        .filter(|claim| claim.firmness == Firmness::Named && is_named(claim));
    let named: Vec<Claim> = named.cloned().collect();
    !named.is_empty() && agreed(&named).is_none()
}

/// Whether all answers that stand by themselves are the same.
fn are_one(claims: &[Claim]) -> bool {
    let bare = claims
        .iter()
        .filter(|claim| claim.firmness == Firmness::Bare);
    let bare: Vec<Claim> = bare.cloned().collect();
    agreed(&bare).is_some()
}

/// The firmest of some claims, in order.
fn firmest(claims: &[Claim]) -> Vec<Claim> {
    let most = claims.iter().map(|claim| claim.firmness).max();
    let firm = claims.iter().filter(|claim| Some(claim.firmness) == most);
    firm.cloned().collect()
}
