import { setImmediate as nextTurn } from 'node:timers/promises';
import { parseEntry } from '../../../ledger/format/entry.ts';
import { LEDGER_LIMITS } from '../../../ledger/format/limits.ts';
import type { Ledger } from '../../../ledger/writer/ledger.ts';
import type { RecordedEvent } from '../../../state/event.ts';
import { toRecordedEvent } from '../../../state/recorded-event.ts';

interface HistoryOptions {
  readonly taskId: string;
  /** Ids of the task's agents, because most of their entries do not name the task. */
  readonly agentIds?: readonly string[];
  /** Recognises the oldest entry to read. Defaults to the task's creation. */
  readonly isFirst?: (recorded: RecordedEvent) => boolean;
}

/**
 * Reads the entries of a task, oldest first in the result. Reads backwards from the newest, because people ask about
 * recent events.
 */
export async function readTaskHistory(
  { store, head }: Pick<Ledger, 'store' | 'head'>,
  { taskId, agentIds = [], isFirst = () => false }: HistoryOptions,
): Promise<readonly RecordedEvent[]> {
  const marks = [taskId, ...agentIds].map((id) => Buffer.from(JSON.stringify(id)));
  const found: RecordedEvent[] = [];
  for (let to = head.size; to > 0; to -= LEDGER_LIMITS.entriesPerBatch) {
    const from = Math.max(1, to - LEDGER_LIMITS.entriesPerBatch + 1);
    const rows: Uint8Array[] = [];
    for await (const batch of store.entries({ from, to })) rows.push(...batch.map(({ bytes }) => bytes));
    for (const bytes of rows.toReversed()) {
      const recorded = marks.some((mark) => asBuffer(bytes).includes(mark)) ? readEntry(bytes) : undefined;
      if (recorded === undefined) continue;
      found.push(recorded);
      if (isFirst(recorded) || isCreation(recorded, taskId)) return found.toReversed();
    }
    // Lets other callers run between batches.
    await nextTurn();
  }
  return found.toReversed();
}

function readEntry(bytes: Uint8Array): RecordedEvent | undefined {
  const entry = parseEntry(bytes);
  return entry.ok ? toRecordedEvent(entry.value) : undefined;
}

function isCreation({ type, data }: RecordedEvent, taskId: string): boolean {
  return type === 'TaskCreated' && data.task_id === taskId;
}

function asBuffer({ buffer, byteOffset, byteLength }: Uint8Array): Buffer {
  return Buffer.from(buffer, byteOffset, byteLength);
}
