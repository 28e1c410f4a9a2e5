"""A local server that answers like Bedrock, OpenAI, Anthropic and Ollama, or misbehaves."""

import gzip
import json
import threading
from collections import deque
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import unquote

import pytest

from stickler_cli.clients.client import Client
from stickler_cli.clients.model_policy import Policy, Retry
from stickler_cli.comparators.models import ModelComparator

KEY = "sk-a-secret-of-this-test"

VECTORS = {
    "car": [1.0, 0.0, 0.0],
    "automobile": [0.8, 0.6, 0.0],
    "banana": [0.0, 0.0, 1.0],
}


class ModelServer:
    """The behaviour of the model server, and the requests that it received."""

    def __init__(self):
        self.requests = []
        self.faults = deque()
        """Faults of the next requests: a status, (status, headers), or a word such as `drop`."""
        self.lock = threading.Lock()
        self.at_once = 0
        self.most_at_once = 0
        self.over = threading.Event()
        """An event that is set when the test is over."""
        self.meeting = None
        """A barrier at which requests wait for each other; None if they do not wait."""
        self.verdict = lambda first, other: (first.lower() == other.lower(), "case aside")
        self.url = ""

    def embedding(self, text):
        return VECTORS.get(text, [float(len(text)), 1.0, 0.0])

    @property
    def paths(self):
        return [path for path, _, _ in self.requests]

    def respond(self, path, headers, body):  # noqa: PLR0911 - one a fault
        """Return (status, headers, bytes) as the answer to a request; None drops the connection."""
        with self.lock:
            self.requests.append((path, headers, body))
            fault = self.faults.popleft() if self.faults else None
        match fault:
            case None:
                return 200, {}, json.dumps(self.answer(path, body)).encode()
            case "drop":
                return None
            case "garbage":
                return 200, {}, b"<html>welcome to the proxy</html>"
            case "nonsense":
                return 200, {}, b'{"object": "something else"}'
            case "drip":  # which is no silence
                return 200, {}, (b"" if self.over.wait(0.05) else b" " for _ in range(9_999))
            case "endless":
                return 200, {}, (b" " * 1_000_000 for _ in range(10_000))
            case "bomb":  # 200 MB
                return 200, {"Content-Encoding": "gzip"}, gzip.compress(b" " * 200_000_000, 1)
            case "silence":
                self.over.wait()  # longer than any machine is busy
                return None
            case (status, extra):
                return status, extra, self.error(status)
            case status:
                return status, {}, self.error(status)

    def error(self, status):
        message = f"no luck with status {status} for key {KEY}"
        return json.dumps({"error": {"message": message}, "message": message}).encode()

    def answer(self, path, body):
        if path.endswith("/embeddings"):
            rows = [
                {"object": "embedding", "index": index, "embedding": self.embedding(text)}
                for index, text in enumerate(body["input"])
            ]
            rows.reverse()  # the protocol numbers them, and promises no order
            usage = {"prompt_tokens": 3 * len(rows), "total_tokens": 3 * len(rows)}
            return {"object": "list", "model": body["model"], "data": rows, "usage": usage}
        if path.endswith("/invoke") and "texts" in body:
            return {"embeddings": [self.embedding(text) for text in body["texts"]]}
        if path.endswith("/invoke"):
            return {"embedding": self.embedding(body["inputText"]), "inputTextTokenCount": 3}
        protocol = next(answer for end, answer in JUDGES.items() if path.endswith(end))
        return protocol(body, self.judge(user_message(body)))

    def judge(self, message):
        equivalent, reason = self.verdict(*json.loads(message).values())
        return {"equivalent": equivalent, "reason": reason}


def user_message(body):
    """Return the message with the values: the last message of the user."""
    content = next(entry for entry in body["messages"] if entry["role"] == "user")["content"]
    return content if isinstance(content, str) else content[0]["text"]


def chat_completion(body, verdict):
    call = {"name": "final_result", "arguments": json.dumps(verdict)}
    message = {
        "role": "assistant",
        "content": None,
        "tool_calls": [{"id": "call-1", "type": "function", "function": call}],
    }
    return {
        "id": "chat-1",
        "object": "chat.completion",
        "created": 1,
        "model": body["model"],
        "choices": [{"index": 0, "finish_reason": "tool_calls", "message": message}],
        "usage": {"prompt_tokens": 100, "completion_tokens": 10, "total_tokens": 110},
    }


