//! Templates that would take a worker along: each ends in a fault, found before anything is
//! played, on a small stack, in bounded time and memory.

use std::collections::BTreeMap;
use std::fs;
use std::thread;
use std::time::{Duration, Instant};

/// A thread of an async runtime has no more.
const STACK_BYTES: usize = 2 * 1024 * 1024;

/// The most that checking one template may take, in a build without optimisation, on a busy
/// machine.
const LONGEST: Duration = Duration::from_secs(20);

/// The most memory that all of them may have taken together.
const MOST_KIBIBYTES: u64 = 512 * 1024;

/// The templates are put in the place of this one, which every game includes.
const PATH: &str = "shared/answer.j2";

const TOKENS: &str = "more than 100 words and signs";
const KEPT: &str = "the values that the template keeps";
const WEIGHED: &str = "the values that operators work on";
const IN_ALL: &str = "in every game";
const FILTERED: &str = "the values that filters are given";

/// A chain that a template has room for, and no block may have.
fn chain(before: &str, link: &str, after: &str) -> String {
    format!("{before}{}{after}", link.repeat(20_000 / link.len()))
}

/// What is wrong with a template, and part of what is said to it.
fn hostile() -> Vec<(String, &'static str)> {
    let mut all = nested();
    all.extend(refused().map(|(text, fault)| (text.to_owned(), fault)));
    all.extend(laborious());
    all.extend(large().map(|(text, fault)| (text.to_owned(), fault)));
    all.extend(panics().map(|text| (text.to_owned(), "the template engine cannot do this")));
    all
}

/// What the template engine itself does not survive.
fn panics() -> [&'static str; 4] {
    [
        "{% for i in [1] %}{{ loop.cycle() }}{% endfor %}",
        "{% for i in [1, 2] %}{% if loop.last %}{{ loop.cycle() }}{% endif %}{% endfor %}",
        "{{ [1,2,3][::-9223372036854775808] }}",
        "{{ 'abc'[::-9223372036854775808] }}",
    ]
}

fn nested() -> Vec<(String, &'static str)> {
    let tags = |open: &str, close: &str| format!("{}{}", open.repeat(500), close.repeat(500));
    vec![
        (format!("{{{{ {}1 }}}}", "-".repeat(100_000)), "bytes"),
        (chain("{{ ", "-", "1 }}"), TOKENS),
        (chain("{{ ", "not ", "1 }}"), TOKENS),
        (chain("{{ ", "1+", "1 }}"), TOKENS),
        (chain("{{ ", "1-", "1 }}"), TOKENS),
        (chain("{{ ", "1~", "1 }}"), TOKENS),
        (chain("{{ ", "2/", "1 }}"), TOKENS),
        (chain("{{ me", ".a", " }}"), TOKENS),
        (chain("{{ me", "[0]", " }}"), TOKENS),
        (chain("{{ me", "()", " }}"), TOKENS),
        (chain("{{ me", "|upper", " }}"), TOKENS),
        (chain("{{ me", " is none", " }}"), TOKENS),
        (chain("{{ 1", " if 1 else 1", " }}"), TOKENS),
        (chain("{{ 1", " and 1 or 1", " }}"), TOKENS),
        (chain("{{ 1", " == 1", " }}"), TOKENS),
        (chain("{% include ", "-", "1 %}"), TOKENS),
        (chain("{% for ", "a,", " in me %}{% endfor %}"), TOKENS),
        (
            format!("{{{{ {}1{} }}}}", "(".repeat(40), ")".repeat(40)),
            "brackets",
        ),
        (
            format!("{{{{ {}1{} }}}}", "[".repeat(40), "]".repeat(40)),
            "brackets",
        ),
        (
            format!("{{{{ {}1{} }}}}", "{1:".repeat(20), "}".repeat(20)),
            "brackets",
        ),
        (tags("{% if 1 %}", "{% endif %}"), "tags are nested"),
        (tags("{% for a in me %}", "{% endfor %}"), "tags are nested"),
        (tags("{% with a = 1 %}", "{% endwith %}"), "tags are nested"),
        (
            format!("{{% if 1 %}}{}{{% endif %}}", "{% elif 1 %}".repeat(500)),
            "tags are nested",
        ),
        (doubled("a ~ a"), KEPT),
        (doubled("a + a"), KEPT),
        (doubled("[a, a]"), KEPT),
        (doubled("{0: a, 1: a}"), KEPT),
        (doubled("[a]"), KEPT),
        (doubled("(a, a)|join"), KEPT),
        (doubled("a|replace(\"\", \"xx\")"), KEPT),
        (doubled("a ~ a if me else a"), KEPT),
        (
            format!(
                "{{% set a = \"{}\" %}}{}",
                "x".repeat(30_000),
                "{% set b = a ~ a %}".repeat(50)
            ),
            KEPT,
        ),
    ]
}

