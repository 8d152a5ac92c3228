#!/usr/bin/env python3
"""Prints a pattern for `swift test --filter` that names the tests that failed, if there are few and the run came to its end.

failed.py EVENTS LIMIT: EVENTS is what `swift test --event-stream-output-path` wrote. Exit status 1, and nothing printed, if the run
broke off, if something failed outside of a test, or if more than LIMIT tests failed: such a run has failed.

failed.py EVENTS LIMIT AGAIN: exit status 0 if all that failed in EVENTS came to its end in AGAIN, and nothing failed there.
"""

import json
import re
import sys


def read(path):
    """The ids of the tests that failed, with None for what failed outside of one; of those that ended; whether the run did."""
    failed, ended, has_ended = set(), set(), False
    with open(path, encoding="utf-8") as lines:
        for line in lines:
            record = json.loads(line)
            if record["kind"] != "event":
                continue
            event = record["payload"]
            match event["kind"]:
                case "runEnded":
                    has_ended = True
                case "testEnded":
                    ended.add(event["testID"])
                case "issueRecorded" if event["issue"].get("isFailure", True) and not event["issue"].get("isKnown", False):
                    failed.add(event.get("testID"))
    return failed, ended, has_ended


def main():
    failed, _, has_ended = read(sys.argv[1])
    if not has_ended or not failed or None in failed or len(failed) > int(sys.argv[2]):
        return 1
    if len(sys.argv) > 3:
        again, ended, has_ended = read(sys.argv[3])
        return 0 if has_ended and not again and failed <= ended else 1
    # An id ends with the place in the sources, as in Target.Suite/test()/File.swift:9:6.
    print("|".join(f"^{re.escape(test.rsplit('/', 1)[0])}/" for test in sorted(failed)))
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except (OSError, ValueError, KeyError) as error:
        print(f"failed.py: {error}", file=sys.stderr)
        sys.exit(1)
