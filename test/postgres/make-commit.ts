import type { JsonObject } from '../../src/ledger/format/canonical-json.ts';
import { linkDrafts } from '../../src/ledger/format/chain.ts';
import { type PreparedDraft, prepareDraft } from '../../src/ledger/format/draft.ts';
import type { Commit, Head } from '../../src/ledger/store.ts';
import { nodeSha256 } from '../../src/ledger/writer/keys.ts';

/** A commit of real entries after `after`. Its checkpoint is unsigned, because stores do not read it. */
export function makeCommit(project: string, after: Head, ...data: readonly [JsonObject, ...JsonObject[]]): Commit {
  const drafts = data.map(draftOf);
  const [first, ...rest] = linkDrafts(nodeSha256, project, '2026-11-15T00:00:00.000Z', after, drafts);
  if (first === undefined) throw new Error('A commit has at least one entry.');
  const size = after.size + data.length;
  return {
    after,
    entries: [first.stored, ...rest.map(({ stored }) => stored)],
    tiles: [],
    checkpoint: { size, note: `baton/${project}\n${size}\n` },
  };
}

export function headOf({ entries }: Commit): Head {
  const last = entries.at(-1) ?? entries[0];
  return { size: last.seq, hash: last.hash };
}

function draftOf(data: JsonObject): PreparedDraft {
  const draft = prepareDraft({ actor: 'system:test', type: 'TestRan', data }, { position: 0, size: 0 });
  if (!draft.ok) throw new Error(draft.problems[0].message);
  return draft.value;
}
