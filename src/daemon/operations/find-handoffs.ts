import { parseEntry } from '../../ledger/format/entry.ts';
import type { Ledger } from '../../ledger/writer/ledger.ts';
import { toRecordedEvent } from '../../state/recorded-event.ts';
import type { HandoffRef } from '../../state/workflow/workflow-event.ts';

export interface FoundHandoff extends HandoffRef {
  /** The entry that says what became of it. */
  readonly seq: number;
  readonly at: string;
  readonly status: 'held' | 'delivered' | 'dropped';
  readonly reason: string | null;
}

/** The handoffs that fit, oldest first, each as the newest entry has it: the ledger keeps them all, the state only the last. */
export async function findHandoffs(
  { store, head }: Ledger,
  fits: (handoff: HandoffRef) => boolean,
): Promise<readonly FoundHandoff[]> {
  const found = new Map<string, FoundHandoff>();
  if (head.size === 0) return [];
  for await (const batch of store.entries({ from: 1, to: head.size })) {
    for (const { bytes } of batch) {
      const handoff = readHandoff(bytes);
      if (handoff !== undefined && fits(handoff)) found.set(handoff.handoff_id, handoff);
    }
  }
  return [...found.values()];
}

const STATUS = { HandoffHeld: 'held', HandoffDelivered: 'delivered', HandoffDropped: 'dropped' } as const;

function readHandoff(bytes: Uint8Array): FoundHandoff | undefined {
  const parsed = parseEntry(bytes);
  const recorded = parsed.ok ? toRecordedEvent(parsed.value) : undefined;
  if (recorded === undefined) return undefined;
  const { type, data, seq, at } = recorded;
  if (type !== 'HandoffHeld' && type !== 'HandoffDelivered' && type !== 'HandoffDropped') return undefined;
  const reason = 'reason' in data ? data.reason : null;
  const { handoff_id, task_id, from, to, phase, next_role, xml } = data;
  return { handoff_id, task_id, from, to, phase, next_role, xml, seq, at, status: STATUS[type], reason };
}
