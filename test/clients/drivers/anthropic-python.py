import os
import sys

from anthropic import Anthropic, beta_tool

client = Anthropic()
MODEL = os.environ["MODEL"]
BODY = {
    "model": MODEL,
    "max_tokens": 1_000,
    "messages": [{"role": "user", "content": os.environ["PROMPT"]}],
}


def text_of(message):
    return "".join(block.text for block in message.content if block.type == "text")


def call():
    print(text_of(client.messages.create(**BODY)))


def stream():
    with client.messages.stream(**BODY) as events:
        for text in events.text_stream:
            print(text, end="", flush=True)


def tools():
    @beta_tool
    def step() -> str:
        """Takes a step."""
        return "taken"

    print(text_of(client.beta.messages.tool_runner(**BODY, tools=[step]).until_done()))


def models():
    for model in client.models.list(limit=5):
        print(model.id, model.display_name)
    print(client.models.retrieve(MODEL).id)


def refused():
    call()


globals()[sys.argv[1]]()
