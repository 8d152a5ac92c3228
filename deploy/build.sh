#!/bin/sh
# Runs `swift build` with the flags that all builds here share; arguments are passed to it: deploy/build.sh --product session
#
# With SwiftPM's random hashing, the flags of our traits come in another order each time, and all of our modules are compiled
# again whenever it differs. The first flag is there because SwiftPM lets a target import what it doesn't declare otherwise.
# C is optimized in debug builds, too: unoptimized, deriving a key from a password takes so long that on a busy machine people
# who sign up give up waiting.
set -eu
case " $* " in
  *' release '*) ;; # SwiftPM optimizes it more, and what comes later in a compiler's arguments would win
  *) set -- -Xcc -O1 "$@" ;;
esac
SWIFT_DETERMINISTIC_HASHING=1 exec swift build --explicit-target-dependency-import-check error "$@"
