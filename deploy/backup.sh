#!/bin/sh
# Saves a database of Quartet in a file, and restores it. See `backup.sh --help`.
set -eu

usage() {
  cat <<'TEXT'
Usage: backup.sh save URL FILE
       backup.sh restore URL DATABASE FILE

  save     write the database at URL into FILE, as it was at one moment, while the
           services go on. FILE is readable only by you, and isn't there before it is
           whole.
  restore  replace DATABASE by what FILE contains. URL names any database of the same
           server. What is in DATABASE is kept under another name. No service may run.

URL is a connection string of libpq, for a superuser, without a password: everyone on
this machine can see it. deploy/OPERATING.md says what follows from a restore.

Environment
  PGPASSWORD, PGPASSFILE
             the superuser's password, or a file with it, if it needs one
  REPLACE    yes lets restore replace a database that has tables
  PG_BIN     the folder of pg_dump and pg_restore; by default those of the server's
             version, or else the first in PATH
TEXT
}

deploy=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)

fail() {
  echo "backup.sh: $*" >&2
  exit 1
}

# --- Helpers ---------------------------------------------------------------------------------------------------------

# As the services do: everyone on this machine sees the arguments of programs.
refuse_password() {
  authority=${url#*://}
  authority=${authority%%[/?]*}
  case "$url" in
    *password=*) ;;
    *://*) case "$authority" in *:*@*) ;; *) return 0 ;; esac ;;
    *) return 0 ;;
  esac
  fail "the URL would show its password to everyone on this machine; set PGPASSWORD or PGPASSFILE instead"
}

# Runs the SQL on standard input, and prints the rows. A connection string may be followed by psql's arguments.
sql() { # url, psql's arguments...
  at=$1
  shift
  psql -X -q -A -t -v ON_ERROR_STOP=1 "$@" "$at"
}

# The same connection string for another database of the server: the last dbname counts.
url_of() { # database
  case "$url" in
    *://*\?*) printf '%s&dbname=%s\n' "$url" "$1" ;;
    *://*) printf '%s?dbname=%s\n' "$url" "$1" ;;
    *) printf "%s dbname='%s'\n" "$url" "$1" ;;
  esac
}

# A client program of the server's version: pg_dump refuses newer servers, and what a newer one writes, older servers
# may not understand.
program() { # name
  for folder in "${PG_BIN:-}" "/usr/lib/postgresql/$major/bin" "/usr/pgsql-$major/bin"; do
    if [ -n "$folder" ] && [ -x "$folder/$1" ]; then
      echo "$folder/$1"
      return 0
    fi
  done
  command -v "$1" || fail "$1 is missing; install PostgreSQL's client programs (Debian: apt-get install postgresql-client)"
}

ask_version() {
  refuse_password
  version=$(echo 'SHOW server_version_num;' | sql "$url") || fail "can't use the database; see psql's error above."
  major=$((version / 10000))
}

# --- save ------------------------------------------------------------------------------------------------------------

save() {
  [ ! -e "$file" ] || fail "$file is there already; choose another name"
  ask_version
  pg_dump=$(program pg_dump)
  pg_restore=$(program pg_restore)
  umask 077
  mkdir -p -- "$(dirname -- "$file")"
  part=$(mktemp -- "$file.XXXXXX")
  trap 'rm -f -- "$part"' EXIT
  trap 'exit 130' INT
  trap 'exit 143' HUP TERM
  # One snapshot for everything, which is on the disk when pg_dump ends. The schema quartet is bootstrap.sql's.
  "$pg_dump" --format=custom --exclude-schema=quartet --dbname="$url" --file="$part" ||
    fail "pg_dump could not read the database; see its error above."
  # Reads all of it, so a backup that can't be read isn't one.
  "$pg_restore" --file=/dev/null "$part" || fail "pg_restore can't read what pg_dump wrote; see its error above."
  mv -- "$part" "$file"
}

# --- restore ---------------------------------------------------------------------------------------------------------

# The roles that are connected to the database. Sessions of services that were just stopped take a moment to end.
users() {
  ticks=0
  while :; do
    users=$(sql "$server" -v database="$database" <<'SQL'
SELECT string_agg(DISTINCT usename::text, ', ')
  FROM pg_stat_activity WHERE datname = :'database' AND backend_type = 'client backend';
SQL
    )
    ticks=$((ticks + 1))
    if [ -z "$users" ] || [ $ticks -gt 30 ]; then return 0; fi
    sleep 0.1
  done
}

