import json
import os
import sys

from litellm import completion

BASE, KEY, PROMPT = (os.environ[name] for name in ("BASE_URL", "API_KEY", "PROMPT"))
MODELS = [
    {"model": f"openai/{os.environ['MODEL']}", "api_base": f"{BASE}/v1", "api_key": KEY},
    {"model": f"anthropic/{os.environ['CLAUDE']}", "api_base": BASE, "api_key": KEY, "max_tokens": 1_000},
]
STEP = {"name": "step", "description": "Takes a step", "parameters": {"type": "object", "properties": {}}}
ASKED = [{"role": "user", "content": PROMPT}]


def call():
    for model in MODELS:
        print(completion(messages=ASKED, **model).choices[0].message.content)


def stream():
    for model in MODELS:
        for chunk in completion(messages=ASKED, stream=True, **model):
            print(chunk.choices[0].delta.content or "", end="", flush=True)


def tools():
    for model in MODELS:
        messages = list(ASKED)
        while True:
            answer = completion(messages=messages, tools=[{"type": "function", "function": STEP}], **model)
            message = answer.choices[0].message
            messages.append(json.loads(message.model_dump_json(exclude_none=True)))
            if not message.tool_calls:
                break
            for used in message.tool_calls:
                messages.append({"role": "tool", "tool_call_id": used.id, "content": "taken"})
        print(messages[-1]["content"])


def refused():
    print(completion(messages=ASKED, **MODELS[0]).choices[0].message.content)


globals()[sys.argv[1]]()
