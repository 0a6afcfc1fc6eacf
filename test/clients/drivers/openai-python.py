import os
import sys

from openai import OpenAI

client = OpenAI()
MODEL, PROMPT = os.environ["MODEL"], os.environ["PROMPT"]
TOOL = {"name": "step", "description": "Takes a step", "parameters": {"type": "object", "properties": {}}}


def call():
    messages = [{"role": "user", "content": PROMPT}]
    print(client.chat.completions.create(model=MODEL, messages=messages).choices[0].message.content)
    print(client.responses.create(model=MODEL, input=PROMPT).output_text)


def stream():
    messages = [{"role": "user", "content": PROMPT}]
    for chunk in client.chat.completions.create(model=MODEL, messages=messages, stream=True):
        print(chunk.choices[0].delta.content or "" if chunk.choices else "", end="", flush=True)
    with client.responses.stream(model=MODEL, input=PROMPT) as events:
        for event in events:
            if event.type == "response.output_text.delta":
                print(event.delta, end="", flush=True)


def tools():
    messages = [{"role": "user", "content": PROMPT}]
    while True:
        answer = client.chat.completions.create(
            model=MODEL, messages=messages, tools=[{"type": "function", "function": TOOL}]
        )
        message = answer.choices[0].message
        messages.append(message)
        if not message.tool_calls:
            print(message.content)
            break
        for used in message.tool_calls:
            messages.append({"role": "tool", "tool_call_id": used.id, "content": "taken"})
    items = [{"role": "user", "content": PROMPT}]
    while True:
        answer = client.responses.create(model=MODEL, input=items, tools=[{"type": "function", **TOOL}])
        calls = [item for item in answer.output if item.type == "function_call"]
        if not calls:
            print(answer.output_text)
            break
        items += answer.output
        items += [{"type": "function_call_output", "call_id": one.call_id, "output": "taken"} for one in calls]


def models():
    for model in client.models.list():
        print(model.id)
    print(client.models.retrieve(MODEL).id)


def refused():
    print(client.responses.create(model=MODEL, input=PROMPT).output_text)


globals()[sys.argv[1]]()
