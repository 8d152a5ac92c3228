#!/bin/sh
# Keeps the schema of the version that is being released, with the rows that migrations wrote, in Tests/System/Schema/Releases.
# Run it once for each release (make schema-dump), when nothing will change in its migrations any more.
set -eu
cd "$(dirname "$0")/../../.."

fail() {
  echo "dump.sh: $*" >&2
  exit 1
}

deploy/install.sh
deploy/build.sh --target services
executables=$(deploy/build.sh --show-bin-path)
version=$("$executables/session" --version | cut -d ' ' -f 2)
file=Tests/System/Schema/Releases/$version.sql
case "$version" in *-*) fail "$version is no release; set the version in Shared/Vocabulary/Release.swift first" ;; esac
[ ! -e "$file" ] || fail "$file is there, and what was released never changes. If $version wasn't, delete the file first."

cluster=.local/schema
deploy/postgres.sh destroy "$cluster" # what a killed run left
trap 'deploy/postgres.sh destroy "$cluster"' EXIT
trap 'exit 130' INT
trap 'exit 143' HUP TERM
deploy/postgres.sh start "$cluster" --fast
psql -X -q "$(deploy/postgres.sh url "$cluster")" -v database=quartet -f deploy/bootstrap.sql
DATABASE_URL=$(deploy/postgres.sh url "$cluster" quartet)
export DATABASE_URL
schemas=
for service in session contacts notifications session-client; do
  LOG_LEVEL=notice "$executables/$service" migrate
  schemas="$schemas --schema $(echo $service | tr - _)"
done
dump=.local/schema.sql
# shellcheck disable=SC2086 # a list of words
pg_dump --inserts $schemas --file "$dump" --dbname "$DATABASE_URL"
# Older versions of psql don't know these two commands, whose key is random.
sed '/^\\restrict /d; /^\\unrestrict /d' "$dump" >"$file"
rm -f "$dump"
echo "Kept the schema of $version in $file."