/// A value that is made of itself forty times.
fn doubled(step: &str) -> String {
    format!(
        "{{% set a = \"x\" %}}{}{{{{ a }}}}",
        format!("{{% set a = {step} %}}").repeat(40)
    )
}

fn refused() -> [(&'static str, &'static str); 24] {
    [
        ("{{ \"a\"|indent(4000000000) }}", "filter indent is unknown"),
        (
            "{{ range(9)|batch(4000000000, 1) }}",
            "filter batch is unknown",
        ),
        (
            "{{ range(9)|slice(4000000000, 1) }}",
            "filter slice is unknown",
        ),
        (
            "{{ \"%4000000000d\"|format(1) }}",
            "filter format is unknown",
        ),
        ("{{ me|pprint }}", "filter pprint is unknown"),
        ("{{ me|tojson }}", "filter tojson is unknown"),
        ("{{ range(9)|map(\"upper\") }}", "filter map is unknown"),
        ("{{ lipsum(4000000) }}", "lipsum is unknown"),
        ("{{ namespace(a=1) }}", "namespace is unknown"),
        ("{{ debug() }}", "debug is unknown"),
        ("{{ \"a\" * 100000000 }}", "`*` is not offered"),
        ("{{ [1] * 100000000 }}", "`*` is not offered"),
        ("{{ 9 ** 9 }}", "`**` is not offered"),
        ("{{ \"a\"|join(*range(9)) }}", "`*` is not offered"),
        ("{% macro m() %}{{ m() }}{% endmacro %}", "no tag `macro`"),
        ("{% call m() %}{% endcall %}", "no tag `call`"),
        ("{% block a %}{% endblock %}", "no tag `block`"),
        ("{% extends \"shared/answer.j2\" %}", "no tag `extends`"),
        ("{% import \"shared/answer.j2\" as a %}", "no tag `import`"),
        ("{% filter upper %}{% endfilter %}", "no tag `filter`"),
        ("{% set a %}x{% endset %}", "`set` needs a value"),
        (
            "{% for a in [[1]] recursive %}{{ loop(a) }}{% endfor %}",
            "recursive",
        ),
        ("{% set a = 1) ~ (2 %}", "unexpected `)`"),
        ("{{ 1 ~ 1 ~ 1 ~ 1 ~ 1 ~ 1 ~ 1 ~ 1 }}", "more than 6 of"),
    ]
}

/// Texts that are short and ask for much.
fn large() -> [(&'static str, &'static str); 14] {
    const A: &str = "a range has more than 1000 numbers";
    [
        ("{{ range(90000) }}", A),
        ("{{ range(0, 9, 0) }}", A),
        ("{{ range(0, -9000, -1)|length }}", A),
        (
            "{{ range(1000)|join(range(1000)|join(range(1000)|join)) }}",
            FILTERED,
        ),
        (
            "{{ (range(1000)|join)|replace(\"1\", range(1000)|join)|replace(\"1\", range(1000)|join) }}",
            FILTERED,
        ),
        (
            "{% set a = range(999)|join %}{{ range(999)|named(range(999)|named([a])) }}",
            "not a seat",
        ),
        (
            "{% set a = [range(900)|join] %}{% for b in range(900) %}{{ [0, 0, 0, 0, 0, 0, 0, 0, 0]|named(a)|length }}{% endfor %}",
            FILTERED,
        ),
        (
            "{% set r = range(900) %}{% for a in r %}{% for b in r %}x{% endfor %}{% endfor %}",
            "fuel",
        ),
        (
            "{% set r = range(900) %}{% for a in r %}{% for b in r %}{% if r ~ r ~ r ~ r == a %}{% endif %}{% endfor %}{% endfor %}",
            WEIGHED,
        ),
        (
            "{% set a = range(999)|join %}{% for b in range(900) %}{{ a ~ a }}{% endfor %}",
            "1048576 bytes are written",
        ),
        (
            "{% for a in range(900) %}{% set b = range(900)|join %}{% endfor %}",
            KEPT,
        ),
        (
            "{% for a in range(900) %}{% if range(900)|sort %}{% endif %}{% endfor %}",
            FILTERED,
        ),
        ("{% include \"shared/answer.j2\" %}", "recursion"),
        (
            "{% include \"shared/answer.j2\" ignore missing %}{% include \"shared/answer.j2\" %}",
            "recursion",
        ),
    ]
}

