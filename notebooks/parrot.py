"""A stand-in for a language model: a parrot. It understands nothing and says what it was taught.

It speaks the OpenAI API on a free port of this machine, so that Cowork takes it for a model. It
shows what happens when a model asks for something, whatever that is.
"""

import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


def parrot(*lines):
    """The address of a parrot that says these lines, one a turn, anew in each conversation."""

    class Parrot(BaseHTTPRequestHandler):
        def do_GET(self):
            self._answer("application/json", json.dumps({"data": [{"id": "parrot"}]}))

        def do_POST(self):
            asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            said = sum(one["role"] == "assistant" for one in asked["messages"])
            text = lines[said] if said < len(lines) else "That is all I can say."
            piece = {"choices": [{"index": 0, "delta": {"content": text}, "finish_reason": "stop"}]}
            self._answer("text/event-stream", f"data: {json.dumps(piece)}\n\ndata: [DONE]\n\n")

        def _answer(self, kind, text):
            self.send_response(200)
            self.send_header("Content-Type", kind)
            self.end_headers()
            self.wfile.write(text.encode())

        def log_message(self, *_):
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Parrot)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return f"http://127.0.0.1:{server.server_port}/v1"


def call(tool, **parameters):
    """A line that asks for a tool, as models are told to ask."""
    return json.dumps({"tool": tool, "parameters": parameters, "terminate": False})
