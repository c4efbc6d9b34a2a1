#!/usr/bin/env bash
# Gives a checkpoint and proofs of a real ledger to the Go project's own transparency-log code. Run by hand, where Debian's
# golang-go and golang-golang-x-mod-dev are installed.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
PATH="$here/../../node_modules/.bin:$PATH" node "$here/make-sample.ts" "$folder"
GO111MODULE=off GOPATH=/usr/share/gocode GOFLAGS= GOCACHE="$folder/cache" \
  go run "$here/verify-with-go.go" "$folder/proof.json" "$folder/consistency.json"
