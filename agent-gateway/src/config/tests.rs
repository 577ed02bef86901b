//! What a configuration means and how it is refused; the example file of the
//! crate is read here too, so that it stays right.

use super::*;
use crate::catalogue::StructuredOutput;
use crate::money::Day;
use agon_service_kit::secret_source::SecretSource;

const FILE: &str = r#"
[providers.deepinfra]
kind = "openai"
base_url = "https://api.deepinfra.com/v1/openai/"
keys = [ { env = "AGON_TEST_UNSET_KEY" }, { file = "/no/such/file" } ]
limits = { requests_per_minute = 600, tokens_per_minute = 1_000_000, concurrency = 200 }
timeout = "90s"

[providers.local]
base_url = "http://127.0.0.1:9/v1"

[models.llama-70b]
provider = "deepinfra"
model = "meta-llama/Llama-3.1-70B-Instruct"
structured_output = "json_schema"
seed = true
max_output_tokens = 512
output_limit_field = "max_completion_tokens"
price = { input_per_million_dollars = "0.23", output_per_million_dollars = "0.40" }

[models.tiny]
provider = "local"

[gateway]
patience = "5m"
"#;

#[test]
fn documented_file_is_read_as_documented() {
    let config = GatewayConfig::parse("gateway.toml", FILE).unwrap();
    assert_eq!(config.patience(), Duration::from_secs(300));
    assert_eq!(
        config.model_names().collect::<Vec<_>>(),
        ["llama-70b", "tiny"]
    );

    let model = config.resolve_without_keys("llama-70b").unwrap();
    assert_eq!(&*model.model, "meta-llama/Llama-3.1-70B-Instruct");
    assert_eq!(
        model.provider.base_url,
        "https://api.deepinfra.com/v1/openai"
    );
    assert_eq!(model.provider.timeout, Duration::from_secs(90));
    assert_eq!(model.provider.limits.tokens_per_minute, Some(1_000_000));
    assert_eq!(
        model.output_limit_field,
        OutputLimitField::MaxCompletionTokens
    );
    assert_eq!(
        model.takes.structured_output.value,
        StructuredOutput::JsonSchema
    );
    assert_eq!(model.max_output_tokens, 512);
    let price = model.prices.on(Day::today()).unwrap();
    assert_eq!(price.rates.input.0, 230_000_000);

    let tiny = config.resolve("tiny").unwrap();
    assert_eq!((&*tiny.model, tiny.takes.seed.value), ("tiny", true));
    assert_eq!(
        tiny.takes.structured_output.value,
        StructuredOutput::JsonSchema
    );
}

#[test]
fn example_file_is_right() {
    let text = include_str!("../../gateway.example.toml");
    let config = GatewayConfig::parse("gateway.example.toml", text).unwrap();
    assert!(config.resolve_without_keys("llama-70b").is_ok());
    assert!(config.resolve("small").is_ok());
}

#[test]
fn builtin_provider_needs_no_file() {
    let config = GatewayConfig::default();
    let model = config.resolve("ollama/qwen3:8b").unwrap();
    assert_eq!(&*model.model, "qwen3:8b");
    assert_eq!(model.provider.base_url, "http://localhost:11434/v1");
    let model = config
        .resolve_without_keys("deepinfra/meta-llama/Llama-3")
        .unwrap();
    assert_eq!(&*model.model, "meta-llama/Llama-3");
}

#[test]
fn section_of_a_builtin_provider_keeps_what_it_does_not_say() {
    let text = "[providers.openai.limits]\nrequests_per_minute = 60";
    let config = GatewayConfig::parse("gateway.toml", text).unwrap();
    let model = config.resolve_without_keys("openai/gpt").unwrap();
    assert_eq!(
        model.provider.keys,
        [SecretSource::Env("OPENAI_API_KEY".into()).into()]
    );
    assert_eq!(model.provider.limits.requests_per_minute, Some(60));
    assert_eq!(
        model.output_limit_field,
        OutputLimitField::MaxCompletionTokens
    );
}