def converse_answer(body, verdict):
    use = {"toolUseId": "call-1", "name": "final_result", "input": verdict}
    return {
        "output": {"message": {"role": "assistant", "content": [{"toolUse": use}]}},
        "stopReason": "tool_use",
        "usage": {"inputTokens": 100, "outputTokens": 10, "totalTokens": 110},
        "metrics": {"latencyMs": 1},
    }


def anthropic_message(body, verdict):
    return {
        "id": "message-1",
        "type": "message",
        "role": "assistant",
        "model": body["model"],
        "content": [{"type": "tool_use", "id": "c1", "name": "final_result", "input": verdict}],
        "stop_reason": "tool_use",
        "stop_sequence": None,
        "usage": {"input_tokens": 100, "output_tokens": 10},
    }


JUDGES = {
    "/chat/completions": chat_completion,
    "/converse": converse_answer,
    "/messages": anthropic_message,
}


@pytest.fixture
def backends():
    """Skip a test if the packages that call model servers are not installed."""
    for package in ("anthropic", "boto3", "openai", "pydantic_ai"):
        reason = f"{package} IS NOT INSTALLED: no server of models is asked"
        pytest.importorskip(package, reason=reason)


@pytest.fixture
def server(backends, monkeypatch):
    models = ModelServer()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self):
            length = int(self.headers["Content-Length"])
            body = json.loads(self.rfile.read(length))
            with models.lock:
                models.at_once += 1
                models.most_at_once = max(models.most_at_once, models.at_once)
            if models.meeting is not None:
                models.meeting.wait(timeout=120)
            answer = models.respond(unquote(self.path), dict(self.headers), body)
            with models.lock:
                models.at_once -= 1
            if answer is None:
                self.close_connection = True
                return
            status, headers, content = answer
            try:
                self.send_response(status)
                self.send_header("Content-Type", "application/json")
                if isinstance(content, bytes):
                    self.send_header("Content-Length", str(len(content)))
                    content = (content,)
                else:  # it ends with the connection
                    self.close_connection = True
                for name, value in headers.items():
                    self.send_header(name, value)
                self.end_headers()
                for chunk in content:
                    self.wfile.write(chunk)
            except OSError:  # whoever asked is gone
                self.close_connection = True

        def log_message(self, *_):
            """Print nothing."""

    http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    http.daemon_threads = True
    thread = threading.Thread(target=http.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    models.url = f"http://127.0.0.1:{http.server_port}"
    for name, value in {
        "OPENAI_BASE_URL": f"{models.url}/v1",
        "OPENAI_API_KEY": KEY,
        "OLLAMA_BASE_URL": f"{models.url}/v1",
        "ANTHROPIC_BASE_URL": models.url,
        "ANTHROPIC_API_KEY": KEY,
        "AWS_ENDPOINT_URL_BEDROCK_RUNTIME": models.url,
        "AWS_REGION": "eu-central-1",
        "AWS_ACCESS_KEY_ID": "AKIAIOSFODNN7EXAMPLE",
        "AWS_SECRET_ACCESS_KEY": KEY,
        "AWS_EC2_METADATA_DISABLED": "true",
    }.items():
        monkeypatch.setenv(name, value)
    yield models
    models.over.set()
    http.shutdown()
    thread.join()
    http.server_close()


@pytest.fixture(autouse=True)
def own_cache(tmp_path, monkeypatch):
    """Give each test a cache directory of its own, and return its path."""
    place = tmp_path / "cache"
    monkeypatch.setenv("STICKLER_CACHE_DIR", str(place))
    return place


@pytest.fixture
def asking(monkeypatch):
    """Return a context manager that makes a client, with very short waits, for all comparators.

    Its arguments are those of the client's policy.
    """

    @contextmanager
    def asking_client(*, attempts=3, longest_wait=1.0, timeout=30.0, **policy):
        retry = Retry(attempts, 0.001, longest_wait, timeout)
        client = Client(Policy(retry=retry, **policy))
        with monkeypatch.context() as patch:
            patch.setattr(ModelComparator, "client", client)
            yield client
        client.close()

    return asking_client


@pytest.fixture
def all_pairs():
    """Return a function that compares each ground truth with each prediction in one call.

    The function returns the similarities, with a row for each ground truth.
    """

    def compare(comparator, gts, preds):
        column = [gt for gt in gts for _ in preds]
        answers = comparator.ask(None, column, [*preds] * len(gts))
        return answers.similarities.reshape(len(gts), len(preds)).tolist()

    return compare
