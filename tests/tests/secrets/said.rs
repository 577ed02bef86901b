//! What providers say that repeats the key they were sent, each in another place: answers and
//! complaints in the words of each protocol. `KEY` stands for the key.

/// How a provider speaks, and what it says: a status and a body each.
pub struct Protocol {
    /// The lines of its section in the configuration that its kind needs.
    pub section: &'static str,
    /// In turn.
    pub said: &'static [(u16, &'static str)],
}

/// OpenAI's, and that of all who imitate it.
pub const OPENAI: Protocol = Protocol {
    section: "kind = 'openai'",
    said: &[
        (
            200,
            r#"{"model":"m","choices":[{"message":{"content":"40 KEY"},"finish_reason":"stop"}]}"#,
        ),
        (
            200,
            r#"{"model":"KEY","choices":[{"message":{"content":"40"},"finish_reason":"stop"}]}"#,
        ),
        (
            200,
            r#"{"model":"m","choices":[{"message":{"content":"40"},"finish_reason":"KEY"}]}"#,
        ),
        (
            200,
            r#"{"model":"m","choices":[{"message":{"content":"40","reasoning_content":"KEY"},"finish_reason":"stop"}]}"#,
        ),
        (
            200,
            r#"{"id":"KEY","model":"m","system_fingerprint":"KEY","choices":[{"message":{"content":"40"},"finish_reason":"stop"}]}"#,
        ),
        (
            200,
            r#"{"model":"m","choices":[{"message":{"content":"{\"number\": \"KEY\"}"},"finish_reason":"stop"}]}"#,
        ),
        (
            200,
            r#"{"model":"m","choices":[{"message":{"content":null,"refusal":"KEY"},"finish_reason":"stop"}]}"#,
        ),
        (200, r#"{"error":{"message":"KEY","code":"KEY"}}"#),
        (200, "<p>KEY</p>"),
        (400, r#"{"error":{"message":"no KEY","type":"t"}}"#),
        (400, r#"{"error":{"message":"m","code":"KEY"}}"#),
        (
            400,
            r#"{"error":{"message":"m","param":"KEY","code":"unsupported_parameter"}}"#,
        ),
        (400, r#"[{"error":{"message":"KEY","status":"KEY"}}]"#),
        (429, r#"{"error":{"message":"slow down KEY"}}"#),
        (500, r#"{"detail":"KEY"}"#),
        (500, "<html>KEY</html>"),
        (503, "KEY"),
        (
            200,
            r#"{"model":"m","choices":[{"message":{"role":"KEY","content":"40"},"finish_reason":"stop"}]}"#,
        ),
        (
            200,
            r#"{"model":"m","choices":[{"message":{"content":"40","name":"KEY","annotations":["KEY"]},"finish_reason":"stop"}]}"#,
        ),
        (
            200,
            r#"{"model":"m","choices":[{"message":{"content":"","tool_calls":[{"id":"KEY","function":{"name":"KEY","arguments":"KEY"}}]},"finish_reason":"tool_calls"}]}"#,
        ),
        (
            200,
            r#"{"model":"m","choices":[{"message":{"content":"40"},"logprobs":{"content":[{"token":"KEY"}]},"finish_reason":"stop"}]}"#,
        ),
        (
            200,
            r#"{"model":"m","object":"KEY","service_tier":"KEY","provider":"KEY","choices":[{"message":{"content":"40"},"finish_reason":"stop"}]}"#,
        ),
        (
            200,
            r#"{"model":"m","choices":[{"message":{"content":"40"},"finish_reason":"stop"}],"usage":{"KEY":1,"prompt_tokens":"KEY"}}"#,
        ),
        (
            200,
            r#"{"model":"m","choices":[{"message":{"content":"40"},"finish_reason":"stop"},{"message":{"content":"KEY"},"finish_reason":"KEY"}]}"#,
        ),
        (
            200,
            r#"{"model":"m","choices":[{"message":{"content":[{"type":"text","text":"40 KEY"}]},"finish_reason":"stop"}]}"#,
        ),
        (200, r#""KEY""#),
        (
            400,
            r#"{"error":{"message":"m","type":"KEY","metadata":{"raw":"KEY"}}}"#,
        ),
        (404, r#"{"error":{"message":"no model KEY"}}"#),
        (422, r#"{"detail":[{"loc":["KEY"],"msg":"KEY"}]}"#),
        (
            529,
            r#"{"type":"error","error":{"type":"KEY","message":"KEY"}}"#,
        ),
    ],
};

/// Anthropic's messages.
pub const ANTHROPIC: Protocol = Protocol {
    section: "kind = 'anthropic'",
    said: &[
        (
            200,
            r#"{"model":"m","content":[{"type":"text","text":"40 KEY"}],"stop_reason":"end_turn"}"#,
        ),
        (
            200,
            r#"{"model":"KEY","content":[{"type":"text","text":"40"}],"stop_reason":"end_turn"}"#,
        ),
        (
            200,
            r#"{"model":"m","content":[{"type":"text","text":"40"}],"stop_reason":"KEY"}"#,
        ),
        (
            200,
            r#"{"model":"m","content":[{"type":"thinking","thinking":"KEY"},{"type":"text","text":"40"}],"stop_reason":"end_turn"}"#,
        ),
        (
            200,
            r#"{"model":"m","content":[{"type":"redacted_thinking","data":"KEY"},{"type":"text","text":"40"}],"stop_reason":"end_turn"}"#,
        ),
        (
            200,
            r#"{"model":"m","content":[{"type":"tool_use","id":"KEY","name":"bid","input":{"number":"KEY"}}],"stop_reason":"tool_use"}"#,
        ),
        (
            200,
            r#"{"id":"KEY","role":"KEY","type":"KEY","model":"m","content":[{"type":"text","text":"40"}],"stop_sequence":"KEY","stop_reason":"end_turn","usage":{"KEY":1}}"#,
        ),
        (
            200,
            r#"{"type":"error","error":{"type":"KEY","message":"KEY"}}"#,
        ),
        (
            400,
            r#"{"type":"error","error":{"type":"invalid_request_error","message":"no KEY"}}"#,
        ),
        (
            404,
            r#"{"type":"error","error":{"type":"not_found_error","message":"model: KEY"},"request_id":"KEY"}"#,
        ),
        (
            429,
            r#"{"type":"error","error":{"type":"rate_limit_error","message":"KEY"}}"#,
        ),
        (
            529,
            r#"{"type":"error","error":{"type":"KEY","message":"KEY"}}"#,
        ),
    ],
};

/// Gemini's contents.
pub const GEMINI: Protocol = Protocol {
    section: "kind = 'gemini'",
    said: &[
        (
            200,
            r#"{"candidates":[{"content":{"parts":[{"text":"40 KEY"}]},"finishReason":"STOP"}]}"#,
        ),
        (
            200,
            r#"{"modelVersion":"KEY","candidates":[{"content":{"parts":[{"text":"40"}]},"finishReason":"STOP"}]}"#,
        ),
        (
            200,
            r#"{"candidates":[{"content":{"parts":[{"text":"40"}]},"finishReason":"KEY"}]}"#,
        ),
        (
            200,
            r#"{"candidates":[{"content":{"parts":[{"text":"KEY","thought":true},{"text":"40"}]},"finishReason":"STOP"}]}"#,
        ),
        (
            200,
            r#"{"candidates":[{"content":{"role":"KEY","parts":[{"text":"40","thoughtSignature":"KEY"}]},"finishReason":"STOP"}],"responseId":"KEY"}"#,
        ),
        (
            200,
            r#"{"candidates":[{"content":{"parts":[{"text":"40"}]},"finishReason":"STOP","finishMessage":"KEY","citationMetadata":{"citations":[{"uri":"KEY"}]}}]}"#,
        ),
        (
            200,
            r#"{"candidates":[{"content":{"parts":[{"text":"40"}]},"finishReason":"STOP","logprobsResult":{"chosenCandidates":[{"token":"KEY","logProbability":-1}],"topCandidates":[{"candidates":[{"token":"KEY","logProbability":-1}]}]}}]}"#,
        ),
        (
            200,
            r#"{"promptFeedback":{"blockReason":"KEY","blockReasonMessage":"KEY"}}"#,
        ),
        (
            400,
            r#"{"error":{"code":400,"message":"API key KEY not valid","status":"KEY","details":[{"reason":"KEY"}]}}"#,
        ),
        (
            403,
            r#"{"error":{"code":403,"message":"KEY","status":"PERMISSION_DENIED"}}"#,
        ),
        (
            429,
            r#"{"error":{"code":429,"message":"KEY","status":"RESOURCE_EXHAUSTED","details":[{"@type":"KEY","violations":[{"quotaId":"KEY"}]}]}}"#,
        ),
        (
            503,
            r#"[{"error":{"code":503,"message":"KEY","status":"UNAVAILABLE"}}]"#,
        ),
    ],
};

/// Converse, of Bedrock.
pub const BEDROCK: Protocol = Protocol {
    section: "kind = 'bedrock'\nregion = 'eu-central-1'",
    said: &[
        (
            200,
            r#"{"output":{"message":{"role":"assistant","content":[{"text":"40 KEY"}]}},"stopReason":"end_turn"}"#,
        ),
        (
            200,
            r#"{"output":{"message":{"role":"KEY","content":[{"text":"40"}]}},"stopReason":"KEY"}"#,
        ),
        (
            200,
            r#"{"output":{"message":{"content":[{"reasoningContent":{"reasoningText":{"text":"KEY","signature":"KEY"}}},{"text":"40"}]}},"stopReason":"end_turn"}"#,
        ),
        (
            200,
            r#"{"output":{"message":{"content":[{"toolUse":{"toolUseId":"KEY","name":"bid","input":{"number":"KEY"}}}]}},"stopReason":"tool_use"}"#,
        ),
        (
            200,
            r#"{"output":{"message":{"content":[{"text":"40"}]}},"stopReason":"end_turn","trace":{"promptRouter":{"invokedModelId":"KEY"}},"usage":{"KEY":1}}"#,
        ),
        (400, r#"{"message":"KEY","__type":"KEY"}"#),
        (
            403,
            r#"{"message":"The security token included in the request is invalid: KEY"}"#,
        ),
        (404, r#"{"message":"no model KEY"}"#),
        (429, r#"{"message":"too many KEY"}"#),
        (500, r#"{"Message":"KEY"}"#),
        (503, "KEY"),
    ],
};
