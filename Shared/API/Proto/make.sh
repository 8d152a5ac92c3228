#!/bin/sh
# Makes the protos and what is generated of them, for `make proto`: quartet.proto from the server's endpoints, then Swift
# and descriptors from all protos. Fields keep the numbers that quartet.proto gives them.
set -eu
cd "$(dirname "$0")/../../.."
folder=Shared/API/Proto

command -v protoc >/dev/null || {
  echo "make proto: protoc is missing; install it: apt-get install protobuf-compiler" >&2
  exit 1
}
for product in proto-files protoc-gen-swift; do deploy/build.sh --quiet --product "$product"; done
products=$(deploy/build.sh --show-bin-path)

"$products/proto-files" "$folder"
protos='quartet.proto stream.proto grpc/health/v1/health.proto grpc/reflection/v1/reflection.proto'
# shellcheck disable=SC2086
(cd "$folder" && protoc -I . --plugin="$products/protoc-gen-swift" --include_imports \
  --descriptor_set_out=../../../Services/SessionClient/GRPC/descriptors.binpb --swift_out=. \
  --swift_opt=Visibility=Public,UseAccessLevelOnImports=true,FileNaming=DropPath $protos)
# What a test compares: nothing was changed without this script.
# shellcheck disable=SC2086
(cd "$folder" && sha256sum $protos ./*.swift ../../../Services/SessionClient/GRPC/descriptors.binpb >checksums)
