import os
import sys

from langchain_anthropic import ChatAnthropic
from langchain_core.messages import HumanMessage, ToolMessage
from langchain_core.tools import tool
from langchain_openai import ChatOpenAI

BASE, KEY, MODEL, PROMPT = (os.environ[name] for name in ("BASE_URL", "API_KEY", "MODEL", "PROMPT"))
OPENAI = {"model": MODEL, "base_url": f"{BASE}/v1", "api_key": KEY}
MODELS = [
    ChatOpenAI(**OPENAI, use_responses_api=False),
    ChatOpenAI(**OPENAI, use_responses_api=True),
    ChatAnthropic(model=os.environ["CLAUDE"], base_url=BASE, api_key=KEY, max_tokens=1_000),
]


@tool
def step() -> str:
    """Takes a step."""
    return "taken"


def call():
    for model in MODELS:
        print(model.invoke(PROMPT).text)


def stream():
    for model in MODELS:
        for chunk in model.stream(PROMPT):
            print(chunk.text, end="", flush=True)


def tools():
    for model in MODELS:
        messages = [HumanMessage(PROMPT)]
        while True:
            answer = model.bind_tools([step]).invoke(messages)
            messages.append(answer)
            if not answer.tool_calls:
                break
            messages += [ToolMessage("taken", tool_call_id=one["id"]) for one in answer.tool_calls]
        print(messages[-1].text)


def refused():
    print(MODELS[0].invoke(PROMPT).text)


globals()[sys.argv[1]]()
