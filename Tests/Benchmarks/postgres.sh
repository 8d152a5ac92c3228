#!/bin/sh
# Times the wrapper and plain libpq in C, alternating, and prints medians and ratios.
#
#   Tests/Benchmarks/postgres.sh [CONNINFO]     (by default on a scratch cluster, which is deleted afterwards)
set -eu
cd "$(dirname "$0")/../.."
work=$(mktemp -d)
url=${1:-}
trap 'rm -rf "$work"; [ -n "${1:-}" ] || deploy/postgres.sh destroy "$work" >/dev/null 2>&1 || true' EXIT
if [ -z "$url" ]; then
  chmod 755 "$work"
  deploy/postgres.sh start "$work" >&2
  url=$(deploy/postgres.sh url "$work")
fi
echo "Building for release." >&2
deploy/build.sh -c release --product postgres-benchmark >&2
cc -O2 -o "$work/libpq" Tests/Benchmarks/Postgres/libpq.c -I"$(pg_config --includedir)" -lpq
psql -X -q "$url" <<'SQL'
SET client_min_messages = warning;
DROP TABLE IF EXISTS bench_read, bench_append;
CREATE TABLE bench_read AS
SELECT n AS position, 'EntryPosted'::text AS type, 'account/' || gen_random_uuid() AS key, gen_random_uuid() AS account,
       json_build_object('x', repeat('x', 180)) AS body, gen_random_uuid() AS message_id, now() AS recorded_at
  FROM generate_series(1::bigint, 500) AS n;
CREATE TABLE bench_append (position bigint, type text, message_id uuid, body json);
SQL
for round in 1 2 3 4 5; do
  "$work/libpq" "$url" | sed 's/^/c /'
  "$(deploy/build.sh -c release --show-bin-path)/postgres-benchmark" "$url" | sed 's/^/swift /'
done >"$work/figures"
psql -X -q "$url" -c 'DROP TABLE bench_read, bench_append'
for what in select_1_us read_500_us append_100_us; do
  for side in c swift; do
    grep "^$side $what" "$work/figures" | awk '{ print $3 }' | sort -n | sed -n 3p >"$work/$side"
  done
  printf '%-14s  C %8s  Swift %8s  ratio %s\n' "$what" "$(cat "$work/c")" "$(cat "$work/swift")" \
    "$(awk -v c="$(cat "$work/c")" -v s="$(cat "$work/swift")" 'BEGIN { printf "%.2f", s / c }')"
done
