import { ledgerExport, taskProof } from '../../../api/operations/ledger.ts';
import { parseEntry } from '../../../ledger/format/entry.ts';
import { LEDGER_LIMITS } from '../../../ledger/format/limits.ts';
import type { StoredEntry } from '../../../ledger/store.ts';
import { renderCheckpointLine, renderEntryLine } from '../../../ledger/verify/export-line.ts';
import { changesKeys } from '../../../ledger/verify/keyring.ts';
import { renderTaskProof } from '../../../ledger/verify/proof-text.ts';
import { makeTaskProof, verifyTaskProof } from '../../../ledger/verify/task-proof.ts';
import { nodeVerifier } from '../../../ledger/writer/keys.ts';
import type { CommandResult } from '../../loop/request.ts';
import { handlerFor, problemAnswer, refusalOf, submitCommand } from '../call.ts';
import { type ReadableStore, readInTurns } from './read-in-turns.ts';

const LIMITS = { standard: 1000, bytes: 4 * 1024 * 1024 } as const;

/** Returns the stored bytes unchecked. The reader verifies them, and must be able to find what is wrong. */
export const exportHandler = handlerFor(ledgerExport, async ({ project, input }) => {
  const { from = 1, limit = LIMITS.standard } = input;
  const store = readInTurns(project.ledger.store);
  const newest = await store.findCheckpoint();
  const rows = newest === undefined ? [] : await readPart(store, { from, to: newest.size, limit });
  const last = rows.at(-1);
  if (last === undefined) return { ok: true, result: { lines: [], next: null, checkpoint: newest?.note ?? null } };
  const lines = renderLines(rows, await hasKeyChange(store, from));
  const next = last.seq < (newest?.size ?? 0) ? last.seq + 1 : null;
  return { ok: true, result: { lines, next, checkpoint: last.note ?? null } };
});

interface Part {
  readonly from: number;
  readonly to: number;
  readonly limit: number;
}

/** Reads whole commits: the part ends with a signed checkpoint. A commit has at most 1,000 entries and 4 MiB. */
async function readPart(store: ReadableStore, { from, to, limit }: Part): Promise<readonly StoredEntry[]> {
  const rows: StoredEntry[] = [];
  let bytes = 0;
  if (from > to) return rows;
  for await (const batch of store.entries({ from, to })) {
    for (const row of batch) {
      rows.push(row);
      bytes += row.bytes.length;
      if (row.note !== undefined && (rows.length >= limit || bytes >= LIMITS.bytes)) return rows;
    }
  }
  return rows;
}

/** Renders the lines of `baton ledger export`. A commit that changes the keys is followed by its checkpoint. */
function renderLines(rows: readonly StoredEntry[], isChanged: boolean): string[] {
  let keysChanged = isChanged;
  return rows.flatMap((row, i) => {
    const line = renderEntryLine(decoder.decode(row.bytes), row.hash);
    keysChanged ||= changesKeysIn(row);
    if (row.note === undefined) return [line];
    const isShown = keysChanged && i + 1 < rows.length;
    keysChanged = false;
    return isShown ? [line, renderCheckpointLine(row.note)] : [line];
  });
}

const decoder = new TextDecoder();

/** Whether the commit that contains `from` has changed the keys before it. */
async function hasKeyChange(store: ReadableStore, from: number): Promise<boolean> {
  for (let at = from - 1, left = LEDGER_LIMITS.entriesPerCommit; at > 0 && left > 0; at -= 1, left -= 1) {
    for await (const [row] of store.entries({ from: at, to: at })) {
      if (row === undefined || row.note !== undefined) return false;
      if (changesKeysIn(row)) return true;
    }
  }
  return false;
}

/** The first entry adds the first key, which needs no checkpoint of its own. */
function changesKeysIn({ seq, bytes }: StoredEntry): boolean {
  const entry = seq > 1 && decoder.decode(bytes).includes('"type":"Key') ? parseEntry(bytes) : undefined;
  return entry?.ok === true && changesKeys(entry.value.type);
}

export const proofHandler = handlerFor(taskProof, async (call) => {
  const { project, input } = call;
  const settled = await submitCommand(call, { kind: 'count-task', command: { taskId: input.task_id } });
  // A ledger of version 1 has no numbers yet, and its proof no count.
  if (!settled.ok && !isAboveLevel(settled)) return refusalOf(settled);
  const proof = await makeTaskProof(readInTurns(project.ledger.store), nodeVerifier, project.id, input.task_id);
  if (!proof.ok) return problemAnswer(proof.problems[0]);
  // A proof that does not verify is never sent.
  const holds = await verifyTaskProof(nodeVerifier, renderTaskProof(proof.value));
  return holds.ok ? { ok: true, result: proof.value } : problemAnswer(holds.problems[0]);
});

function isAboveLevel(settled: Extract<CommandResult<unknown>, { ok: false }>): boolean {
  return 'refusal' in settled && settled.refusal.code === 'above-level';
}