/// A text of 52,000 letters under the name `d`, and what is done with it 999 times.
fn long_text(each: &str) -> String {
    format!(
        "{{% set a = range(999)|join %}}{{% set b = a ~ a ~ a ~ a ~ a ~ a %}}{{% set d = b ~ b ~ b %}}\
         {{% for c in range(999) %}}{each}{{% endfor %}}"
    )
}

/// A list of 999 numbers under the name `a`, and what is done with it 999 times.
fn long_list(each: &str) -> String {
    format!("{{% set a = range(999) %}}{{% for c in a %}}{each}{{% endfor %}}")
}

/// Operators on large values, each in one step.
fn laborious() -> Vec<(String, &'static str)> {
    let ten = |block: &str| format!("{{% if {block} %}}{{% endif %}}").repeat(10);
    let literal = "x".repeat(20_000);
    vec![
        (long_text(&ten("d[::-1]")), WEIGHED),
        (long_text(&ten("d[::-1][::-1][::-1][::-1]")), WEIGHED),
        (long_text(&ten("d[1:]")), WEIGHED),
        (long_text(&ten("d == d[:]")), WEIGHED),
        (long_text(&ten("d ~ c == d")), WEIGHED),
        (long_text(&ten("d < d ~ d")), WEIGHED),
        (long_text(&ten("\"z\" in d")), WEIGHED),
        (long_text(&ten("\"z\" not in d")), WEIGHED),
        (long_text(&ten("d is endingwith(d)")), WEIGHED),
        (long_text(&ten("d is startingwith d")), WEIGHED),
        (long_text(&ten("{d: d}")), WEIGHED),
        (long_text(&ten("{\"k\": 1}[d] is defined")), WEIGHED),
        (long_text(&ten("loop.changed(d)")), WEIGHED),
        (long_text(&ten("not d != d")), WEIGHED),
        (long_text(&ten("d[c + 40000]")), WEIGHED),
        (long_text(&ten("d[-1][0]")), WEIGHED),
        (long_text(&ten("d.40000")), WEIGHED),
        (long_text(&ten("[d][0][-1]")), WEIGHED),
        (
            format!(
                "{{% set z = range(999)[::-1] %}}{}",
                long_list(&ten("z[998]"))
            ),
            WEIGHED,
        ),
        (long_text(&ten("(d if d >= d else d)[::2]")), WEIGHED),
        (
            long_text("{% include [d, d, d, d, d, d] ignore missing %}"),
            WEIGHED,
        ),
        (long_list(&ten("-1 in a")), WEIGHED),
        (long_list(&ten("a == a[::-1]")), WEIGHED),
        (long_list(&ten("(a + a)[5:] == 1")), WEIGHED),
        (
            long_list(&ten("[[a, a], [a, a]] == [[a, a], [a, 1]]")),
            WEIGHED,
        ),
        (
            long_list("{% for e in a if e not in a %}{% endfor %}"),
            WEIGHED,
        ),
        (
            long_list("{% for e in a[::-1] + a[1:] if false %}{% endfor %}"),
            KEPT,
        ),
        (
            format!(
                "{{% for c in range(999) %}}{}{{% endfor %}}",
                ten(&format!("\"{literal}\"[::-1]")).replace(&literal, &literal[..2_000])
            ),
            IN_ALL,
        ),
        (
            format!(
                "{{% for c in range(999) %}}{{% if \"{literal}\" == \"y{literal:.9}\" %}}{{% endif %}}{{% endfor %}}"
            ),
            IN_ALL,
        ),
        (long_list("{{ 1e308 }}"), IN_ALL),
        (long_list("{{ -1e308 }}{{ 1e300 }}{{ c ~ 1e308 }}"), IN_ALL),
        (long_list("{% if 1e308|two %}{% endif %}"), FILTERED),
        (
            long_list("{% if [1e308, 1e307]|comma_list %}{% endif %}"),
            FILTERED,
        ),
    ]
}