#[test]
fn builtin_abilities_are_kept_unless_the_model_says_otherwise() {
    let text = "[providers.mistral]\ntimeout = '9s'\n[providers.groq]\nbase_url = 'http://h/v1'\n\
                [models.m]\nprovider = 'mistral'\n[models.g]\nprovider = 'groq'\n\
                [models.plain]\nprovider = 'own'\nstructured_output = 'none'\nseed = false\n\
                [providers.own]\nbase_url = 'http://h/v1'";
    let config = GatewayConfig::parse("gateway.toml", text).unwrap();
    let abilities = |name: &str| {
        let model = config.resolve_without_keys(name).unwrap();
        (model.takes.structured_output.value, model.takes.seed.value)
    };
    assert_eq!(abilities("m"), (StructuredOutput::JsonSchema, false));
    assert_eq!(abilities("g"), (StructuredOutput::JsonObject, true));
    assert_eq!(abilities("plain"), (StructuredOutput::None, false));
    assert_eq!(abilities("own/x"), (StructuredOutput::JsonSchema, true));
}

#[test]
fn key_of_a_builtin_provider_is_not_sent_to_another_address() {
    let text = "[providers.openai]\nbase_url = 'http://elsewhere/v1'";
    let config = GatewayConfig::parse("gateway.toml", text).unwrap();
    let model = config.resolve("openai/gpt").unwrap();
    assert!(model.provider.keys.is_empty());
}

#[test]
fn unknown_model_names_what_exists() {
    let config = GatewayConfig::parse("gateway.toml", FILE).unwrap();
    let text = config.resolve("gpt").unwrap_err().to_string();
    for part in [
        "\"gpt\"",
        "llama-70b, tiny",
        "PROVIDER/MODEL",
        "deepinfra",
        "ollama",
    ] {
        assert!(text.contains(part), "{text}");
    }
}

#[test]
fn missing_keys_say_what_to_set() {
    let config = GatewayConfig::parse("gateway.toml", FILE).unwrap();
    let text = config.resolve("llama-70b").unwrap_err().to_string();
    assert!(
        text.contains("environment variable AGON_TEST_UNSET_KEY is not set"),
        "{text}"
    );
    assert!(text.contains("/no/such/file"), "{text}");
}

#[test]
fn wrong_files_are_refused_with_the_place() {
    let cases = [
        ("[providers.x]\nbase_url = 'http://h'\ncolour = 1", "colour"),
        ("[providers.x]\nbase_url = 'ftp://h'", "http://"),
        ("[providers.x]\nbase_url = 'http://me:secret@h'", "use keys"),
        (
            "[providers.x]\nbase_url = 'http://h/v1?key=1'",
            "before any ?",
        ),
        ("[providers.x]\nkind = 'telepathy'", "telepathy"),
        ("[providers.x]", "base_url is missing"),
        ("[providers.openai.limits]\nconcurrency = 0", "limit of 0"),
        ("[providers.openai]\ntimeout = '0s'", "timeout"),
        (
            "[gateway]\ndead_key_probes = ['1m', '0s']",
            "gateway: pauses in dead_key_probes must be longer than 0s",
        ),
        (
            "[models.m]\nprovider = 'vllm'\nhedge_after = '0s'",
            "longer than 0s",
        ),
        (
            "[models.m]\nprovider = 'vllm'\ntimeout = '9s'\nhedge_after = '9s'",
            "hedge_after must be shorter than the time that a call may take, 9s",
        ),
        (
            "[models.m]\nprovider = 'vllm'\nhedge_after = '3m'",
            "a call may take, 2m",
        ),
        (
            "[providers.openai]\nkeys = [ { value = 'sk-1' } ]",
            "keys = [{ env = \"NAME\" }]",
        ),
        (
            "[models.m]\nprovider = 'nobody'",
            "unknown provider \"nobody\"",
        ),
        (
            "[models.m]\nprovider = 'vllm'\nmax_output_tokens = 0",
            "at least 1",
        ),
        (
            "[models.m]\nprovider = 'vllm'\nprice = { input_per_million_dollars = 'x', \
             output_per_million_dollars = '1' }",
            "not an amount in dollars",
        ),
        (
            "[models.m]\nprovider = 'vllm'\nprice = { input_per_million_dollars = '1' }",
            "missing field `output_per_million_dollars`",
        ),
        ("[gateway]\npatience = 'soon'", "patience"),
        ("[gateway", "gateway.toml:1"),
    ];
    for (text, expected) in cases {
        let error = GatewayConfig::parse("gateway.toml", text)
            .unwrap_err()
            .to_string();
        assert!(error.contains(expected), "{text} gave: {error}");
    }
}

