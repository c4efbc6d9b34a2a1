import { setImmediate as nextTurn } from 'node:timers/promises';
import { entriesRead, type LedgerEntry } from '../../../api/operations/ledger.ts';
import type { InputOf } from '../../../api/operations/registry.ts';
import { EntryFilter } from '../../../ledger/entry-filter.ts';
import { toHex } from '../../../ledger/format/bytes.ts';
import { type Entry, parseEntry } from '../../../ledger/format/entry.ts';
import { LEDGER_LIMITS } from '../../../ledger/format/limits.ts';
import type { Store, StoredEntry } from '../../../ledger/store.ts';
import { mayReadEntry } from '../../../state/read-access.ts';
import { toRecordedEvent } from '../../../state/recorded-event.ts';
import type { State } from '../../../state/state.ts';
import { type Call, handlerFor } from '../call.ts';

/** How much of the ledger one call reads and returns, so that no call runs long. */
const LIMITS = { scanned: 10_000, bytes: 4 * 1024 * 1024, standard: 100 } as const;

export const entriesHandler = handlerFor(entriesRead, async (call) => {
  const { project, input } = call;
  await project.commandLoop.whenIdle();
  const { store, head } = project.ledger;
  const filter = new EntryFilter(
    input,
    project.read((state) => [...idsOfTask(state, input.task_id), ...idsOfRun(state, input.run_id)]),
  );
  const range = { from: input.from ?? 1, to: Math.min(input.to ?? head.size, head.size) };
  const scan = new Scan(range, input);
  const entries: LedgerEntry[] = [];
  let bytes = 0;
  for await (const stored of scan.rows(store)) {
    const entry = parseEntry(stored.bytes);
    if (!entry.ok) {
      const { code, message, hint } = entry.problems[0];
      return { ok: false, error: { code, message: `entry ${stored.seq}: ${message}`, hint } };
    }
    if (!filter.accepts(entry.value, () => decoder.decode(stored.bytes)) || !mayRead(call, entry.value)) continue;
    entries.push(entryView(entry.value, stored));
    bytes += stored.bytes.length;
    if (entries.length === (input.limit ?? LIMITS.standard) || bytes > LIMITS.bytes) break;
  }
  return { ok: true, result: { entries, next: scan.next, head: head.size } };
});

const decoder = new TextDecoder();

/** The ids of a task's agents, pipelines and decisions. The state lacks those that ended long ago. */
function idsOfTask({ agents, pipelines, decisions }: State, taskId: string | undefined): readonly string[] {
  if (taskId === undefined) return [];
  const runs = [...agents.values(), ...pipelines.values()].filter(({ task }) => task?.task_id === taskId);
  const asked = [...decisions.values()].filter((decision) => decision.taskId === taskId);
  return [...runs, ...asked].map(({ id }) => id);
}

/** The ids of everything inside a run, and of the decisions about it. */
function idsOfRun(state: State, runId: string | undefined): readonly string[] {
  if (runId === undefined) return [];
  const inside = new Set([runId]);
  for (const { id, parent } of state.pipelines.values()) if (inside.has(parent?.pipelineId ?? '')) inside.add(id);
  for (const { id, owner } of state.agents.values()) if (inside.has(owner?.pipelineId ?? '')) inside.add(id);
  for (const { id, agentId, pipelineId } of state.decisions.values())
    if (inside.has(agentId ?? '') || inside.has(pipelineId ?? '')) inside.add(id);
  return [...inside];
}

function mayRead({ project, caller }: Call, entry: Entry): boolean {
  if (caller.kind === 'operator') return true;
  const recorded = toRecordedEvent(entry);
  return recorded === undefined || project.read((state) => mayReadEntry(state, caller, recorded));
}

function entryView({ seq, at, actor, type, cause, data }: Entry, { hash }: StoredEntry): LedgerEntry {
  return { seq, at, actor, type, cause, data, hash: toHex(hash) };
}

/** Scans a range in one direction, up to the limit of one call, and knows where the next call continues. */
class Scan {
  readonly #from: number;
  readonly #to: number;
  readonly #isDown: boolean;
  #at: number;

  constructor({ from, to }: { readonly from: number; readonly to: number }, input: InputOf<'entries_read'>) {
    this.#from = from;
    this.#to = to;
    this.#isDown = input.newest_first === true;
    this.#at = this.#isDown ? to : from;
  }

  /** The first entry that was not read; null if there is none. */
  get next(): number | null {
    return this.#at >= this.#from && this.#at <= this.#to ? this.#at : null;
  }

  async *rows(store: Store): AsyncGenerator<StoredEntry> {
    for (let scanned = 0; this.next !== null && scanned < LIMITS.scanned; scanned += LEDGER_LIMITS.entriesPerBatch) {
      const rows = await this.#readBatch(store, this.#at);
      for (const row of this.#isDown ? rows.toReversed() : rows) {
        this.#at = row.seq + (this.#isDown ? -1 : 1);
        yield row;
      }
      // Lets other callers run between batches.
      await nextTurn();
    }
  }

  async #readBatch(store: Store, at: number): Promise<readonly StoredEntry[]> {
    const span = LEDGER_LIMITS.entriesPerBatch - 1;
    const range = this.#isDown
      ? { from: Math.max(this.#from, at - span), to: at }
      : { from: at, to: Math.min(this.#to, at + span) };
    const rows: StoredEntry[] = [];
    for await (const batch of store.entries(range)) rows.push(...batch);
    // Skips the rest, because a gap would be read again and again.
    if (rows.length === 0) this.#at = this.#isDown ? range.from - 1 : range.to + 1;
    return rows;
  }
}
