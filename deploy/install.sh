#!/bin/sh
# Installs what Quartet needs and this machine lacks. See `install.sh --help`.
set -eu

usage() {
  cat <<'TEXT'
Usage: install.sh

Looks for what Quartet is built and run with, and installs what is missing with
apt-get: a PostgreSQL server from version 15 on (the only moving part), libpq's
headers and pkg-config (Quartet talks to PostgreSQL through libpq), openssl and
curl (for `make run` and `make demo`). Says what it installs and why, asks nothing, makes no database
cluster, and says nothing when all is there. Needs root or sudo only when
something is missing.

Swift 6.3 or newer is not in apt; it says where to get it.
TEXT
}

case "${1:-}" in
  '') ;;
  -h | --help | help) usage; exit 0 ;;
  *) echo "install.sh: unknown argument '$1'; see install.sh --help" >&2; exit 2 ;;
esac

fail() {
  echo "install.sh: $*" >&2
  exit 1
}

has() { command -v "$1" >/dev/null 2>&1; }

has_server() {
  for postgres in "${PG_BIN:-/nowhere}/postgres" "$(pg_config --bindir 2>/dev/null || true)/postgres" \
    /usr/lib/postgresql/*/bin/postgres /usr/pgsql-*/bin/postgres /usr/local/pgsql/bin/postgres; do
    [ -x "$postgres" ] || continue
    [ "$("$postgres" --version | sed 's/^[^0-9]*\([0-9]*\).*$/\1/')" -lt 15 ] || return 0
  done
  return 1
}

packages= reasons=
need() { # package, reason
  packages="$packages $1"
  reasons="$reasons
  $1: $2"
}

has swift || fail "Swift is missing, which apt doesn't have. Install Swift 6.3 or newer from https://www.swift.org/install \
and run this again."
has clang || need clang "compiles the C of the libraries that Quartet is built with"
has pkg-config || need pkg-config "tells the Swift compiler where libpq is"
{ has pkg-config && pkg-config --exists libpq; } || [ -e /usr/include/postgresql/libpq-fe.h ] ||
  need libpq-dev "Quartet talks to PostgreSQL through libpq"
has psql || need postgresql-client "make psql, and the scripts that prepare a database"
has_server || need postgresql "the database, Quartet's only moving part (version 15 or newer)"
{ has flock && has setpriv; } || need util-linux "starts PostgreSQL as an unprivileged user, once"
has openssl || need openssl "makes the key that signs access tokens"
has curl || need curl "make demo, and waiting until the services are ready"
[ -n "$packages" ] || exit 0

echo "Quartet needs these packages, which are missing here:$reasons"
has apt-get || fail "this is no Debian or Ubuntu: there is no apt-get. Install the packages above, or what they are called \
here, and run this again."
sudo=
if [ "$(id -u)" -ne 0 ]; then
  has sudo || fail "installing needs root. Run as root: apt-get install$packages"
  sudo -n true 2>/dev/null || [ -t 0 ] || fail "installing needs root, and sudo asks for a password. \
Run: sudo apt-get install$packages"
  sudo=sudo
fi

apt() {
  $sudo env DEBIAN_FRONTEND=noninteractive apt-get -qq -o Dpkg::Use-Pty=0 -o DPkg::Lock::Timeout=120 "$@" </dev/null
}

echo "Installing them with apt-get."
apt update || echo "install.sh: apt-get update failed; going on with the package lists that are here" >&2

# Debian starts a cluster of its own with the server, unless told not to. We want none: what runs here stays yours.
cluster_settings=/etc/postgresql-common/createcluster.conf
case "$packages" in
  *' postgresql '* | *' postgresql')
    if [ ! -e "$cluster_settings" ]; then
      apt install --no-install-recommends postgresql-common ||
        fail "apt-get could not install postgresql-common. Its reasons are above."
    fi
    $sudo cp -p "$cluster_settings" "$cluster_settings.quartet"
    trap '$sudo mv -f "$cluster_settings.quartet" "$cluster_settings"' EXIT
    trap 'exit 1' HUP INT TERM
    echo 'create_main_cluster = false' | $sudo tee -a "$cluster_settings" >/dev/null ;;
esac

# shellcheck disable=SC2086 # a list of words
apt install --no-install-recommends $packages ||
  fail "apt-get could not install:$packages. Its reasons are above."

has_server || fail "apt's newest PostgreSQL is older than 15. Add the PostgreSQL project's packages \
(https://www.postgresql.org/download/linux/), install postgresql-15 or newer, and run this again."
echo "Installed:$packages"
