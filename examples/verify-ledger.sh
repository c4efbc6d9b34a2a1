#!/bin/sh
# Verifies an exported ledger without Baton: with node, sha256sum and git.
#   sh verify-ledger.sh ledger.ndjson REPOSITORY
# It checks three things. Every entry has the hash beside it and names the entry before it, and all entries together have the
# root of the checkpoint in the last line, so no entry is missing. Every mission, result, record, handoff, exit signal, check
# and merge belongs to a commit, directly or through its session. Every such commit is in the repository. (It does not check
# the signature of the checkpoint: `baton verify`, or any other reader of C2SP checkpoints, does.)
set -eu
ledger=$1 repository=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

node - "$ledger" "$work" <<'EOF'
const [ledger, work] = process.argv.slice(2);
const { createHash } = require('node:crypto');
const { readFileSync, writeFileSync } = require('node:fs');
// RFC 8785, for integers: sorted keys, no spaces.
const canonical = (value) =>
  value === null || typeof value !== 'object' ? JSON.stringify(value)
  : Array.isArray(value) ? `[${value.map(canonical).join(',')}]`
  : `{${Object.keys(value).sort().map((key) => `${JSON.stringify(key)}:${canonical(value[key])}`).join(',')}}`;
const all = readFileSync(ledger, 'utf8').trim().split('\n').map((line) => JSON.parse(line));
const lines = all.filter(({ entry }) => entry);
let before = '0'.repeat(64);
const sums = [];
const commits = new Set();
const isCommit = (sha) => /^[0-9a-f]{40}$/.test(sha ?? '');
const MESSAGES = /^(SessionPrepared|SessionMeasured|ResultSubmitted|ThoughtRecorded|HandoffDelivered|AgentSessionCompleted|CheckFinished|MergeFinished)$/;
// The commit of each session, and the last commit of the gates: an entry without its own commit belongs to one of these.
const places = new Map();
const messages = [];
for (const [i, { entry, hash }] of lines.entries()) {
  if (entry.seq !== i + 1 || entry.prev !== before) throw new Error(`entry ${i + 1} does not follow the one before`);
  before = hash;
  // The leaf of an RFC 6962 tree: a zero byte, then the entry.
  writeFileSync(`${work}/${entry.seq}`, Buffer.concat([Buffer.of(0), Buffer.from(canonical(entry))]));
  sums.push(`${hash}  ${entry.seq}`);
  const { base, head, merge_sha, record, agent_id, session_id } = entry.data;
  const own = [merge_sha, head, record?.commit_sha, base].filter(isCommit);
  for (const sha of own) commits.add(sha);
  const place = /^Session/.test(entry.type) ? `session:${session_id ?? agent_id}` : entry.actor;
  if (own.length > 0) places.set(place, own[0]);
  if (MESSAGES.test(entry.type)) messages.push({ entry, own, place });
}
// The tree of RFC 6962: a one byte, then the hashes of the two halves; the size of the first half is the largest power of two.
const rootOf = (hashes) => {
  if (hashes.length === 1) return hashes[0];
  const half = 2 ** Math.floor(Math.log2(hashes.length - 1));
  return createHash('sha256').update(Buffer.of(1)).update(rootOf(hashes.slice(0, half))).update(rootOf(hashes.slice(half))).digest();
};
const [, size, root] = (all.at(-1)?.checkpoint ?? '').split('\n');
if (Number(size) !== lines.length || rootOf(lines.map(({ hash }) => Buffer.from(hash, 'hex'))).toString('base64') !== root)
  throw new Error('the entries do not have the root of the checkpoint');
const loose = messages.filter(({ own, place }) => own.length === 0 && !places.has(place));
for (const { entry } of loose) console.log(`entry ${entry.seq} (${entry.type}) is tied to no commit`);
console.log(`${messages.length - loose.length} of ${messages.length} messages are tied to commits`);
writeFileSync(`${work}/sums`, `${sums.join('\n')}\n`);
writeFileSync(`${work}/commits`, `${[...commits].join('\n')}\n`);
EOF

(cd "$work" && sha256sum --check --quiet sums)
while read -r commit; do
  git -C "$repository" cat-file -e "$commit^{commit}" || { echo "commit $commit is not in the repository"; exit 1; }
done < "$work/commits"
echo "$(wc -l < "$work/sums") entries and $(wc -l < "$work/commits") commits are as they were recorded"
