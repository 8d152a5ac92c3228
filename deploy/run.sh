#!/bin/sh
# Runs Quartet on this machine, for development. See `run.sh --help`.
set -eu
caller=$PWD
cd "$(dirname "$0")/.."

usage() {
  cat <<'TEXT'
Usage: run.sh start|stop|status|doctor|demo|tui|logs|psql|operate|backup|restore|url

  start    build the four services and nothing else, start a private PostgreSQL in
           .local/, migrate, start the services, wait until all are ready, and print
           where they are. If some are running, only those that were rebuilt or
           reconfigured are restarted.
  stop     stop the services and the private PostgreSQL
  status   print what is running; exit status 0 if all is ready, 3 if not
  doctor   check settings, database and services, and say what is wrong and what to do
  demo     play a story through the HTTP API of the running services
  tui      open the app for terminals at the running services; its flags may follow
  logs     show the ends of the logs and follow them
  psql     open psql as a role that can only read
  operate  open psql as a role that can also call the functions for operators: retry
           a dead letter, discard a parked message, change retention
  backup [FILE]
           save the database in FILE, by default in .local/backups, while the services go on
  restore FILE
           replace the database by what a backup contains, while no service runs. REPLACE=yes
           puts aside what is in it
  url      print the URL of the HTTP API

Environment
  DATABASE_URL    your own PostgreSQL instead of the private one. If it hasn't been
                  bootstrapped, the URL must name a superuser.
  OPERATORS_DATABASE_URL
                  the same for operators, over HTTP and in the console; by default
                  only for the private PostgreSQL
  PORT            the port of the HTTP API (8080); further replicas use the next ones
  GRPC_PORT       the port of the gRPC API (8090); further replicas use the next ones
  ADMIN_PORT      the first port for health checks and metrics (9100); each further
                  replica adds ten
  REPLICAS        how many processes of each service to run (1)
  TLS             yes serves https, with a certificate for this machine that is made
                  once and kept in .local/secrets
  CONFIGURATION   debug (the default, builds faster) or release (runs faster)
  Settings of the services (session-client --help) are passed on. With the private
  PostgreSQL, the shortest check-in interval and the time between check-ins are a
  second (LEAST_CHECK_IN_INTERVAL, CHECK_IN_COOLDOWN), so that make demo can show a
  missed check-in.
TEXT
}

services='session contacts notifications session-client'
replicas=${REPLICAS:-1}
port=${PORT:-8080}
grpc_port=${GRPC_PORT:-8090}
admin_port=${ADMIN_PORT:-9100}
configuration=${CONFIGURATION:-debug}
own_database=${DATABASE_URL:-}
certificate=.local/secrets/tls-certificate.pem
certificate_key=.local/secrets/tls-key.pem
case "${TLS:-no}" in yes | true | 1) scheme=https ;; *) scheme=http ;; esac
url=$scheme://127.0.0.1:$port
state=.local/run
cluster=.local/postgres
# How many seconds to wait for a service to stop: longer than it takes to finish its work in progress.
patience=40

fail() {
  echo "run.sh: $*" >&2
  exit 1
}

number() { # value, name, least
  case "$1" in '' | *[!0-9]*) fail "$2 must be a number, not '$1'" ;; esac
  [ "$1" -ge "$3" ] || fail "$2 must be at least $3"
}

# --- Processes: $state/<service>-<replica>.pid contains the process id -------------------------------------------------------

# The process id of a replica, if it is running and really ours.
process_of() { # name-replica
  pid=$(cat "$state/$1.pid" 2>/dev/null) || return 1
  case "$(readlink "/proc/$pid/exe" 2>/dev/null)" in
    "$PWD"/.build/*/"${1%-*}" | "$PWD"/.build/*/"${1%-*} (deleted)") echo "$pid" ;;
    # Just after its start, it isn't the service's executable yet.
    */setsid) echo "$pid" ;;
    *) return 1 ;;
  esac
}

# Whether it runs the current build with the current settings.
is_current() { # name-replica, pid, executable, settings
  [ "$(readlink "/proc/$2/exe")" = "$3" ] && [ "$(cat "$state/$1.settings" 2>/dev/null)" = "$4" ]
}

