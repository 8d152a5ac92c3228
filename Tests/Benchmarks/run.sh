#!/bin/sh
# Measures a release build beside this machine's limits, on a scratch PostgreSQL with full durability that is deleted
# afterwards. Prints a table and writes the figures as JSON to the file that BENCH_JSON names (.local/bench.json).
#
#   Tests/Benchmarks/run.sh [SECTION...]     (limits commands latency fanout sagas calls streams memory attachments checkins rejoin
#                                            groups signals client, or growth or resuming; SECONDS=8 per figure,
#                                            CHECKIN_PEOPLE=50000, REJOIN_CLIENTS=5000, GROUP_SESSIONS=1000)
set -eu
cd "$(dirname "$0")/../.."

case "${1:-}" in
  -h | --help) sed -n '2,7s/^# \{0,1\}//p' "$0"; exit 0 ;;
esac
case " $* " in
  *" growth "* | *" resuming "*) : "${BENCH_JSON:=.local/bench-growth.json}" ;;
  *) : "${BENCH_JSON:=.local/bench.json}" ;;
esac
deploy/install.sh
flags='--configuration release --explicit-target-dependency-import-check error'
echo "Building for release."
for product in benchmark faulty-ledger session contacts notifications session-client; do
  # shellcheck disable=SC2086 # a list of words
  swift build $flags --quiet --product "$product"
done
# shellcheck disable=SC2086
executables=$(swift build $flags --show-bin-path)

mkdir -p .local
deploy/postgres.sh destroy .local/bench # what a killed run left
trap 'deploy/postgres.sh destroy .local/bench' EXIT
trap 'exit 130' INT
trap 'exit 143' HUP TERM
deploy/postgres.sh start .local/bench
begun=$(date +%s)
"$executables/benchmark" "$(deploy/postgres.sh url .local/bench)" "$executables" "$BENCH_JSON" "$@"
echo "Measured in $(($(date +%s) - begun)) s; the figures are in $BENCH_JSON."
