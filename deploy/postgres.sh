#!/bin/sh
# Creates and runs a private PostgreSQL in a folder. See `postgres.sh --help`.
set -eu

usage() {
  cat <<'TEXT'
Usage: postgres.sh COMMAND FOLDER [options]

Creates and runs a private PostgreSQL in FOLDER. It listens on a socket that only
you and the server's user can reach, runs as an unprivileged user even if you are
root, and leaves other clusters on this machine alone.

Commands
  start FOLDER     create the cluster if necessary, start it, and wait until it
                   answers; does nothing if it is running
  run FOLDER       the same in the foreground: this process becomes the server
  stop FOLDER      stop it and wait until it is gone; does nothing if it isn't
                   running
  status FOLDER    print whether it is running; exit status 0 if it is, 3 if not
  url FOLDER [DATABASE [ROLE]]
                   print its connection URL (database and role: postgres)
  destroy FOLDER   stop it and delete its data
  follow FOLDER PRIMARY
                   copy the running cluster in the folder PRIMARY; once started, the
                   copy is its standby until it is promoted: SELECT pg_promote()

Options of start and run
  --port N         also listen on 127.0.0.1:N, where connections need a password
                   (on the socket they need none; set one with \password in psql)
  --fast           for throwaway clusters: survives a killed server, but not a power
                   failure (fsync off)
Option of stop
  --mode MODE      smart, fast (the default) or immediate: see pg_ctl(1)

Environment
  PG_BIN           the folder of initdb, pg_ctl and postgres, if there are several
TEXT
}

fail() {
  echo "postgres.sh: $*" >&2
  exit 1
}

# --- Arguments -------------------------------------------------------------------------------------------------------

case "${1:-}" in
  -h | --help | help) usage; exit 0 ;;
  start | run | stop | status | url | destroy | follow) command=$1; shift ;;
  '') usage >&2; exit 2 ;;
  *) echo "postgres.sh: unknown command '$1'; see postgres.sh --help" >&2; exit 2 ;;
esac
folder= port= fast= mode=fast database=postgres role=postgres rest=0
while [ $# -gt 0 ]; do
  case "$1" in
    --port) [ $# -ge 2 ] || fail "--port needs a number"; port=$2; shift ;;
    --fast) fast=yes ;;
    --mode) [ $# -ge 2 ] || fail "--mode needs smart, fast or immediate"; mode=$2; shift ;;
    -h | --help) usage; exit 0 ;;
    -*) fail "unknown option '$1'; see postgres.sh --help" ;;
    *)
      rest=$((rest + 1))
      case $rest in
        1) folder=$1 ;;
        2) database=$1 ;;
        3) role=$1 ;;
        *) fail "unexpected argument '$1'; see postgres.sh --help" ;;
      esac ;;
  esac
  shift
done
[ -n "$folder" ] || fail "FOLDER is missing; see postgres.sh --help"
case "$port" in *[!0-9]*) fail "--port needs a number, not '$port'" ;; esac

case "$command" in start | run | follow) mkdir -p -- "$folder" ;; esac
if [ ! -d "$folder" ]; then
  case "$command" in
    stop | destroy) exit 0 ;;
    status) echo "there is no cluster in $folder"; exit 3 ;;
    *) fail "there is no cluster in $folder; start it with: postgres.sh start $folder" ;;
  esac
fi
folder=$(CDPATH='' cd -- "$folder" && pwd -P)

# --- Where things are ------------------------------------------------------------------------------------------------

# The newest PostgreSQL from 15 on that has a server.
find_binaries() {
  bin= newest=0
  for candidate in "${PG_BIN:-}" "$(pg_config --bindir 2>/dev/null || true)" /usr/lib/postgresql/*/bin \
    /usr/pgsql-*/bin /usr/local/pgsql/bin; do
    [ -n "$candidate" ] && [ -x "$candidate/postgres" ] && [ -x "$candidate/initdb" ] && [ -x "$candidate/pg_ctl" ] ||
      continue
    major=$("$candidate/postgres" --version | sed 's/^[^0-9]*\([0-9]*\).*$/\1/')
    if [ "$candidate" = "${PG_BIN:-}" ]; then bin=$candidate newest=$major; break; fi
    if [ "$major" -gt "$newest" ]; then bin=$candidate newest=$major; fi
  done
  [ -n "$bin" ] || fail "found no PostgreSQL server on this machine. Install one (Debian: apt-get install postgresql), \
or set PG_BIN to the folder of its initdb"
  [ "$newest" -ge 15 ] || fail "PostgreSQL 15 or newer is needed; the newest one found is $newest, in $bin. Install a newer one, \
or set PG_BIN to the folder of its initdb"
}

# The server refuses to run as root, so root runs it as this user.
server_user=$(id -un)
if [ "$(id -u)" -eq 0 ]; then
  # A dedicated user: other processes of the same user could read the data and log in.
  server_user=postgres
  id postgres >/dev/null 2>&1 || {
    server_user=quartet-postgres
    id "$server_user" >/dev/null 2>&1 ||
      useradd --system --no-create-home --home-dir / --shell /usr/sbin/nologin "$server_user" 2>/dev/null ||
      fail "PostgreSQL can't run as root, there is no user 'postgres', and useradd could not make '$server_user'"
  }