is_ready() { # admin port
  curl --silent --fail --max-time 2 --output /dev/null "http://127.0.0.1:$1/health/ready"
}

reasons() { # admin port
  curl --silent --max-time 2 "http://127.0.0.1:$1/health/ready" || echo "no answer"
}

# Stops the given replicas, all at once, and waits until they are gone.
stop_processes() { # name-replica...
  waiting=
  for name in "$@"; do
    if pid=$(process_of "$name"); then
      kill -TERM "$pid" 2>/dev/null || true
      waiting="$waiting $name"
    fi
  done
  ticks=0
  for name in $waiting; do
    while process_of "$name" >/dev/null; do
      ticks=$((ticks + 1))
      if [ $ticks -gt $((patience * 20)) ]; then
        echo "$name did not stop within $patience seconds; killing it" >&2
        kill -KILL "$(process_of "$name")" 2>/dev/null || true
      fi
      sleep 0.05
    done
  done
  for name in "$@"; do rm -f "$state/$name.pid" "$state/$name.settings"; done
}

known_processes() {
  for file in "$state"/*.pid; do
    if [ -e "$file" ]; then basename "$file" .pid; fi
  done
}

admin_port_of() { # name-replica
  sed -n 's/.*--admin-port \([0-9]*\).*/\1/p' "$state/$1.settings" 2>/dev/null
}

lock() {
  mkdir -p "$state"
  chmod 700 "$state"
  exec 9>.local/run.lock # closed ("9>&-") for everything that may outlive this script
  flock --nonblock 9 || {
    echo "Another run.sh is running in this folder; waiting for it."
    flock 9
  }
}

# --- start ---------------------------------------------------------------------------------------------------------------

# Builds only what is named.
build() { # --target or --product, name
  deploy/build.sh --configuration "$configuration" "$@" >&2
  executables=$(deploy/build.sh --configuration "$configuration" --show-bin-path)
}

use_private_database() {
  DATABASE_URL=$(deploy/postgres.sh url "$cluster" quartet)
  export DATABASE_URL OPERATORS_DATABASE_URL="${OPERATORS_DATABASE_URL:-$DATABASE_URL}"
}

prepare_database() {
  if [ -z "$own_database" ]; then
    # For development, so that nobody has to wait an hour to see a missed check-in.
    export LEAST_CHECK_IN_INTERVAL="${LEAST_CHECK_IN_INTERVAL:-1s}" CHECK_IN_COOLDOWN="${CHECK_IN_COOLDOWN:-1s}"
    deploy/postgres.sh status "$cluster" >/dev/null || {
      started_cluster=yes
      echo "Starting a private PostgreSQL in $cluster."
      deploy/postgres.sh start "$cluster" 9>&-
    }
    psql -X -q "$(deploy/postgres.sh url "$cluster")" -v database=quartet -f deploy/bootstrap.sql 9>&-
    use_private_database
    return 0
  fi
  # Your own server is only bootstrapped if it hasn't been.
  missing=$(psql -X -q -A -t "$own_database" 9>&- <<'SQL'
SELECT string_agg(name, ', ')
  FROM unnest(ARRAY['session', 'contacts', 'notifications', 'session_client']) AS name
 WHERE to_regnamespace(name) IS NULL OR to_regrole(name) IS NULL OR to_regrole('quartet_migrator') IS NULL;
SQL
  ) || fail "can't use DATABASE_URL; see psql's error above. The database that it names must exist."
  [ -z "$missing" ] || {
    echo "Creating roles and schemas: deploy/bootstrap.sql."
    database=$(psql -X -q -A -t "$own_database" -c 'SELECT current_database()')
    psql -X -q "$own_database" -v database="$database" -f deploy/bootstrap.sql 9>&- ||
      fail "the database lacks $missing, and the role in DATABASE_URL may not create it. \
As a superuser, run: psql -v database=$database -f deploy/bootstrap.sql"
  }
}

