"""Chats as the page of Open WebUI does. Its server is started by the first run, and goes on for the others of the same home."""

import json
import os
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
import uuid

MODEL, PROMPT, HOME = os.environ["MODEL"], os.environ["PROMPT"], os.environ["HOME"]
PERSON = {"name": "Person", "email": "person@example.com", "password": "password"}
STEP = '''
class Tools:
    def step(self) -> str:
        """Takes a step."""
        return "taken"
'''

token = ""


def server():
    place = os.path.join(HOME, "port")
    if os.path.exists(place):
        with open(place) as file:
            return int(file.read())
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    program = os.path.join(os.path.dirname(sys.executable), "open-webui")
    with open(os.path.join(HOME, "log"), "w") as log:
        subprocess.Popen(
            [program, "serve", "--host", "127.0.0.1", "--port", str(port)],
            env={**os.environ, "DATA_DIR": HOME, "WEBUI_SECRET_KEY": "secret", "OFFLINE_MODE": "true"},
            stdout=log,
            stderr=log,
            start_new_session=True,
        )
    with open(place, "w") as file:
        file.write(str(port))
    return port


def ask(path, body=None):
    headers = {"content-type": "application/json", "authorization": f"Bearer {token}"}
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(f"http://127.0.0.1:{port}{path}", data, headers)
    try:
        with urllib.request.urlopen(request) as answer:
            return json.loads(answer.read())
    except urllib.error.HTTPError as error:
        sys.exit(error.read().decode())


def begin():
    global token
    while True:
        try:
            ask("/health")
            break
        except OSError:
            time.sleep(0.2)
    is_new = ask("/api/config").get("onboarding")
    token = ask("/api/v1/auths/signup" if is_new else "/api/v1/auths/signin", PERSON)["token"]
    connection = {
        "ENABLE_OPENAI_API": True,
        "OPENAI_API_BASE_URLS": [os.environ["OPENAI_API_BASE_URL"]],
        "OPENAI_API_KEYS": [os.environ["OPENAI_API_KEY"]],
        "OPENAI_API_CONFIGS": {},
    }
    ask("/openai/config/update", connection)
    if is_new:
        step = {"id": "step", "name": "step", "content": STEP, "meta": {"description": "Takes a step"}}
        ask("/api/v1/tools/create", step)


def models():
    for model in ask("/api/models?refresh=true")["data"]:
        print(model["id"])


def call():
    models()
    messages = [{"role": "user", "content": PROMPT}]
    answer = ask("/api/chat/completions", {"model": MODEL, "messages": messages})
    print(answer["choices"][0]["message"]["content"])


def chat(**more):
    models()
    asked = {"id": str(uuid.uuid4()), "role": "user", "content": PROMPT}
    answer_id = str(uuid.uuid4())
    body = {
        "model": MODEL,
        "messages": [{"role": "user", "content": PROMPT}],
        "stream": True,
        "parent_id": None,
        "session_id": "page",
        "id": answer_id,
        "user_message": asked,
        **more,
    }
    begun = ask("/api/chat/completions", body)
    chat_id = begun["chat_id"]
    signal.signal(signal.SIGINT, lambda *_: stop(begun["task_ids"]))
    while True:
        message = ask(f"/api/v1/chats/{chat_id}")["chat"]["history"]["messages"].get(answer_id, {})
        if message.get("done") or message.get("error"):
            break
        time.sleep(0.2)
    print(message.get("content"), message.get("error"))


def stop(tasks):
    for task in tasks:
        ask(f"/api/tasks/stop/{task}", {})
    sys.exit()


def stream():
    chat()


def refused():
    chat()


def tools():
    chat(tool_ids=["step"], params={"function_calling": "native"})


port = server()
begin()
globals()[sys.argv[1]]()