fi

as_server_user() {
  if [ "$(id -un)" = "$server_user" ]; then
    "$@"
  else
    setpriv --reuid "$server_user" --regid "$(id -gn "$server_user")" --init-groups -- "$@"
  fi
}

# The data is in FOLDER. If the server's user can't reach that (below /root, say), it is in /var/lib, and FOLDER/data-path
# says where.
find_data() {
  if [ -d "$folder/data" ]; then
    data=$folder/data
  elif [ -f "$folder/data-path" ]; then
    data=$(cat "$folder/data-path")
  elif as_server_user test -x "$folder"; then
    data=$folder/data
  else
    data=/var/lib/quartet-$(printf %s "$folder" | cksum | cut -d ' ' -f 1)/data
  fi
}

# The postmaster's process id, if it is alive and really this cluster's.
postmaster() {
  [ -d "$data" ] || return 1
  pid=$(head -n 1 "$data/postmaster.pid" 2>/dev/null) || return 1
  [ -n "$pid" ] && [ -d "/proc/$pid" ] && [ "$(readlink "/proc/$pid/cwd" 2>/dev/null)" = "$data" ] && echo "$pid"
}

# Whether any process of this cluster is left. After kill -9 of the postmaster, the others take a moment to notice.
anybody() {
  readlink /proc/[0-9]*/cwd 2>/dev/null | grep -qxF "$data"
}

await_nobody() {
  tries=0
  while anybody; do
    tries=$((tries + 1))
    [ $tries -lt 200 ] || fail "processes of an earlier server are still using $data; end them first"
    sleep 0.05
  done
}

# --- Preparing -------------------------------------------------------------------------------------------------------

make_data_folder() {
  # The server's user passes through the folder above, whatever the umask says.
  case "$data" in
    /var/lib/quartet-*)
      mkdir -p -- "$(dirname "$data")"
      chmod 0755 "$(dirname "$data")" ;;
  esac
  mkdir -p -- "$data"
  chmod 0700 "$data"
  [ "$(id -un)" = "$server_user" ] || chown "$server_user" "$data"
  [ "$data" = "$folder/data" ] || printf '%s\n' "$data" >"$folder/data-path"
}

make_cluster() {
  find_data
  if [ ! -f "$data/PG_VERSION" ]; then
    if [ -e "$data" ] && [ -n "$(ls -A "$data")" ]; then
      fail "$data exists but isn't a cluster; delete it, or run: postgres.sh destroy $folder"
    fi
    make_data_folder
    sync=
    [ -z "$fast" ] || sync=--no-sync
    ctype=C
    if locale -a 2>/dev/null | grep -qix 'c.utf-\{0,1\}8'; then ctype=C.UTF-8; fi
    # shellcheck disable=SC2086 # $sync is one word or none
    (cd / && as_server_user "$bin/initdb" --pgdata="$data" --username=postgres --encoding=UTF8 --locale=C \
      --lc-ctype=$ctype --auth-local=trust --auth-host=scram-sha-256 $sync) >"$folder/initdb.log" 2>&1 || {
      cat "$folder/initdb.log" >&2
      rm -rf -- "$data"
      fail "initdb could not create a cluster in $data; see its output above"
    }
    as_server_user sh -c 'echo "include_if_exists = '\''quartet.conf'\''" >>"$1/postgresql.conf"' - "$data"
  fi
  made_by=$(cat "$data/PG_VERSION")
  if [ "$made_by" != "$newest" ]; then
    for candidate in "/usr/lib/postgresql/$made_by/bin" "/usr/pgsql-$made_by/bin"; do
      if [ -x "$candidate/postgres" ]; then bin=$candidate newest=$made_by; fi
    done
    [ "$made_by" = "$newest" ] || fail "the cluster in $data was made by PostgreSQL $made_by, which is not installed; \
install it, or delete the data: postgres.sh destroy $folder"
  fi
}

# A socket's path is limited to 107 bytes, so the socket isn't in FOLDER.
make_socket_folder() {
  socket=$(cat "$folder/socket-path" 2>/dev/null || true)
  if [ -z "$socket" ] || [ ! -d "$socket" ] || [ "$(stat -c %U "$socket")" != "$server_user" ]; then
    socket=$(mktemp -d /tmp/quartet.XXXXXX)
    chmod 0700 "$socket"
    [ "$(id -un)" = "$server_user" ] || chown "$server_user" "$socket"
    printf '%s\n' "$socket" >"$folder/socket-path"
  fi
}

