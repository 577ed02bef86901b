//! Made-up names and numbers: models as providers call them, and a stream of numbers from a seed.
//! Nothing here is random.

/// Names as providers give them.
pub const MODELS: [&str; 13] = [
    "anthropic/claude-sonnet-4-5-20250929",
    "openai/gpt-4o-2024-08-06",
    "google/gemini-2.5-pro-preview-06-05",
    "meta-llama/Llama-3.3-70B-Instruct",
    "mistralai/Mixtral-8x22B-Instruct-v0.1",
    "deepseek-ai/DeepSeek-R1-Distill-Qwen-32B",
    "Qwen/Qwen2.5-72B-Instruct",
    "cohere/command-r-plus-08-2024",
    "xai/grok-3-mini",
    "rule: tit for tat",
    "rule: fixed bidder",
    "microsoft/phi-4",
    "01-ai/Yi-1.5-34B-Chat",
];

/// The first so many of them.
pub fn models(count: usize) -> Vec<String> {
    let models = MODELS.iter().take(count);
    models.map(|name| (*name).to_owned()).collect()
}

/// Numbers between 0 and 1 from a seed.
pub struct Numbers(u64);

impl Numbers {
    /// A stream of its own.
    pub fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    /// The next one.
    pub fn next(&mut self) -> f64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as f64 / (1u64 << 53) as f64
    }

    /// Roughly normal.
    pub fn normal(&mut self, mean: f64, deviation: f64) -> f64 {
        let sum: f64 = (0..12).map(|_| self.next()).sum();
        mean + (sum - 6.0) * deviation
    }
}
