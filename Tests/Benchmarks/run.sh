#!/bin/sh
# Measures a release build beside this machine's limits, on a scratch PostgreSQL with full durability that is deleted
# afterwards. Prints a table with ratios to the last results, adds the figures to these (.local/bench/results.jsonl, a line of
# JSON for each figure), and writes them as JSON to the file that BENCH_JSON names (.local/bench/figures.json).
#
#   Tests/Benchmarks/run.sh [SECTION...]     (limits commands latency held fanout sagas calls streams memory starts
#                                            attachments checkins rejoin groups signals client urgent console, or attacks,
#                                            growth or resuming; SECONDS=8 per figure, CHECKIN_PEOPLE=50000,
#                                            REJOIN_CLIENTS=5000, GROUP_SESSIONS=1000)
#   Tests/Benchmarks/run.sh --base COMMIT [SECTION...]
#                                            measures that commit's build and this one in turn, ROUNDS=5 times each, and
#                                            compares the medians (sections: limits commands)
#
# On a busy machine it refuses; FORCE=1 measures all the same.
set -eu

case "${1:-}" in
  -h | --help) sed -n '/^[^#]/q; 2,$s/^# \{0,1\}//p' "$0"; exit 0 ;;
esac
cd "$(dirname "$0")/../.."

fail() {
  echo "run.sh: $*" >&2
  exit 1
}

# --- Whether the machine is idle -----------------------------------------------------------------------------------------

# The part of all cores' time that is in use, in percent, over a second. What other machines on the same host take counts.
cpu_in_use() {
  { grep '^cpu ' /proc/stat && sleep 1 && grep '^cpu ' /proc/stat; } | awk '
    { all = 0; for (field = 2; field <= 9; field++) all += $field; idle = $5 + $6 }
    NR == 1 { all_before = all; idle_before = idle }
    END { printf "%d\n", 100 * (1 - (idle - idle_before) / (all - all_before)) }'
}

# Fails if something else is running. The load is an average over a minute, so it says nothing after a build.
require_idle_machine() { # "with load", or nothing
  [ -z "${FORCE:-}" ] || return 0
  used=$(cpu_in_use)
  [ "$used" -le 15 ] ||
    fail "the machine is busy: $used % of its CPU is in use. Figures would mean little; wait, or set FORCE=1."
  [ $# -gt 0 ] || return 0
  load=$(cut -d ' ' -f 1 /proc/loadavg)
  awk -v load="$load" -v cores="$(nproc)" 'BEGIN { exit (load > cores / 2) }' ||
    fail "the machine was busy until now: its load is $load on $(nproc) cores. Wait a minute, or set FORCE=1."
}

# --- Building and measuring ----------------------------------------------------------------------------------------------

# Builds what is measured, product by product, so that it works for any commit, and prints where it is.
build() { # folder of the package
  for product in benchmark test-supervisor faulty-ledger session contacts notifications session-client; do
    deploy/build.sh --package-path "$1" --configuration release --product "$product" >&2
  done
  deploy/build.sh --package-path "$1" --configuration release --show-bin-path
}

cluster=
destroy_cluster() {
  [ -z "$cluster" ] || deploy/postgres.sh destroy "$cluster"
  cluster=
}
trap destroy_cluster EXIT
trap 'exit 130' INT
trap 'exit 143' HUP TERM

# Runs a build's own benchmark on a server of its own, started as that commit does it.
measure() { # folder of the package, folder of its executables, JSON file, section...
  folder=$1 built=$2 file=$3
  shift 3
  cluster=$folder/.local/bench/postgres
  deploy/postgres.sh destroy "$cluster" # what a killed run left
  "$folder/deploy/postgres.sh" start "$cluster"
  (cd "$folder" && exec "$built/benchmark" "$("$folder/deploy/postgres.sh" url "$cluster")" "$built" "$file" "$@")
  destroy_cluster
}

# --- Another commit's build and this one, in turn -----------------------------------------------------------------------------

compare() { # section...
  [ $# -gt 0 ] || set -- limits commands
  # Kept, so that the next comparison needn't build everything.
  base=$PWD/.local/bench/base
  { [ -e "$base/.git" ] && git -C "$base" checkout --quiet --force --detach "$commit"; } || {
    rm -rf "$base"
    git worktree prune
    git worktree add --quiet --force --detach "$base" "$commit"
  }
  # The same versions of other packages.
  [ ! -e Package.resolved ] || cp Package.resolved "$base/Package.resolved"
  echo "Building $(git log -1 --format='%h (%s)' "$commit") for release."
  of_base=$(build "$base")
  echo "Building this one for release."
  of_this=$(build "$PWD")
  require_idle_machine
  results=$PWD/.local/bench/rounds
  rm -rf "$results"
  mkdir -p "$results"
  rounds=${ROUNDS:-5}
  round=1
  while [ "$round" -le "$rounds" ]; do
    echo "Round $round of $rounds."
    measure "$base" "$of_base" "$results/base-$round.json" "$@" >/dev/null
    measure "$PWD" "$of_this" "$results/this-$round.json" "$@" >/dev/null
    round=$((round + 1))
  done
  "$of_this/benchmark" compare "$results"
}

commit=
if [ "${1:-}" = --base ]; then
  [ -n "${2:-}" ] || fail "name the commit to compare with: make bench-compare BASE=<commit>"
  commit=$(git rev-parse --verify --quiet "$2^{commit}") || fail "there is no commit '$2'"
  shift 2
fi
# The console is measured in a browser.
case "$commit $* " in
  "  " | *" console "*) deploy/install.sh --tests ;;
  *) deploy/install.sh ;;
esac
require_idle_machine "with load"
mkdir -p .local/bench
if [ -n "$commit" ]; then
  compare "$@"
  exit 0
fi
case " $* " in
  *" growth "* | *" resuming "*) : "${BENCH_JSON:=.local/bench/growth.json}" ;;
  *) : "${BENCH_JSON:=.local/bench/figures.json}" ;;
esac
BENCH_RESULTS=.local/bench/results.jsonl
BENCH_COMMIT=$(git describe --always --dirty 2>/dev/null || echo unknown)
export BENCH_RESULTS BENCH_COMMIT
echo "Building for release."
executables=$(build "$PWD")
require_idle_machine
begun=$(date +%s)
measure "$PWD" "$executables" "$BENCH_JSON" "$@"
echo "Measured in $(($(date +%s) - begun)) s; the figures are in $BENCH_JSON."
