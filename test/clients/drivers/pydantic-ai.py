import os
import sys

from pydantic_ai import Agent
from pydantic_ai.models.anthropic import AnthropicModel
from pydantic_ai.models.openai import OpenAIChatModel, OpenAIResponsesModel
from pydantic_ai.providers.anthropic import AnthropicProvider
from pydantic_ai.providers.openai import OpenAIProvider

BASE, KEY, MODEL, PROMPT = (os.environ[name] for name in ("BASE_URL", "API_KEY", "MODEL", "PROMPT"))
OPENAI = OpenAIProvider(base_url=f"{BASE}/v1", api_key=KEY)
MODELS = [
    OpenAIChatModel(MODEL, provider=OPENAI),
    OpenAIResponsesModel(MODEL, provider=OPENAI),
    AnthropicModel(os.environ["CLAUDE"], provider=AnthropicProvider(base_url=BASE, api_key=KEY)),
]


def step() -> str:
    """Takes a step."""
    return "taken"


def call():
    for model in MODELS:
        print(Agent(model).run_sync(PROMPT).output)


def stream():
    for model in MODELS:
        for text in Agent(model).run_stream_sync(PROMPT).stream_text(delta=True, debounce_by=None):
            print(text, end="", flush=True)


def tools():
    for model in MODELS:
        print(Agent(model, tools=[step]).run_sync(PROMPT).output)


def refused():
    print(Agent(MODELS[0]).run_sync(PROMPT).output)


globals()[sys.argv[1]]()
