"""Runs OpenAI's Python client against a server: openai_chat.py BASE_URL [toy].

With "toy" the server is the one in server/, and answers are known exactly.
"""
import json
import sys

import openai
import pydantic

from checks import TOY, check, report, using

client = openai.OpenAI(base_url=sys.argv[1].rstrip("/") + "/v1", api_key="none", max_retries=0)


def chat(model, *messages, **options):
    roles = ["system", "user"][2 - len(messages):]
    return client.chat.completions.create(model=model, messages=[{"role": r, "content": m} for r, m in zip(roles, messages)], **options)


def translated(what, source, got):
    check(what, got == source.upper() if TOY else bool(got.strip()) and got != source, got)


class Translations(pydantic.BaseModel):
    translations: list[str]
    notes: str | None


class Item(pydantic.BaseModel):
    id: int
    translated: str


class Items(pydantic.BaseModel):
    items: list[Item]


def responses():
    """The API that today's SDKs call first."""
    answer = client.responses.create(model="dragoman:en-fr", input="Good morning.")
    translated("openai response", "Good morning.", answer.output_text)
    check("openai response ends", answer.status == "completed" and answer.usage.total_tokens >= 0, answer)
    numbered = "1. Good morning.\n2. Thank you."
    with client.responses.stream(model="dragoman:fr", input=numbered) as stream:
        events = list(stream)
        translated("openai response, stream", numbered, stream.get_final_response().output_text)
    check("openai response, events", events[0].type == "response.created" and events[-1].type == "response.completed", [e.type for e in events])
    check("openai response, numbers", [e.sequence_number for e in events] == list(range(len(events))), events)
    got = client.responses.parse(model="dragoman:fr", input='["Good morning.", "Thank you."]', text_format=Translations).output_parsed
    check("openai response, form", len(got.translations) == 2 and got.notes is None, got)
    translated("openai response, form", "Thank you.", got.translations[1])
    got = client.chat.completions.parse(model="dragoman:fr", messages=[{"role": "user", "content": '[{"id": 7, "text": "Thank you."}]'}], response_format=Items)
    item = got.choices[0].message.parsed.items[0]
    check("openai form of objects", item.id == 7, item)
    translated("openai form of objects", "Thank you.", item.translated)
    for what, options in {"tools": {"tools": [{"type": "web_search"}]}, "a response that is stored": {"previous_response_id": "resp_1"}}.items():
        try:
            check("openai " + what, False, client.responses.create(model="dragoman:fr", input="Good morning.", **options))
        except openai.BadRequestError as e:
            check("openai " + what, "not offered" in e.body["message"], e.body)


def main():
    using("openai", "OpenAI")
    responses()
    answer = chat("dragoman:en-fr", "Good morning.", temperature=0.3)
    translated("openai chat", "Good morning.", answer.choices[0].message.content)
    check("openai chat ends", answer.choices[0].finish_reason == "stop" and answer.model == "dragoman:en-fr", answer)
    check("openai usage", answer.usage.total_tokens == answer.usage.prompt_tokens + answer.usage.completion_tokens, answer.usage)
    answer = chat("gpt-4o", "You are a professional French native translator.", "Translate to French:\n\nGood morning.\n\n%%\n\nThank you.")
    parts = answer.choices[0].message.content.split("\n\n%%\n\n")
    check("openai separators", len(parts) == 2, parts)
    translated("openai prompt", "Thank you.", parts[-1])
    texts = json.loads(chat("dragoman:fr", '{"a": "Good morning.", "b": [1, "Thank you."]}').choices[0].message.content)
    translated("openai JSON", "Thank you.", texts["b"][1])

    numbered = "1. Good morning.\n2. Thank you.\n3. Where is the station?"
    with client.chat.completions.create(model="dragoman:fr", messages=[{"role": "user", "content": numbered}], stream=True,
                                        stream_options={"include_usage": True}) as stream:
        chunks = list(stream)
    text = "".join(c.choices[0].delta.content or "" for c in chunks if c.choices)
    translated("openai stream", numbered, text)
    check("openai stream: numbers", [line[:2] for line in text.split("\n")] == ["1.", "2.", "3."], text)
    check("openai stream: usage", chunks[-1].usage is not None and chunks[-2].choices[0].finish_reason == "stop", chunks[-2:])
    got = client.completions.create(model="dragoman:fr", prompt=["Good morning.", "Thank you."])
    translated("openai completions", "Thank you.", got.choices[1].text)
    names = [m.id for m in client.models.list()]
    check("openai models", "dragoman" in names and "dragoman:fr" in names, names)
    check("openai model", client.models.retrieve("dragoman:fr").id == "dragoman:fr")

    for what, error, model, text in [("no target", openai.BadRequestError, "dragoman", "Good morning."),
                                     ("no such model", openai.NotFoundError, "nothing:fr", "Good morning.")]:
        try:
            check("openai " + what, False, chat(model, text))
        except error as e:
            check("openai " + what, bool(e.body["message"]), e.body)


main()
report()