write_settings() {
  {
    echo "# Overwritten by postgres.sh at each start; use ALTER SYSTEM for your own settings."
    echo "unix_socket_directories = '$socket'"
    echo "unix_socket_permissions = 0700"
    if [ -n "$port" ]; then
      echo "listen_addresses = '127.0.0.1'"
      echo "port = $port"
    else
      echo "listen_addresses = ''"
      echo "port = 5432"
    fi
    if [ -n "$fast" ]; then
      # Tests run many systems at once.
      echo "max_connections = 800"
      echo "fsync = off"
      echo "full_page_writes = off"
    else
      echo "max_connections = 200"
      echo "fsync = on"
      echo "full_page_writes = on"
    fi
    cat <<'SETTINGS'
synchronous_commit = on
shared_buffers = 256MB
random_page_cost = 1.1
jit = off
max_wal_size = 2GB
min_wal_size = 1GB
checkpoint_timeout = 15min
autovacuum_naptime = 10s
autovacuum_vacuum_cost_limit = 2000
timezone = 'UTC'
log_timezone = 'UTC'
log_line_prefix = '%m [%p] %q%u %a '
log_min_duration_statement = 1s
log_lock_waits = on
log_parameter_max_length = 0
log_parameter_max_length_on_error = 0
logging_collector = off
SETTINGS
  } | as_server_user sh -c 'cat >"$1/quartet.conf"' - "$data"
}

# Everything that changes FOLDER happens under this lock.
lock() {
  command -v flock >/dev/null 2>&1 || return 0
  exec 9>"$folder/lock"
  flock 9
}

prepare() {
  find_binaries
  make_cluster
  make_socket_folder
  write_settings
  # A killed server leaves a file with its process id, which may belong to a zombie now, or to another process after a
  # reboot. PostgreSQL wouldn't start then. No process uses the cluster, so the file can go.
  await_nobody
  rm -f -- "$data/postmaster.pid" "$socket"/.s.PGSQL.*
}

url() {
  socket=$(cat "$folder/socket-path" 2>/dev/null) || fail "there is no cluster in $folder; start it first"
  port=$(sed -n 's/^port = //p' "$data/quartet.conf")
  printf 'postgresql:///%s?host=%s&port=%s&user=%s\n' "$database" "$socket" "$port" "$role"
}

# By default, glibc returns memory to the system after every statement and requests it again for the next one. With small
# transactions, this was a fifth of a backend's time.
export MALLOC_TOP_PAD_=4194304 MALLOC_TRIM_THRESHOLD_=134217728

# --- Commands --------------------------------------------------------------------------------------------------------

start() {
  lock
  find_data
  if postmaster >/dev/null; then return 0; fi
  prepare
  (umask 077 && : >>"$folder/postgres.log")
  (cd / && as_server_user "$bin/pg_ctl" start --wait --timeout=60 --silent --pgdata="$data") \
    >>"$folder/postgres.log" 2>&1 9>&- </dev/null || {
    tail -n 20 "$folder/postgres.log" >&2
    fail "PostgreSQL did not start; the end of its log ($folder/postgres.log) is above"
  }
}

run() {
  lock
  find_data
  if postmaster >/dev/null; then fail "it is already running, as process $(postmaster)"; fi
  prepare
  exec 9>&-
  cd /
  if [ "$(id -un)" = "$server_user" ]; then exec "$bin/postgres" -D "$data"; fi
  exec setpriv --reuid "$server_user" --regid "$(id -gn "$server_user")" --init-groups -- "$bin/postgres" -D "$data"
}

follow() {
  lock
  find_data
  [ ! -e "$data/PG_VERSION" ] || fail "there is already a cluster in $folder; delete it first: postgres.sh destroy $folder"
  primary=$(cat "$1/socket-path" 2>/dev/null) || fail "there is no cluster in '$1'; start it first"
  find_binaries
  make_data_folder
  (cd / && as_server_user "$bin/pg_basebackup" --pgdata="$data" --host="$primary" --username=postgres \
    --checkpoint=fast --write-recovery-conf --no-sync)
}

stop() {
  lock
  find_data
  if postmaster >/dev/null; then
    find_binaries
    (cd / && as_server_user "$bin/pg_ctl" stop --wait --timeout=60 --silent --mode="$mode" --pgdata="$data") 9>&- ||
      fail "PostgreSQL (process $(postmaster)) did not stop within a minute"
  fi
}

destroy() {
  mode=immediate
  stop
  if [ -d "$data" ]; then
    await_nobody
    rm -rf -- "$data"
    case "$data" in /var/lib/quartet-*) rmdir -- "$(dirname "$data")" 2>/dev/null || true ;; esac
  fi
  socket=$(cat "$folder/socket-path" 2>/dev/null || true)
  case "$socket" in /tmp/quartet.*) rm -rf -- "$socket" ;; esac
  rm -f -- "$folder/data-path" "$folder/socket-path" "$folder/initdb.log" "$folder/postgres.log" "$folder/lock"
  rmdir -- "$folder" 2>/dev/null || true
}

case "$command" in
  start) start ;;
  run) run ;;
  stop) stop ;;
  destroy) destroy ;;
  follow) follow "$database" ;;
  status)
    find_data
    if pid=$(postmaster); then
      echo "running as process $pid, data in $data"
    else
      echo "not running"
      exit 3
    fi ;;
  url)
    find_data
    url ;;
esac