# Keys for development on this machine, created once.
make_secrets() {
  mkdir -p .local/secrets
  chmod 700 .local/secrets
  [ -s .local/secrets/server-key ] || head -c 32 /dev/urandom | base64 >.local/secrets/server-key
  [ -s .local/secrets/signing-key.pem ] ||
    openssl ecparam -genkey -name prime256v1 -noout -out .local/secrets/signing-key.pem
  [ "$scheme" = http ] || openssl x509 -checkend 86400 -noout -in "$certificate" >/dev/null 2>&1 ||
    openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 365 -subj /CN=localhost \
      -addext subjectAltName=DNS:localhost,IP:127.0.0.1,IP:::1 -keyout "$certificate_key" -out "$certificate" 2>/dev/null
  chmod 600 .local/secrets/*
  [ -n "${SERVER_KEY:-}${SERVER_KEY_FILE:-}" ] || export SERVER_KEY_FILE="$PWD/.local/secrets/server-key"
  [ -n "${SIGNING_KEY:-}${SIGNING_KEY_FILE:-}" ] || export SIGNING_KEY_FILE="$PWD/.local/secrets/signing-key.pem"
  # Nobody balances the load here.
  export DRAIN_TIME="${DRAIN_TIME:-0s}"
  # No text messages are sent here: session-client logs the codes for phones.
  export PHONE_CODES="${PHONE_CODES:-log}"
}

# An operator's key for development, made and shown once.
make_operator_key() {
  operator_key=
  [ -n "${OPERATORS_DATABASE_URL:-}" ] || return 0
  "$executables/session-client" keys list 9>&- | grep -q '^development .* in use$' ||
    operator_key=$("$executables/session-client" keys make --key-name development --key-role act \
      --reason 'made by make run' 9>&-)
}

# All replicas that should run.
wanted() {
  for service in $services; do
    replica=1
    while [ $replica -le "$replicas" ]; do
      echo "$service-$replica"
      replica=$((replica + 1))
    done
  done
}

# The ports of a replica. They don't depend on what else runs.
flags_of() { # name-replica
  replica=${1##*-} place=0
  for service in $services; do
    [ "$service" != "${1%-*}" ] || break
    place=$((place + 1))
  done
  echo "--admin-port $((admin_port + place + 10 * (replica - 1)))$(
    [ "${1%-*}" != session-client ] || echo " --port $((port + replica - 1)) --grpc-port $((grpc_port + replica - 1)) --grpc-reflection ${GRPC_REFLECTION:-true}"
    # Browsers shouldn't insist on https for everything else on this machine.
    [ "${1%-*} $scheme" != "session-client https" ] ||
      echo " --tls-certificate $certificate --tls-key $certificate_key --hsts-max-age 0s"
  )"
}

start_process() { # name-replica
  log=$state/$1.log
  flags=$(flags_of "$1")
  [ ! -s "$log" ] || mv -f "$log" "$log.1"
  # Readable only by us: a log may contain phone numbers and, in development, codes.
  (umask 077 && : >"$log")
  # In a session of its own, because Ctrl-C is for this script, which then stops the service properly.
  # shellcheck disable=SC2086 # flags are a list of words
  setsid "$executables/${1%-*}" run $flags >"$log" 2>&1 </dev/null 9>&- &
  echo $! >"$state/$1.pid"
  settings_of "$flags" >"$state/$1.settings"
  started="$started $1"
}

# What a replica was started with. It is restarted if DATABASE_URL changes; the file only contains a checksum of that.
settings_of() { # flags
  echo "$1 database=$(printf %s "$DATABASE_URL" | cksum | cut -d ' ' -f 1)"
}

abandon() {
  trap '' INT TERM HUP
  # shellcheck disable=SC2086
  [ -z "$started" ] || stop_processes $started
  [ -z "$started_cluster" ] || deploy/postgres.sh stop "$cluster" 9>&-
}

start() {
  number "$replicas" REPLICAS 1
  number "$port" PORT 1
  number "$grpc_port" GRPC_PORT 1
  number "$admin_port" ADMIN_PORT 1
  deploy/install.sh
  lock
  started= started_cluster=
  trap 'echo; echo "Interrupted; stopping what was started."; exit 130' INT
  trap 'exit 143' TERM HUP
  trap 'abandon' EXIT

  build --target services 9>&-
  prepare_database
  make_secrets
  for service in $services; do
    LOG_LEVEL=notice "$executables/$service" migrate 9>&- || fail "$service could not migrate; see its error above"
  done
  make_operator_key

  expected= outdated=
  for name in $(wanted); do
    expected="$expected $name"
    if pid=$(process_of "$name") &&
      ! is_current "$name" "$pid" "$executables/${name%-*}" "$(settings_of "$(flags_of "$name")")"; then
      echo "Restarting $name, because its build or its settings changed."
      outdated="$outdated $name"
    fi
  done
  for name in $(known_processes); do
    case " $expected " in
      *" $name "*) ;;
      *)
        echo "Stopping $name, because there are more replicas than REPLICAS=$replicas."
        outdated="$outdated $name" ;;
    esac
  done
  # shellcheck disable=SC2086 # a list of words
  stop_processes $outdated
  for name in $expected; do
    process_of "$name" >/dev/null || start_process "$name"
  done

  for name in $expected; do await_ready "$name"; done
  started= started_cluster=
  echo
  report
}

await_ready() { # name-replica
  ticks=0
  until is_ready "$(admin_port_of "$1")"; do
    process_of "$1" >/dev/null || {
      tail -n 20 "$state/$1.log" >&2
      fail "$1 exited; the end of its log ($state/$1.log) is above"
    }
    ticks=$((ticks + 1))
    [ $ticks -lt 600 ] || {
      tail -n 20 "$state/$1.log" >&2
      fail "$1 is not ready after a minute: $(reasons "$(admin_port_of "$1")")"
    }
    sleep 0.1
  done
}

report() {
  echo "Quartet is running."
  echo "  Console    $url (a private window is a second person)"
  [ -z "${OPERATORS_DATABASE_URL:-}" ] || echo "  Operators  $url/ops"
  [ -z "$operator_key" ] || {
    echo "             with this key, which is shown once:"
    echo "             $operator_key"
  }
  echo "  HTTP API   $url/v1"
  echo "  gRPC API   127.0.0.1:$grpc_port"
  [ "$scheme" = http ] || echo "  Trust      $certificate (curl --cacert)"
  echo "  Database   $([ -n "$own_database" ] && echo "yours (DATABASE_URL)" || echo "private, in $cluster")"
  echo "  Logs       $state/*.log"
  echo
  echo "Try:   make demo    make tui    make psql    make logs    make status"
  echo "Stop:  make stop"
}

# --- The others ------------------------------------------------------------------------------------------------------------

stop() {
  [ -d .local ] || exit 0
  lock
  # shellcheck disable=SC2046
  stop_processes $(known_processes)
  deploy/postgres.sh stop "$cluster" 9>&-
  echo "Quartet is stopped."
}

status() {
  all=0
  if deploy/postgres.sh status "$cluster" >/dev/null 2>&1; then
    echo "postgres           running, private, in $cluster"
  elif [ -n "$own_database" ]; then
    echo "postgres           yours (DATABASE_URL)"
  else
    echo "postgres           not running"
    all=3
  fi
  found=$(known_processes)
  [ -n "$found" ] || all=3
  for name in $found; do
    admin=$(admin_port_of "$name")
    if ! pid=$(process_of "$name"); then
      printf '%-18s exited; see %s\n' "$name" "$state/$name.log"
      all=3
    elif is_ready "$admin"; then
      printf '%-18s ready, process %s, http://127.0.0.1:%s/health/ready\n' "$name" "$pid" "$admin"
    else
      printf '%-18s not ready, process %s: %s\n' "$name" "$pid" "$(reasons "$admin")"
      all=3
    fi
  done
  [ -n "$found" ] || echo "services           not running; start them: make run"
  exit $all
}

# Builds a program that speaks to the running services.
build_for_services() { # product
  curl --silent --insecure --output /dev/null --max-time 5 "$url/" || fail "nothing answers at $url; start it: make run"
  build --product "$1"
}

doctor() {
  if [ -z "$own_database" ]; then
    deploy/postgres.sh status "$cluster" >/dev/null 2>&1 || fail "PostgreSQL isn't running; start it: make run"
    use_private_database
  fi
  make_secrets
  build --product session-client
  [ "$scheme" = http ] || set -- --tls-certificate "$certificate" --tls-key "$certificate_key" "$@"
  exec "$executables/session-client" doctor "$@"
}

demo() {
  build_for_services demo
  exec "$executables/demo" "$url" $([ "$scheme" = http ] || echo "$certificate")
}

tui() {
  build_for_services quartet-tui
  [ "$scheme" = http ] || export QUARTET_CERTIFICATES="$PWD/$certificate"
  exec "$executables/quartet-tui" --server "$url" "$@"
}

logs() {
  [ -n "$(ls "$state"/*.log 2>/dev/null)" ] || fail "there are no logs yet; start the services: make run"
  exec tail -n "${LINES:-20}" -F "$state"/*.log
}

open_psql() {
  role=$1
  shift
  PSQLRC=$PWD/Services/SessionClient/Operators/psqlrc
  export PSQLRC
  if [ -n "$own_database" ]; then exec psql -v ON_ERROR_ROLLBACK=interactive -v reader="$role" "$own_database" "$@"; fi
  deploy/postgres.sh status "$cluster" >/dev/null 2>&1 || fail "PostgreSQL isn't running; start it: make run"
  exec psql "$(deploy/postgres.sh url "$cluster" quartet "$role")" "$@"
}

# Calls deploy/backup.sh for the database that `start` uses. The private PostgreSQL only runs for this if it didn't before.
with_database() { # save|restore, FILE
  case "$2" in /*) file=$2 ;; *) file=$caller/$2 ;; esac
  lock
  server=$own_database
  started_cluster=
  if [ -z "$own_database" ]; then
    deploy/postgres.sh status "$cluster" >/dev/null || {
      [ "$1" = restore ] || [ -d "$cluster" ] || fail "there is no database yet; start it: make run"
      started_cluster=yes
      trap '[ -z "$started_cluster" ] || deploy/postgres.sh stop "$cluster" 9>&-' EXIT
      trap 'exit 130' INT
      trap 'exit 143' TERM HUP
      deploy/postgres.sh start "$cluster" 9>&-
    }
    server=$(deploy/postgres.sh url "$cluster")
  fi
  "${1}_database"
}

save_database() {
  [ -n "$own_database" ] || server=$(deploy/postgres.sh url "$cluster" quartet)
  deploy/backup.sh save "$server" "$file" 9>&-
  echo "The backup is in $file ($(du -h -- "$file" | cut -f 1))."
  echo "Restore it:  make stop && make restore FILE=$file REPLACE=yes"
  echo "Keep it safe, and somewhere else: it contains what people wrote. Without the server key (here in .local/secrets),"
  echo "no password in it works; make clean deletes .local."
}

restore_database() {
  database=quartet
  if [ -n "$own_database" ]; then
    database=$(psql -X -q -A -t "$own_database" -c 'SELECT current_database()' 9>&-) ||
      fail "can't use DATABASE_URL; see psql's error above. The database that it names must exist."
  else
    for name in $(known_processes); do
      ! process_of "$name" >/dev/null || fail "$name is running; stop the services first: make stop"
    done
  fi
  deploy/backup.sh restore "$server" "$database" "$file" 9>&-
  echo "Go on:  make run"
}

# A new name in .local/backups.
backup_name() {
  mkdir -p .local/backups
  chmod 700 .local/backups
  name=$PWD/.local/backups/quartet-$(date -u +%Y%m%dT%H%M%SZ)
  file=$name.dump
  number=1
  while [ -e "$file" ]; do
    number=$((number + 1))
    file=$name-$number.dump
  done
  echo "$file"
}

command=${1:-}
[ $# -eq 0 ] || shift
case "$command" in
  start) start ;;
  stop) stop ;;
  status) status ;;
  doctor) doctor "$@" ;;
  demo) demo ;;
  tui) tui "$@" ;;
  logs) logs ;;
  psql) open_psql quartet_reader "$@" ;;
  operate) open_psql quartet_operator "$@" ;;
  backup) with_database save "${1:-$(backup_name)}" ;;
  restore)
    [ -n "${1:-}" ] || fail "which backup? make restore FILE=..."
    with_database restore "$1" ;;
  url) echo "$url" ;;
  -h | --help | help) usage ;;
  *) usage >&2; exit 2 ;;
esac