/// What is said to a template, and how long it took.
fn check(text: &str) -> (String, Duration) {
    let text = text.to_owned();
    let started = Instant::now();
    let checking = thread::Builder::new()
        .stack_size(STACK_BYTES)
        .spawn(move || agon_agents::replaced(BTreeMap::from([(PATH.to_owned(), text)])));
    let said = match checking.unwrap().join().unwrap() {
        Ok(_) => "good".to_owned(),
        Err(fault) => fault.to_string(),
    };
    (said, started.elapsed())
}

#[test]
fn hostile_templates_end_in_a_fault_within_bounds() {
    let mut wrong = Vec::new();
    for (text, fault) in hostile() {
        let (said, took) = check(&text);
        let named = said.contains(fault) && said.len() < 1_000;
        if !named || took > LONGEST {
            let shown: String = text.chars().take(80).collect();
            wrong.push(format!("{shown} ({took:?}): {said}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    // Where there is no such file, the other tests bound the time alone.
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let peak = peak.map_or(0, |peak| {
        peak.trim_end_matches("kB").trim().parse().unwrap()
    });
    assert!(peak < MOST_KIBIBYTES, "{peak} KiB");
}

/// Each rendering stays within its own bounds, and there are thousands of renderings.
#[test]
fn templates_that_take_long_in_every_game_are_refused() {
    let steps = format!(
        "{{% for a in range(900) %}}{}{{% endfor %}}",
        "{{ 1 }}".repeat(40)
    );
    let words = "These words are written in every round. ".repeat(20);
    let written = format!("{{% for a in range(999) %}}{words}{{% endfor %}}");
    let filtered = "{% if range(999)|join %}{% endif %}".repeat(30);
    for text in [&steps, &written, &filtered] {
        let said = check(text).0;
        assert!(said.contains("in every game"), "{text:.60}: {said}");
    }
    let built_in = fs::read_to_string(format!("src/prompts/{PATH}")).unwrap();
    assert_eq!(check(&built_in).0, "good");
}

#[test]
fn a_fault_names_the_line_that_it_stands_in() {
    let (said, _) = check(&format!("one\ntwo\n{{{{ {}1 }}}}\n", "-".repeat(1_000)));
    assert!(said.contains(&format!("{PATH}: line 3: ")), "{said}");
    let (said, _) = check("one\n{% set a = [1,\n2] %}\n{% set b = (nobody)|join %}");
    assert!(said.contains("line 4: "), "{said}");
}

#[test]
fn templates_that_are_too_large_together_are_refused() {
    let games = [
        "el_farol",
        "pirate",
        "judging",
        "public_goods",
        "divide_dollar",
    ];
    let paths = games.iter().flat_map(|game| {
        let versions = (1..=5).map(move |version| format!("{game}/v{version}"));
        versions.flat_map(|folder| ["ask", "system"].map(|file| format!("{folder}/{file}.j2")))
    });
    let all: BTreeMap<String, String> = paths.map(|path| (path, "x".repeat(32_000))).collect();
    let error = agon_agents::replaced(all).unwrap_err().to_string();
    assert!(error.contains("1048576 bytes"), "{error}");
}

#[test]
fn what_templates_need_is_offered() {
    let text = "{% set a, b = 1, [2] %}{% with c = a + 1, d = b|first %}{{ c }}{{ d }}\
        {% for e in range(3) if e is odd %}{{ e|times(2.5) }}{% endfor %}{% endwith %}\
        {{ [1, 2]|join(\"-\") }} {{ \"a_b\"|replace(\"_\", \" \") }} {{ a if a else b }}\
        {% raw %}{{ kept }}{% endraw %}{# gone #}\
        {% if nobody is defined and nobody[0].x == 1 or none_of_them is not defined %} ok{% endif %}\
        {{ \" no\" if \"text\"|upper is endingwith \"T\" and \"a\" not in [\"b\", \"c\"] and -a < 0 }}\
        {{ [[1, 2], {\"k\": [3]}][a].k[0] }}{{ {\"x\": b}.x[0] + b[-1] }}";
    let with = |text: &str| {
        let path = "divide_dollar/v1/system.j2".to_owned();
        agon_agents::replaced(BTreeMap::from([(path, text.to_owned())]))
    };
    let library = with(text).unwrap();
    let said = library.render("divide_dollar/v1/system.j2", minijinja::context! {});
    assert_eq!(said.unwrap(), "222.51-2 a b 1{{ kept }} ok no34");
    assert!(with("{{ 1").is_err());
}
