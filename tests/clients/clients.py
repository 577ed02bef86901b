"""Asks the gateway's HTTP door and the simulated model server through the client libraries of
OpenAI, Anthropic and Google: what these libraries refuse to send or to read is a fault of ours.
Called by tests/tests/clients.rs with the addresses of both; prints one line per check.
"""

import argparse
import json

import anthropic
import openai
from google import genai
from google.genai import errors as google_errors
from google.genai import types

SCHEMA = {
    "type": "object",
    "properties": {"guess": {"type": "integer", "minimum": 0, "maximum": 100}},
    "required": ["guess"],
    "additionalProperties": False,
}
QUESTION = "Choose a whole number from 0 to 100."


def refused(call, kind, word):
    """What a call is refused with; a fault if it is not, or for another reason."""
    try:
        call()
    except kind as error:
        assert word in str(error), f"{word!r} is not in {error}"
        return error
    raise AssertionError(f"{kind.__name__} about {word!r} was expected")


def check_openai(client, model, thinker, streams):
    """Chat completions, at the door and at the server behind it."""
    ask = [{"role": "user", "content": QUESTION}]

    def create(**more):
        return client.chat.completions.create(**{"model": model, "messages": ask, **more})

    plain = create(temperature=0.5, max_completion_tokens=200, seed=7)
    choice = plain.choices[0]
    assert choice.message.content and choice.finish_reason == "stop", plain
    assert plain.usage.prompt_tokens > 0 and plain.usage.completion_tokens > 0, plain.usage
    print("plain")

    form = {"type": "json_schema", "json_schema": {"name": "act", "strict": True, "schema": SCHEMA}}
    answer = json.loads(create(response_format=form).choices[0].message.content)
    assert 0 <= answer["guess"] <= 100, answer
    print("structured output")

    thought = create(model=thinker, reasoning_effort="low", max_completion_tokens=4000)
    details = thought.usage.completion_tokens_details
    assert 0 < details.reasoning_tokens < thought.usage.completion_tokens, thought.usage
    assert thought.choices[0].message.content, thought
    print("reasoning")

    likely = create(logprobs=True, top_logprobs=3).choices[0]
    tokens = likely.logprobs.content
    assert "".join(token.token for token in tokens) == likely.message.content, likely
    assert all(token.logprob <= 0 and len(token.top_logprobs) == 3 for token in tokens), tokens
    print("probabilities of tokens")

    names = [listed.id for listed in client.models.list()]
    assert model in names, names
    print("list of models")

    if streams:
        chunks = create(stream=True, stream_options={"include_usage": True})
        texts, usage = [], None
        for chunk in chunks:
            texts += [choice.delta.content or "" for choice in chunk.choices]
            usage = chunk.usage or usage
        assert "".join(texts) and usage.total_tokens > 0, (texts, usage)
        tools = [{"type": "function", "function": {"name": "f", "parameters": SCHEMA}}]
        refused(lambda: create(tools=tools), openai.BadRequestError, "tools")
        refused(lambda: create(model="nobody/x"), openai.NotFoundError, "nobody")
    else:
        refused(lambda: create(stream=True), openai.BadRequestError, "does not stream")
    print("streaming")


def check_anthropic(client):
    """Messages, at the simulated server."""

    def create(**more):
        ask = [{"role": "user", "content": QUESTION}]
        plain = {"model": "agon-sim", "max_tokens": 5000, "messages": ask}
        return client.messages.create(**{**plain, **more})

    system = [{"type": "text", "text": "Rules.", "cache_control": {"type": "ephemeral"}}]
    plain = create(system=system)
    assert plain.content[0].text and plain.stop_reason == "end_turn", plain
    assert plain.usage.input_tokens > 0 and plain.usage.output_tokens > 0, plain.usage
    print("plain")

    tool = {"name": "act", "input_schema": SCHEMA}
    used = create(tools=[tool], tool_choice={"type": "tool", "name": "act"}).content[0]
    assert used.type == "tool_use" and 0 <= used.input["guess"] <= 100, used
    print("forced tool")

    budget = {"type": "enabled", "budget_tokens": 2048}
    thought = create(model="thinks-deeply", thinking=budget)
    kinds = [block.type for block in thought.content]
    assert kinds == ["thinking", "text"], thought
    cut = create(model="thinks-deeply", max_tokens=5)
    assert cut.stop_reason == "max_tokens", cut
    assert [block.type for block in cut.content] == ["thinking"], cut
    print("thinking")

    def stream():
        with client.messages.stream(
            model="agon-sim", max_tokens=50, messages=[{"role": "user", "content": QUESTION}]
        ) as chunks:
            chunks.get_final_message()

    refused(stream, anthropic.BadRequestError, "does not stream")
    print("streaming")


def check_google(client):
    """generateContent, at the simulated server."""

    def generate(model="agon-sim", **config):
        config = types.GenerateContentConfig(**config)
        return client.models.generate_content(model=model, contents=QUESTION, config=config)

    plain = generate(temperature=0.5, max_output_tokens=200, system_instruction="Rules.")
    assert plain.text and plain.candidates[0].finish_reason.name == "STOP", plain
    assert plain.usage_metadata.prompt_token_count > 0, plain.usage_metadata
    print("plain")

    form = {"response_mime_type": "application/json", "response_json_schema": SCHEMA}
    assert 0 <= json.loads(generate(**form).text)["guess"] <= 100
    print("structured output")

    thinking = types.ThinkingConfig(thinking_budget=1024, include_thoughts=True)
    thought = generate(model="thinks-deeply", thinking_config=thinking, max_output_tokens=5000)
    assert thought.usage_metadata.thoughts_token_count > 0 and thought.text, thought
    assert any(part.thought for part in thought.candidates[0].content.parts), thought
    print("thinking")

    def stream():
        chunks = client.models.generate_content_stream(model="agon-sim", contents=QUESTION)
        list(chunks)

    refused(stream, google_errors.ClientError, "does not stream")
    print("streaming")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--door", required=True, help="address of the gateway's HTTP door")
    parser.add_argument("--token", required=True, help="a team's token for it")
    parser.add_argument("--server", required=True, help="address of the simulated model server")
    arguments = parser.parse_args()
    door, server = arguments.door, arguments.server
    print("== OpenAI's library at the door")
    client = openai.OpenAI(base_url=f"{door}/v1", api_key=arguments.token, max_retries=0)
    check_openai(client, "small", "thinker", streams=True)
    print("== OpenAI's library at the server")
    client = openai.OpenAI(base_url=f"{server}/v1", api_key="none", max_retries=0)
    check_openai(client, "agon-sim", "thinks-deeply", streams=False)
    print("== Anthropic's library at the server")
    check_anthropic(anthropic.Anthropic(base_url=server, api_key="none", max_retries=0))
    print("== Google's library at the server")
    check_google(genai.Client(api_key="none", http_options=types.HttpOptions(base_url=server)))


if __name__ == "__main__":
    main()
