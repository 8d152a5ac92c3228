"""A client that isn't ours: plays the story over gRPC with nothing but the proto.

Usage: story.py FOLDER PORT, where FOLDER has quartet.proto.
"""

import json
import os
import queue
import sys
import threading
import time

folder, port = sys.argv[1:]
sys.path.insert(0, folder)

import grpc  # noqa: E402
from google.protobuf import json_format  # noqa: E402
from google.rpc import error_details_pb2, status_pb2  # noqa: E402

proto, services = grpc.protos_and_services("quartet.proto")
stream_proto = grpc.protos("stream.proto")


def key():
    """A UUID of version 7 (RFC 9562)."""
    value = (int(time.time() * 1000) << 80) | int.from_bytes(os.urandom(10), "big")
    value = (value & ~(0xF << 76)) | (7 << 76)
    value = (value & ~(3 << 62)) | (2 << 62)
    text = f"{value:032x}"
    return "-".join([text[:8], text[8:12], text[12:16], text[16:20], text[20:]])


def refusal(error):
    """The code of the API's list and the field of a refusal."""
    metadata = dict(error.trailing_metadata())
    status = status_pb2.Status.FromString(metadata["grpc-status-details-bin"])
    code, field = None, None
    for detail in status.details:
        if detail.Is(error_details_pb2.ErrorInfo.DESCRIPTOR):
            info = error_details_pb2.ErrorInfo()
            detail.Unpack(info)
            code = info.reason
        if detail.Is(error_details_pb2.BadRequest.DESCRIPTOR):
            request = error_details_pb2.BadRequest()
            detail.Unpack(request)
            field = request.field_violations[0].field
    return code, field


class Person:
    def __init__(self, stub, name):
        self.stub, self.name = stub, name
        self.events = queue.Queue()
        handle = f"{name.lower()}-{os.urandom(4).hex()}"
        signed_in = stub.SignUp(
            proto.SignUpRequest(handle=handle, name=name, password="a long enough password"),
            metadata=[("idempotency-key", key())])
        self.account = signed_in.account
        self.metadata = [("authorization", f"Bearer {signed_in.accessToken}")]

    def ask(self, call, request, **options):
        return getattr(self.stub, call)(
            request, metadata=self.metadata + [("idempotency-key", f'"{key()}"')], **options)

    def watch(self, position=None):
        self.stream = self.stub.Watch(stream_proto.WatchRequest(position=position), metadata=self.metadata)

        def read(stream):
            try:
                for message in stream:
                    self.events.put(message)
            except grpc.RpcError:
                pass

        threading.Thread(target=read, args=(self.stream,), daemon=True).start()

    def see(self, what, is_it):
        """Waits for a message; returns it and the position after it."""
        deadline, seen = time.monotonic() + 60, []
        while True:
            try:
                message = self.events.get(timeout=max(0.01, deadline - time.monotonic()))
            except queue.Empty:
                raise AssertionError(f"{self.name} did not see {what}, but {seen}")
            if message.HasField("position"):
                self.position = message.position
            if is_it(message):
                return message
            seen.append(message.WhichOneof("content"))

    def see_event(self, type):
        message = self.see(type, lambda message: message.event.type == type)
        return json.loads(message.event.body)


with grpc.insecure_channel(
    f"127.0.0.1:{port}",
    compression=grpc.Compression.Gzip,
    options=[("grpc.keepalive_time_ms", 10000), ("grpc.keepalive_permit_without_calls", 1)],
) as channel:
    stub = services.QuartetStub(channel)
    anna, bob = Person(stub, "Anna"), Person(stub, "Bob")
    for person in (anna, bob):
        person.watch()
        beginnings = set()
        while len(beginnings) < 4:
            message = person.see("a snapshot", lambda message: message.WhichOneof("content") == "snapshot")
            json.loads(message.snapshot.state)
            beginnings.add(message.snapshot.stream)

    code = bob.ask("ListContacts", proto.ListContactsRequest()).code
    owner = anna.ask("GetContactCodeOwner", proto.GetContactCodeOwnerRequest(code=code))
    assert owner.name == "Bob", owner
    added = anna.ask("AddContact", proto.AddContactRequest(code=code, iAmResponder=True))
    assert (added.outcome, added.event) == ("accepted", "ContactAdded"), added
    result = json_format.MessageToDict(added.result)
    assert result["contact"]["account"] == bob.account, result
    assert bob.see_event("ContactAdded")["contact"]["account"] == anna.account

    # Bob loses the connection, and goes on where he was.
    bob.stream.cancel()
    anna.ask("SendPing", proto.SendPingRequest(contact=bob.account))
    anna.see_event("PingSent")
    bob.events = queue.Queue()
    bob.watch(bob.position)
    bob.see("the contacts going on", lambda message: message.resumed.stream == "contacts")
    bob.see_event("PingReceived")

    reply = bob.ask("ClearAllReceivedPings", proto.ClearAllReceivedPingsRequest(checkIn=True))
    while reply.state == "running":
        time.sleep(0.05)
        reply = bob.ask("GetOperation", proto.GetOperationRequest(operation=reply.id))
    assert reply.state == "done", reply
    anna.see_event("PingAnswered")
    anna.see(
        "Bob's check-in on his card",
        lambda message: message.WhichOneof("content") == "person"
        and json.loads(message.person)["account"] == bob.account
        and "last" in json.loads(message.person).get("checkIn", {}))

    try:
        anna.ask("SendPing", proto.SendPingRequest(contact=anna.account))
        raise AssertionError("nobody pings themselves")
    except grpc.RpcError as error:
        assert error.code() == grpc.StatusCode.NOT_FOUND, error
        assert refusal(error)[0] == "notContact", error
    try:
        anna.ask("SetCheckInInterval", proto.SetCheckInIntervalRequest(interval=-1))
        raise AssertionError("no interval is negative")
    except grpc.RpcError as error:
        assert error.code() == grpc.StatusCode.INVALID_ARGUMENT, error
        assert refusal(error) == ("invalidField", "interval"), error

    for person in (anna, bob):
        person.ask("SignOut", proto.SignOutRequest())
        end = person.see("the end", lambda message: message.WhichOneof("content") == "end")
        assert end.end.reason == "signedOut", end
print("the story is over")
