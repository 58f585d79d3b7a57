"""The program of a scratch kernel: runs code and reports like a kernel.

It is sent as source to a confined Python 3.9 or newer, which need not have our package. Its stdin
is a socket: requests come as JSON lines, tables as descriptors with them, and messages go back.
Code gets neither that socket nor a way to write to it by printing: descriptors 1 and 2 are a pipe
of this program.
"""

from __future__ import annotations

import ast
import base64
import builtins
import io
import json
import linecache
import os
import pickle
import pprint
import queue
import select
import signal
import socket
import sys
import threading
import time
import traceback
import types
from typing import Any

MAX_WAITING = 1_000
"""Back pressure: code that prints more has to wait."""
MAX_AT_ONCE = 200
MAX_HISTORY = 100
"""Pieces of code that are remembered, for whoever asks what ran before."""
_PIECE = 65536
_COROUTINE = 0x80
_THIS = "<scratch kernel>"
"""File name of this program when compiled."""
_WRAPPED = (dict, list, tuple, set, frozenset)


class StdinNotImplementedError(RuntimeError):
    pass


class Channel:
    """Only its own thread writes, so an interrupt cannot cut a line in two."""

    def __init__(self, connection: socket.socket) -> None:
        self._connection = connection
        self._waiting: queue.SimpleQueue[dict[str, Any]] = queue.SimpleQueue()
        self.request = 0
        threading.Thread(target=self._send, daemon=True).start()

    def put(self, kind: str, **content: Any) -> None:
        while self._waiting.qsize() > MAX_WAITING:
            time.sleep(0.001)
        self._waiting.put({"id": self.request, "msg_type": kind, "content": content})

    def _send(self) -> None:
        while True:
            messages = [self._waiting.get()]
            while len(messages) < MAX_AT_ONCE and not self._waiting.empty():
                _add(messages, self._waiting.get())
            text = "".join(json.dumps(message) + "\n" for message in messages)
            self._connection.sendall(text.encode())


def _add(messages: list[dict[str, Any]], new: dict[str, Any]) -> None:
    last = messages[-1]
    same = (
        all(message["msg_type"] == "stream" for message in (last, new)) and last["id"] == new["id"]
    )
    if same and last["content"]["name"] == new["content"]["name"]:
        last["content"]["text"] += new["content"]["text"]
    else:
        messages.append(new)


class Printed(io.TextIOBase):
    """Python's stdout or stderr. Its fileno is that of the pipe."""

    encoding = "utf-8"

    def __init__(self, name: str, channel: Channel, descriptor: int) -> None:
        super().__init__()
        self.name = name
        self._channel = channel
        self._descriptor = descriptor
        self._process = os.getpid()

    def writable(self) -> bool:
        return True

    def write(self, text: str) -> int:
        if os.getpid() != self._process:  # a fork, in which no thread sends
            os.write(self._descriptor, text.encode("utf-8", "replace"))
        elif text:
            self._channel.put("stream", name=self.name, text=text)
        return len(text)

    def fileno(self) -> int:
        return self._descriptor


class Pipe:
    """Captures what subprocesses and C code write to descriptors 1 and 2."""

    def __init__(self, channel: Channel) -> None:
        self._channel = channel
        self._end, writing = os.pipe()
        for standard in (1, 2):
            os.dup2(writing, standard)
        os.close(writing)
        self._lock = threading.Lock()
        threading.Thread(target=self._pass_on, daemon=True).start()

    def drain(self) -> None:
        """Pass on what there is by now."""
        with self._lock:
            while select.select([self._end], [], [], 0)[0]:
                text = os.read(self._end, _PIECE).decode("utf-8", "replace")
                self._channel.put("stream", name="stdout", text=text)

    def _pass_on(self) -> None:
        while True:
            select.select([self._end], [], [])
            self.drain()


class Requests:
    """Queues requests with their descriptors; interrupts act at once."""

    def __init__(self, connection: socket.socket) -> None:
        self._connection = connection
        self.queue: queue.Queue[tuple[dict[str, Any], list[int]]] = queue.Queue()
        self.running = 0
        threading.Thread(target=self._receive, daemon=True).start()

    def _receive(self) -> None:
        buffer, descriptors = b"", list[int]()
        while True:
            data, new, *_ = socket.recv_fds(self._connection, _PIECE, 64)
            if not data:
                os._exit(0)  # the service is gone
            descriptors += new
            *lines, buffer = (buffer + data).split(b"\n")
            for line in lines:
                request = json.loads(line)
                if "interrupt" not in request:
                    count = len(request.get("tables", []))
                    self.queue.put((request, descriptors[:count]))
                    del descriptors[:count]
                elif request["interrupt"] == self.running:
                    signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGINT)


