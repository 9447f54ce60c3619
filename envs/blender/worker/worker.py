"""The Blender worker: one process that holds one scene and obeys framed requests on its standard input.

A frame is a 4-byte big-endian length and that much JSON; where the JSON has `blob_bytes` > 0, as many raw bytes
follow. The first frame goes out unasked, when Blender is up and an empty scene stands ready:
`{"hello": {"protocol": 1, "blender": "4.5.15", "python": "3.11.7"}}`. A request is
`{"id": int, "op": str, "args": {...}, "blob_bytes": n}`; its reply `{"id", "ok": true, "result", "blob_bytes"}` or
`{"id", "ok": false, "error": {"kind": "illegal" | "failed" | "crash", "message"}}`. The process ends when its
standard input does, by os._exit, because Blender may crash while it tidies up.

It runs in Blender's own interpreter and imports nothing but bpy, its companions and the standard library.
"""

import json
import os
import struct
import sys
import traceback

PROTOCOL = 1
MAX_FRAME = 256 * 2**20


class Frames:
    """Length-prefixed JSON, with an optional blob, over a pair of binary files."""

    def __init__(self, source, sink):
        self.source = source
        self.sink = sink

    def receive(self):
        """The next (message, blob), or None when the other side has closed."""
        head = self.source.read(4)
        if len(head) < 4:
            return None
        (size,) = struct.unpack(">I", head)
        if size > MAX_FRAME:
            raise ValueError(f"a frame of {size} bytes is over the limit")
        message = json.loads(self.source.read(size))
        count = message.get("blob_bytes", 0)
        if not 0 <= count <= MAX_FRAME:
            raise ValueError(f"a blob of {count} bytes is over the limit")
        return message, self.source.read(count)

    def send(self, message, blob=b""):
        data = json.dumps({**message, "blob_bytes": len(blob)}).encode()
        self.sink.write(struct.pack(">I", len(data)) + data + blob)
        self.sink.flush()


def answer(request, blob, operations, refusals):
    """The (reply, blob) to one request. Any other exception than a refusal is reported as a crash."""
    try:
        operation = operations.get(request["op"])
        if operation is None:
            raise LookupError(f"no operation {request['op']!r} in this worker")
        args = dict(request.get("args", {}))
        if blob:
            args["blob"] = blob
        made = operation(**args)
        result, out = made if isinstance(made, tuple) else (made, b"")
        return {"id": request["id"], "ok": True, "result": result}, out
    except refusals as refusal:
        error = {"kind": refusal.kind, "message": str(refusal)}
    except Exception as fault:  # noqa: BLE001 - the boundary: the parent must hear of every fault
        traceback.print_exc()
        error = {"kind": "crash", "message": f"{type(fault).__name__}: {fault}"}
    return {"id": request.get("id"), "ok": False, "error": error}, b""


def main():
    # Blender prints to descriptor 1: it gets standard error, and only frames reach the real standard output
    sink = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    frames = Frames(sys.stdin.buffer, sink)
    sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
    import bpy  # first: its companions (bmesh, mathutils) are found through it

    # isort: split
    import blend_looks
    import blend_modelling
    import blend_objects
    import blend_opening
    import blend_repair
    import blend_scene
    import blend_state

    blend_state.start_empty()
    operations = {
        name: function
        for module in (blend_objects, blend_modelling, blend_repair, blend_looks, blend_opening, blend_state)
        for name, function in module.OPERATIONS.items()
    }
    frames.send(
        {
            "hello": {
                "protocol": PROTOCOL,
                "blender": ".".join(map(str, bpy.app.version)),
                "python": ".".join(map(str, sys.version_info[:3])),
            }
        }
    )
    while (received := frames.receive()) is not None:
        frames.send(*answer(*received, operations, (blend_scene.Refusal,)))


if __name__ == "__main__":
    code = 1
    try:
        main()
        code = 0
    except Exception:  # noqa: BLE001 - the last line of defence; the parent reads the trace from standard error
        traceback.print_exc()
    finally:
        sys.stderr.flush()
        os._exit(code)