#[test]
fn limits_of_a_model_hold_for_all_its_names_and_are_stated_once() {
    let limits = |requests: u64| format!("limits = {{ requests_per_minute = {requests} }}\n");
    let file = |first: &str, second: &str| {
        let text = format!(
            "[models.first-of-two-long-names-for-one]\nprovider = 'vllm'\nmodel = 'z'\n{first}\
             [models.second-of-two-long-names-for-one]\nprovider = 'vllm'\nmodel = 'z'\n{second}\
             [models.z]\nprovider = 'ollama'\n"
        );
        GatewayConfig::parse("gateway.toml", &text)
    };
    for (first, second) in [
        ("", &*limits(60)),
        (&*limits(60), ""),
        (&*limits(60), &*limits(60)),
    ] {
        let config = file(first, second).unwrap();
        for (name, expected) in [
            ("first-of-two-long-names-for-one", Some(60)),
            ("second-of-two-long-names-for-one", Some(60)),
            ("vllm/z", Some(60)),
            ("vllm/y", None),
            ("z", None),
        ] {
            let model = config.resolve_without_keys(name).unwrap();
            assert_eq!(model.limits.requests_per_minute, expected, "{name}");
        }
    }
    let error = file(&limits(60), &limits(61)).unwrap_err().to_string();
    for name in [
        "first-of-two-long-names-for-one",
        "second-of-two-long-names-for-one",
    ] {
        assert!(error.contains(name), "{error}");
    }
}

#[test]
fn slow_calls_of_a_model_that_thinks_may_be_made_again_late() {
    let hedged = |after: &str| {
        let text =
            format!("[models.m]\nprovider = 'vllm'\nreasoning = true\nhedge_after = '{after}'");
        GatewayConfig::parse("gateway.toml", &text)
    };
    assert!(hedged("29m").is_ok());
    assert!(hedged("30m").is_err());
}

#[test]
fn key_in_the_wrong_place_is_not_repeated() {
    for line in [
        r#"keys = ["sk-SECRET"]"#,
        r#"keys = "sk-SECRET""#,
        r#"key = "sk-SECRET""#,
        r#"api_key = "plain-SECRET""#,
        r#"keys = [{ env = "sk-SECRET" }]"#,
        r#"keys = [{ file = "sk-SECRET-0123456789" }]"#,
        r#"keys = [{ value = "plain-SECRET" }]"#,
        r#"keys = [{ env = ["plain-SECRET"] }]"#,
        r#"keys = { env = "plain-SECRET" }"#,
        r#"keys.env = "plain-SECRET""#,
        r#"keys = [{ "plain-SECRET" = 1 }]"#,
    ] {
        let text = format!("[providers.x]\nbase_url = 'http://h'\n{line}");
        let error = GatewayConfig::parse("gateway.toml", &text).unwrap_err();
        let shown = format!("{error} {error:?}");
        assert!(!shown.contains("SECRET"), "{line} gave: {shown}");
        let instead = r#"write keys = [{ env = "NAME" }] or keys = [{ file = "/path" }]"#;
        assert!(error.to_string().contains(instead), "{line} gave: {error}");
    }
    for text in [
        "[providers]\nx = 'plain-SECRET'",
        "[providers.x]\nkeys = [{ env = plain-SECRET }]",
        "[providers.x]\nkeys = ['plain-SECRET'",
        "[providers.x]\nkind = 'sk-SECRET-0123456789'",
        "[models.x]\nprovider = 'vllm'\nsecret = 'plain-SECRET'",
        "OPENAI_API_KEY = 'plain-SECRET'",
        "OPENAI_API_KEY=plain-SECRET",
    ] {
        let error = GatewayConfig::parse("gateway.toml", text).unwrap_err();
        let shown = format!("{error} {error:?}");
        assert!(!shown.contains("SECRET"), "{text} gave: {shown}");
        assert!(shown.contains("gateway.toml:"), "{shown}");
    }
}
