#!/bin/sh
# Checks an exported ledger with nothing of Baton: node, sha256sum and git.
#   sh verify-ledger.sh ledger.ndjson REPOSITORY
# Every entry has the hash that is written beside it and names the one before it, and every commit that the record speaks of is in the
# repository. (The signature of the checkpoint in the last line is for `baton verify`, or any other reader of C2SP checkpoints.)
set -eu
ledger=$1 repository=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

node - "$ledger" "$work" <<'EOF'
const [ledger, work] = process.argv.slice(2);
const { readFileSync, writeFileSync } = require('node:fs');
// RFC 8785, for integers: keys in their order, no spaces.
const canonical = (value) =>
  value === null || typeof value !== 'object' ? JSON.stringify(value)
  : Array.isArray(value) ? `[${value.map(canonical).join(',')}]`
  : `{${Object.keys(value).sort().map((key) => `${JSON.stringify(key)}:${canonical(value[key])}`).join(',')}}`;
const lines = readFileSync(ledger, 'utf8').trim().split('\n').map((line) => JSON.parse(line)).filter(({ entry }) => entry);
let before = '0'.repeat(64);
const sums = [];
const commits = new Set();
for (const [i, { entry, hash }] of lines.entries()) {
  if (entry.seq !== i + 1 || entry.prev !== before) throw new Error(`entry ${i + 1} does not follow the one before`);
  before = hash;
  // The leaf of an RFC 6962 tree: a zero byte, then the entry.
  writeFileSync(`${work}/${entry.seq}`, Buffer.concat([Buffer.of(0), Buffer.from(canonical(entry))]));
  sums.push(`${hash}  ${entry.seq}`);
  const { base, head, merge_sha, record } = entry.data;
  for (const sha of [base, head, merge_sha, record?.commit_sha]) if (/^[0-9a-f]{40}$/.test(sha ?? '')) commits.add(sha);
}
writeFileSync(`${work}/sums`, `${sums.join('\n')}\n`);
writeFileSync(`${work}/commits`, `${[...commits].join('\n')}\n`);
EOF

(cd "$work" && sha256sum --check --quiet sums)
while read -r commit; do
  git -C "$repository" cat-file -e "$commit^{commit}" || { echo "commit $commit is not in the repository"; exit 1; }
done < "$work/commits"
echo "$(wc -l < "$work/sums") entries and $(wc -l < "$work/commits") commits are as they were recorded"
