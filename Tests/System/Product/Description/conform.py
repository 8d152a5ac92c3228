"""Compares a running session-client with what it says of itself at /openapi.json.

conform.py URL KEY TOKEN...: the document must be valid, and for each account (a token), and for an operator (an API key) at the
routes for operators, schemathesis must find no answer that the document doesn't describe, and no failure but an honest 503 or 504.
"""

import json
import subprocess
import sys
import tempfile
import urllib.request

from openapi_spec_validator import validate

CHECKS = [
    "not_a_server_error",
    "status_code_conformance",
    "content_type_conformance",
    "response_headers_conformance",
    "response_schema_conformance",
]
# A stream doesn't end; the others would end the account or its session.
EXCLUDED = ["OpenStream", "SignOut", "CloseAccount"]
OPERATORS = "^/v1/operator"
# A query of operators that takes longer than a second is 504.
SETTINGS = """
[checks.not_a_server_error]
expected-statuses = ["2xx", "3xx", "4xx", "503", "504"]
"""


def main(url, key, tokens):
    with urllib.request.urlopen(f"{url}/openapi.json") as answer:
        document = json.load(answer)
    validate(document)
    print(f"valid: {sum(len(methods) for methods in document['paths'].values())} operations")
    with tempfile.TemporaryDirectory() as folder:
        settings = f"{folder}/schemathesis.toml"
        with open(settings, "w") as file:
            file.write(SETTINGS)
        runs = [
            subprocess.Popen(
                [
                    sys.executable, "-m", "schemathesis.cli", "--config-file", settings, "run", f"{url}/openapi.json",
                    "--checks", ",".join(CHECKS), "--phases", "examples,fuzzing", "--max-examples", "4",
                    "--seed", str(seed), "--generation-database", "none", "--no-color", "--suppress-health-check", "all",
                    "--header", f"Authorization: Bearer {token}",
                    "--include-path-regex" if token == key else "--exclude-path-regex", OPERATORS,
                    *[argument for name in EXCLUDED for argument in ("--exclude-operation-id", name)],
                ],
                cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
            )
            for seed, token in enumerate([key, *tokens], start=1)
        ]
        outputs = [run.communicate()[0] for run in runs]
    for run, output in zip(runs, outputs):
        if run.returncode != 0:
            print(output)
    return 0 if all(run.returncode == 0 for run in runs) else 1


sys.exit(main(sys.argv[1], sys.argv[2], sys.argv[3:]))