count_tables() {
  sql "$(url_of "$database")" <<'SQL'
SELECT count(*) FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = c.relnamespace
 WHERE c.relkind IN ('r', 'p') AND n.nspname <> 'information_schema' AND NOT starts_with(n.nspname::text, 'pg_');
SQL
}

drop_restoring() {
  sql "$server" -v restoring="$restoring" <<'SQL' || true
SELECT format('DROP DATABASE %I WITH (FORCE)', datname) FROM pg_database WHERE datname = :'restoring' \gexec
SQL
}

bootstrap() { # database
  sql "$server" -v database="$1" -f "$deploy/bootstrap.sql" >/dev/null
}

restore() {
  [ -r "$file" ] || fail "$file can't be read"
  case "$database" in
    '' | *[!A-Za-z0-9_-]*) fail "the database's name may have letters, digits, _ and - only, not '$database'" ;;
  esac
  # With what is added to it, its name must fit in 63 bytes.
  [ ${#database} -le 40 ] || fail "the database's name may be 40 characters long, not '$database'"
  ask_version
  pg_restore=$(program pg_restore)
  contents=$("$pg_restore" --list "$file") || fail "$file isn't a backup, or not a whole one; see pg_restore's error above."
  case "$contents" in *' SCHEMA - session_client '*) ;; *) fail "$file isn't a backup of Quartet" ;; esac

  # A database can't be renamed by a session in it.
  if [ "$database" = postgres ]; then server=$(url_of template1); else server=$(url_of postgres); fi
  exists=$(echo "SELECT count(*) FROM pg_database WHERE datname = :'database';" | sql "$server" -v database="$database")
  if [ "$exists" = 1 ]; then
    users
    [ -z "$users" ] || fail "$database is in use, by $users. Stop the services (make stop) and leave psql first."
    tables=$(count_tables)
    [ "$tables" = 0 ] || [ "${REPLACE:-}" = yes ] ||
      fail "there is already something in the database $database. REPLACE=yes puts it aside under another name, \
and deletes nothing."
  fi

  restoring=${database}_restoring_$$
  kept=${database}_before_$(date -u +%Y%m%d_%H%M%S)
  trap 'drop_restoring' EXIT
  trap 'exit 130' INT
  trap 'exit 143' HUP TERM
  echo "Creating a new database: $restoring."
  bootstrap "$restoring" || fail "could not create the database and its roles; see psql's error above. URL must name a superuser."
  # The backup has the schemas with their rights; the roles had to be there first.
  sql "$(url_of "$restoring")" <<'SQL'
SET client_min_messages = warning;
DROP SCHEMA session, contacts, notifications, session_client CASCADE;
SQL
  echo "Reading $file into it."
  "$pg_restore" --single-transaction --dbname="$(url_of "$restoring")" "$file" ||
    fail "the backup could not be restored; see pg_restore's error above. $database is as it was."
  echo "Setting roles and rights: deploy/bootstrap.sql."
  bootstrap "$restoring"
  # A backup has no statistics, and without them the services would begin with bad plans.
  echo 'ANALYZE;' | sql "$(url_of "$restoring")"
  if [ "$exists" = 1 ]; then echo "Renaming $database to $kept."; fi
  echo "Renaming $restoring to $database."
  # Both or neither. A new database is another incarnation of the logs, so readers with a place in the old one start again.
  sql "$server" -v database="$database" -v restoring="$restoring" -v kept="$kept" <<'SQL' ||
BEGIN;
SELECT format('ALTER DATABASE %I RENAME TO %I', :'database', :'kept')
 WHERE EXISTS (SELECT FROM pg_database WHERE datname = :'database') \gexec
SELECT format('ALTER DATABASE %I RENAME TO %I', :'restoring', :'database') \gexec
COMMIT;
SQL
    fail "the databases could not be renamed; see psql's error above. $database is as it was."
  trap - EXIT
  echo
  echo "$database is as it was at the time of the backup."
  if [ "$exists" = 1 ]; then
    echo "What was in it is kept as $kept. When nobody needs it any more: DROP DATABASE \"$kept\""
  fi
}

# --- Arguments -------------------------------------------------------------------------------------------------------

case "${1:-}" in
  -h | --help | help) usage ;;
  save)
    [ $# -eq 3 ] || { usage >&2; exit 2; }
    url=$2 file=$3
    save ;;
  restore)
    [ $# -eq 4 ] || { usage >&2; exit 2; }
    url=$2 database=$3 file=$4
    restore ;;
  *) usage >&2; exit 2 ;;
esac
