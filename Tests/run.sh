#!/bin/sh
# Checks the style, builds, and runs the tests, for `make test`. Arguments are passed to `swift test` (make test ARGS='--filter Ledger').
# With SOAK=1, tests with random faults run for longer (make soak).
#
# The tests need a PostgreSQL superuser. With TEST_DATABASE_URL they use that server, and drop the databases that they
# create there. Without it, they use a scratch cluster, which is deleted afterwards.
set -eu
cd "$(dirname "$0")/.."

started=$(date +%s)
say() { printf '\n== %s (%ss)\n' "$*" "$(($(date +%s) - started))"; }

deploy/install.sh --tests

# One run at a time in one checkout: they share .build and the scratch cluster.
mkdir -p .local
exec 8>.local/test.lock
flock --nonblock 8 || {
  echo "Another 'make test' is running in this checkout; waiting for it."
  flock 8
}

say "Style"
Tests/lint.sh --style 8>&-

# Tests of upgrades run the executables of released versions. They come first: where nothing was built yet, the packages that both
# versions depend on are built once.
case "$*" in
  '' | *Upgrade* | *EndToEndTests)
    for named in Tests/System/Schema/Releases/*.commit; do
      say "Executables of $(basename "$named" .commit), for tests of upgrades"
      Tests/System/Schema/build-release.sh "$(basename "$named" .commit)" 8>&-
    done
    ;;
esac

# Before any build of a single product, after which SwiftPM builds all executables of all packages, too, protoc among them.
say "Build"
deploy/build.sh --build-tests 8>&-

say "Package graph"
"$(deploy/build.sh --show-bin-path)/package-graph"

TEST_RUN=$(date +%s)-$$
export TEST_RUN
if [ -z "${TEST_DATABASE_URL:-}" ]; then
  say "Scratch PostgreSQL"
  deploy/postgres.sh destroy .local/test 8>&- # what a killed run left
  trap 'deploy/postgres.sh destroy .local/test 8>&-' EXIT
  trap 'exit 130' INT
  trap 'exit 143' HUP TERM
  deploy/postgres.sh start .local/test --fast 8>&-
  TEST_DATABASE_URL=$(deploy/postgres.sh url .local/test)
  export TEST_DATABASE_URL
else
  say "Your PostgreSQL (TEST_DATABASE_URL)"
  # This run's databases have its name in their comments. The tests drop their own; this drops the templates.
  drop_databases() {
    psql -X -q -v run="$TEST_RUN" "$TEST_DATABASE_URL" 8>&- <<'SQL' || true
SELECT format(statement, datname)
  FROM pg_database, unnest(ARRAY['ALTER DATABASE %I IS_TEMPLATE false', 'DROP DATABASE %I WITH (FORCE)']) AS statement
 WHERE shobj_description(oid, 'pg_database') = 'Quartet test run ' || :'run'
 ORDER BY datname, statement \gexec
SQL
  }
  trap drop_databases EXIT
  trap 'exit 130' INT
  trap 'exit 143' HUP TERM
fi

# A whole run also compares the answers that were given with the description of the API.
answers=
if [ $# -eq 0 ] && [ -z "${SOAK:-}" ]; then
  answers=$PWD/.local/answers
  rm -f "$answers" "$answers.openapi.json"
  ANSWER_JOURNAL=$answers
  export ANSWER_JOURNAL
fi

# The output is also kept, so that the failures can be listed last, where people look for them.
rm -f .local/test.log
run_tests() {
  {
    swift test --skip-build --explicit-target-dependency-import-check error "$@" 2>&1 8>&- || echo $? >.local/test.status
  } | tee -a .local/test.log
}

# In continuous integration, up to three tests of a stage that failed are run once more, by themselves and with the same
# random numbers, and count as passed if they pass then. They are listed at the end with what failed: on a crowded machine a time
# limit may be the test's own, and whoever reads that finds out. Where a person runs the tests, a failure is a failure.
if [ -n "${CI:-}" ]; then
  # A seed that a person gives stands for one life in the world of the client's tests, this one for as many as usual.
  [ -n "${TEST_SEED:-}" ] || export WORLD_SEEDS="${WORLD_SEEDS:-100}"
  export TEST_SEED="${TEST_SEED:-$(date +%s)}"
fi
run_stage() {
  before=$(cat .local/test.status)
  rm -f .local/test.events .local/test.again
  run_tests --event-stream-output-path .local/test.events "$@"
  [ -n "${CI:-}" ] && [ "$before" -eq 0 ] && [ "$(cat .local/test.status)" -eq 1 ] || return 0
  failed=$(Tests/failed.py .local/test.events 3) || return 0
  say "Once more, by themselves: $failed"
  cp .local/test.log .local/test.unsteady
  echo 0 >.local/test.status
  run_tests --event-stream-output-path .local/test.again --filter "$failed"
  Tests/failed.py .local/test.events 3 .local/test.again || echo 1 >.local/test.status
}

# The failures of a run's output. Titles are long, and what follows them says what failed.
failures() {
  sed -E 's/^(✘ Test "[^"]{0,100})[^"]*"/\1"/' "$1" >.local/test.failures
  grep -A 12 '^✘.* recorded an issue' .local/test.failures | cut -c 1-900 | head -150
  grep -E '^(✘ |seed )|error: ' .local/test.failures | cut -c 1-300 | tail -60
}

rm -f .local/test.unsteady
echo 0 >.local/test.status
if [ $# -eq 0 ]; then
  # One kind after the other. Beside hundreds of processes, the many small steps of tests that only compute take minutes; and all
  # kinds at once begin with so much that requests take longer than their time limits.
  say "Tests of the parts"
  run_stage --skip '^(EndToEndTests|FaultTests|SchemaTests)\.'
  say "Tests of the bus and the schema"
  run_stage --filter '^(FaultTests|SchemaTests)\.'
  say "Tests of the product"
  run_stage --filter '^EndToEndTests\.' --skip '^EndToEndTests\.Console'
  say "Tests of the console"
  run_stage --filter '^EndToEndTests\.Console'
else
  say "Tests"
  run_tests "$@"
fi
status=$(cat .local/test.status)

if [ "$status" -eq 0 ] && [ -e .local/test.unsteady ]; then
  say "Some passed at the second try only. Find out why, each one:"
  failures .local/test.unsteady
fi

if [ "$status" -eq 0 ] && [ -n "$answers" ]; then
  say "Answers that were promised"
  if ! python3 Tests/answers.py "$answers" "$answers.openapi.json" Shared/API/Proto/quartet.proto; then
    say "All tests passed, but answers that are promised never came: the list is above"
    exit 1
  fi
fi

if [ "$status" -eq 0 ]; then
  say "All tests passed"
else
  say "Tests FAILED (exit status $status). The failures and seeds follow; the whole output is in .local/test.log:"
  failures .local/test.log
fi
exit "$status"
