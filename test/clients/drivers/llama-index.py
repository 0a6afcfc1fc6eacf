import asyncio
import os
import sys

from llama_index.core.agent.workflow import FunctionAgent
from llama_index.core.tools import FunctionTool
from llama_index.llms.openai_like import OpenAILike

PROMPT = os.environ["PROMPT"]
LLM = OpenAILike(
    model=os.environ["MODEL"],
    api_base=os.environ["BASE_URL"],
    api_key=os.environ["API_KEY"],
    is_chat_model=True,
    is_function_calling_model=True,
)


def step() -> str:
    """Takes a step."""
    return "taken"


def call():
    print(LLM.complete(PROMPT).text)


def stream():
    for chunk in LLM.stream_complete(PROMPT):
        print(chunk.delta, end="", flush=True)


def tools():
    async def loop():
        agent = FunctionAgent(tools=[FunctionTool.from_defaults(step)], llm=LLM)
        return await agent.run(PROMPT, max_iterations=30)

    print(asyncio.run(loop()))


def refused():
    call()


globals()[sys.argv[1]]()
