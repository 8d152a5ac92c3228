"""An app that asks nothing for a while: one connection with a stream and one without any call, both with pings.

Usage: quiet.py FOLDER PORT TOKEN INTERVAL SECONDS, where FOLDER has quartet.proto and INTERVAL is what lies between two pings,
in seconds. Fails if either connection or the stream is lost meanwhile.
"""

import queue
import sys
import threading

folder, port, token, interval, seconds = sys.argv[1:]
sys.path.insert(0, folder)

import grpc  # noqa: E402

proto, services = grpc.protos_and_services("quartet.proto")
stream_proto = grpc.protos("stream.proto")
metadata = [("authorization", f"Bearer {token}")]
losses = queue.Queue()


def connect(name):
    """A connection of its own; returns it when it is there."""
    channel = grpc.insecure_channel(
        f"127.0.0.1:{port}",
        options=[
            ("grpc.keepalive_time_ms", int(interval) * 1000),
            ("grpc.keepalive_permit_without_calls", 1),
            # Otherwise it pings twice, and then not until it has something to send.
            ("grpc.http2.max_pings_without_data", 0),
            ("grpc.use_local_subchannel_pool", 1),
        ])
    ready = threading.Event()

    def changed(state):
        if state == grpc.ChannelConnectivity.READY:
            ready.set()
        elif ready.is_set():
            losses.put(f"{name} is {state}")

    channel.subscribe(changed, try_to_connect=True)
    assert ready.wait(30), f"{name} can't connect"
    return channel


watching, silent = connect("the connection with a stream"), connect("the connection without calls")
stream = services.QuartetStub(watching).Watch(stream_proto.WatchRequest(), metadata=metadata)
messages = queue.Queue()


def read():
    try:
        for message in stream:
            messages.put(message.WhichOneof("content"))
        losses.put("the stream has ended")
    except grpc.RpcError as error:
        losses.put(f"the stream has ended: {error.code()} {error.details()}")


threading.Thread(target=read, daemon=True).start()
while messages.get(timeout=30) != "snapshot":
    pass
try:
    raise AssertionError(losses.get(timeout=float(seconds)))
except queue.Empty:
    pass
for channel in (silent, watching):
    services.QuartetStub(channel).MarkAllRead(proto.MarkAllReadRequest(), metadata=metadata, timeout=30)
assert losses.empty(), losses.get()
print("nothing was lost")
