#!/usr/bin/env python3
"""Compares the answers that the edges of a whole run gave with what the description of the API promises.

answers.py JOURNAL OPENAPI PROTO: the journal that session-client writes with --answer-journal, the document that it served, and
quartet.proto. Lists what was promised and never came: operations without a success, over HTTP and as rpcs, refusals that the
document names, and codes that no call was ever refused with. Exit status 1 if there is anything. What can't come or isn't tried
stands below with its reason, and is listed, too.
"""

import json
import re
import sys

# What doesn't depend on what is asked, and can't be brought about for each operation: once, for any of them, is enough.
ONCE = {
    "internal": "a fault that nobody foresaw",
    "failed": "a command that its service gave up",
    "accountClosed": "an account that was closed between the edge and the service",
    "accountNotFound": "an account that the service hasn't heard of yet",
}
# What operators' operations are refused with: once, for any of them, is enough.
ONCE_FOR_OPERATORS = {
    "overloaded": "all share the connections that are busy",
    "databaseUnavailable": "all share the connections that are away",
    "queryTooSlow": "all share the connections that are slow",
    "tooManyAttempts": "all share the count of wrong keys",
}
# What a test would need too long for, or luck.
UNTRIED = {
    ("SetAvatar", "tooSlow"): "a minute",
    ("UploadChunks", "tooSlow"): "a minute",
    ("JoinGroupSession", "hostChanged"): "another host at each of four attempts",
    ("RegisterPush", "deviceSignedOut"): "a device that is signed out between the edge and the service",
}
# Codes that no request over gRPC is refused with.
HTTP_ONLY = {
    "urlTooLong": "there are no URLs",
    "methodNotAllowed": "there are no methods",
    "incompleteBody": "the transport ends such a call itself",
    "notJSON": "there is no JSON",
    "tooManyConnections": "the connection is closed",
    "unknownCommand": "the transport says itself that there is no such call",
    "unknownOperation": "the transport says itself that there is no such call",
}
# What every call may be refused with over gRPC, where each has a message, although over HTTP not each has a body.
OF_MESSAGES = {"malformedBody", "tooSlow"}
# Codes that no request is refused with over HTTP.
NEVER = {
    **dict.fromkeys(
        ["accountExists", "accountRequired", "notDue", "edgeNotFound", "codeTaken", "groupExists"],
        "services say it to each other",
    ),
    "tooManyConnections": "it is answered before a request is read",
}


def journal(path):
    """The lines as sets: (operation, status, code) by transport."""
    seen = {"HTTP": set(), "gRPC": set()}
    with open(path) as file:
        for line in file:
            transport, operation, status, code = line.split()
            seen[transport].add((operation, int(status), code))
    return seen


def documented(path):
    """Each operation's refusals: code and status; which operations are the operators'; and all codes."""
    with open(path) as file:
        document = json.load(file)
    operations, operators = {}, set()
    for methods in document["paths"].values():
        for operation in methods.values():
            refusals = operations.setdefault(operation["operationId"], {})
            if any("operatorKey" in schemes for schemes in operation.get("security", [])):
                operators.add(operation["operationId"])
            for status, response in operation["responses"].items():
                problem = response.get("content", {}).get("application/problem+json")
                if problem:
                    for code in problem["schema"]["allOf"][1]["properties"]["code"]["enum"]:
                        refusals[code] = int(status)
    return operations, operators, set(document["components"]["schemas"]["Problem"]["properties"]["code"]["enum"])


def main(journal_path, document_path, proto_path):
    seen = journal(journal_path)
    operations, operators, codes = documented(document_path)
    with open(proto_path) as file:
        calls = re.findall(r"^  rpc (\w+)\(", file.read(), re.M)
    http, grpc = seen["HTTP"], seen["gRPC"]
    missing, excused = [], set()

    def miss(what, why):
        """Notes that something never came: excused if there is a reason."""
        if why:
            excused.add(f"{what}: {why}")
        else:
            missing.append(what)

    for name in sorted(operations):
        if not any(operation == name and 200 <= status < 300 and code == "-" for operation, status, code in http):
            miss(f"{name}: never succeeded over HTTP", None)
        for code, status in sorted(operations[name].items()):
            # A status that means one thing needs no code.
            alone = [other for other, its in operations[name].items() if its == status] == [code]
            if (name, status, code) in http or (alone and (name, status, "-") in http):
                continue
            if code in ONCE:
                excused.add(f"{code}: not tried with every operation: {ONCE[code]}")
            elif name in operators and code in ONCE_FOR_OPERATORS:
                excused.add(f"{code}: not tried with every operators' operation: {ONCE_FOR_OPERATORS[code]}")
            else:
                miss(f"{name}: never refused as {code} ({status})", UNTRIED.get((name, code)))
    for name in sorted(calls):
        if (name, 0, "-") not in grpc:
            miss(f"{name}: never succeeded over gRPC", None)

    over_http = {code for _, _, code in http}
    over_grpc = {code for _, _, code in grpc}
    promised = {code for refusals in operations.values() for code in refusals}
    called = {code for name in calls for code in operations.get(name, {})}
    untried = {code: why for (_, code), why in UNTRIED.items()}
    for code in sorted(codes - over_http):
        miss(f"{code}: never over HTTP", NEVER.get(code) or untried.get(code))
    for code in sorted(called - over_grpc):
        miss(f"{code}: never over gRPC", HTTP_ONLY.get(code) or untried.get(code))

    undocumented = sorted(
        f"{name}: refused as {code}, which isn't documented"
        for name, _, code in http | {answer for answer in grpc if answer[2] not in OF_MESSAGES}
        if code != "-" and name in operations and code not in operations[name]
    )
    missing += undocumented
    print(f"{len(operations)} operations, {len(calls)} calls, {len(promised)} codes: {len(missing)} things missing")
    for line in missing:
        print(f"  {line}")
    print("Excused:")
    for line in sorted(excused):
        print(f"  {line}")
    return 1 if missing else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