class Namespace:
    def __init__(self, channel: Channel) -> None:
        self._channel = channel
        self._count = 0
        self._module = types.ModuleType("__main__")
        self.space = self._module.__dict__
        self.space["display"] = self._display
        sys.modules["__main__"] = self._module
        self._own = frozenset(self.space)
        self._history: list[str] = []
        self._looking: dict[str, Any] = {}
        """Namespace of our code that inspects variables."""

    def run(self, source: str, tables: list[str], descriptors: list[int]) -> None:
        """Run code as a cell; its last expression is displayed."""
        self._count += 1
        self._history = [*self._history[1 - MAX_HISTORY :], source]
        name = f"Cell In[{self._count}]"
        linecache.cache[name] = (len(source), None, source.splitlines(True), name)
        self._channel.put("execute_input", execution_count=self._count)
        try:
            try:
                signal.signal(signal.SIGINT, signal.default_int_handler)
                for table, descriptor in zip(tables, descriptors):  # noqa: B905 - not in 3.9
                    with open(descriptor, "rb") as file:  # noqa: PTH123 - it has no path
                        self.space[table] = pickle.load(file)  # noqa: S301 - we are confined
                self._execute(source, name)
            finally:
                signal.signal(signal.SIGINT, signal.SIG_IGN)
            self._show_figures()
        except BaseException as error:
            self._fail(error)

    def look(self, request: dict[str, Any]) -> None:
        """Answer what is in the namespace, with the code that inspects kernels."""
        source = request["source"]
        if self._looking.get("__source__") != source:
            self._looking = {"__name__": "cowork_inside", "__source__": source}
            exec(source, self._looking)  # noqa: S102 - our own
        hidden = {name: self.space[name] for name in self._own if name in self.space}
        try:
            if "queries" in request:
                arguments = (self._history, request["queries"], request["seconds"])
                reply = self._looking["table_states_on"](self.space, hidden, *arguments)
            else:
                reply = self._looking["report_on"](self.space, hidden, request["name"])
        except Exception:  # the asker gets nothing; the variables must stay
            reply = "{}"
        self._channel.put("reply", text=reply)

    def _execute(self, source: str, name: str) -> None:
        tree = ast.parse(source, name)
        last = tree.body[-1] if tree.body else None
        displayed = None
        if isinstance(last, ast.Expr) and not source.rstrip().endswith(";"):
            tree.body.pop()
            displayed = last.value
        self._evaluate(tree, name, "exec")
        if displayed is not None:
            value = self._evaluate(ast.Expression(displayed), name, "eval")
            if value is not None:
                self._channel.put("execute_result", data=_bundle(value), metadata={})

    def _evaluate(self, tree: ast.AST, name: str, mode: str) -> Any:
        flags = ast.PyCF_ALLOW_TOP_LEVEL_AWAIT
        code = compile(tree, name, mode, flags, dont_inherit=True)  # type: ignore[call-overload]
        value = eval(code, self.space)  # noqa: S307 - this is what it is for
        if not code.co_flags & _COROUTINE:
            return value
        import asyncio  # slow to import

        return asyncio.run(value)

    def _display(self, *values: Any, **_options: Any) -> None:
        for value in values:
            self._channel.put("display_data", data=_bundle(value), metadata={})

    def _show_figures(self) -> None:
        """Figures that matplotlib has drawn and nobody has shown."""
        pyplot: Any = sys.modules.get("matplotlib.pyplot")
        for number in pyplot.get_fignums() if pyplot else ():
            self._display(pyplot.figure(number))
            pyplot.close(number)

    def _fail(self, error: BaseException) -> None:
        kind = type(error).__name__
        lines = [_frame(frame) for frame in traceback.extract_tb(error.__traceback__)]
        if isinstance(error, SyntaxError) and error.lineno:
            lines.append(f"{error.filename}, line {error.lineno}")
        try:
            message = error.msg if isinstance(error, SyntaxError) else str(error)
        except Exception:  # an exception's __str__ may fail
            message = ""
        trace = [line for line in lines if line] + [f"{kind}: {message}"]
        self._channel.put("error", ename=kind, evalue=message, traceback=trace)


def _frame(frame: traceback.FrameSummary) -> str:
    if frame.filename == _THIS:
        return ""
    if frame.filename.startswith("Cell In["):
        return f"{frame.filename}, line {frame.lineno}"
    return f"File {frame.filename}:{frame.lineno}, in {frame.name}"


def _bundle(value: Any) -> dict[str, str]:
    plain = type(value) in _WRAPPED
    data = {"text/plain": pprint.pformat(value, sort_dicts=False) if plain else repr(value)}
    if hasattr(value, "savefig"):
        file = io.BytesIO()
        value.savefig(file, format="png", bbox_inches="tight")
        data["image/png"] = base64.b64encode(file.getvalue()).decode()
    for kind, method in (("text/html", "_repr_html_"), ("text/markdown", "_repr_markdown_")):
        make = getattr(type(value), method, None)
        content = make(value) if callable(make) else None
        if isinstance(content, str):
            data[kind] = content
    return data


def _no_input(*_: Any, **__: Any) -> str:
    raise StdinNotImplementedError("Nobody can answer.")


def main() -> None:
    """Serve the socket that is our stdin, until it is closed."""
    connection = socket.socket(fileno=os.dup(0))
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    channel = Channel(connection)
    pipe = Pipe(channel)
    sys.stdout = Printed("stdout", channel, 1)
    sys.stderr = Printed("stderr", channel, 2)
    builtins.input = _no_input
    sys.path.insert(0, "")
    namespace = Namespace(channel)
    requests = Requests(connection)
    channel.put("ready")
    while True:
        request, descriptors = requests.queue.get()
        channel.request = requests.running = request["id"]
        if "code" in request:
            namespace.run(request["code"], request["tables"], descriptors)
        else:
            namespace.look(request)
        requests.running = 0
        pipe.drain()
        channel.put("status", execution_state="idle")


if __name__ == "__main__":
    main()
