import { parseEntry, type Entry } from '../ledger/entry.ts';
import { LEDGER_SEALED, sealLedger } from '../ledger/seal.ts';
import type { Log } from './log.ts';
import type { Project } from './project.ts';

/** The end of a workflow is sealed: from then on what led to it cannot be told otherwise. */
export async function sealWorkflows(project: Project, entries: readonly Entry[], log: Log): Promise<void> {
  if (entries.some(isClosing)) await sealNow(project, log);
}

/** A daemon that was killed between the end of a workflow and its seal owes it: the next one makes up for it. */
export async function sealLost(project: Project, log: Log): Promise<void> {
  const { store, head } = project.ledger;
  let [closed, sealed] = [0, 0];
  for await (const batch of store.entries({ from: Math.max(1, head.size - RECENT + 1), to: head.size })) {
    for (const { bytes } of batch) {
      const entry = parseEntry(bytes);
      if (!entry.ok) continue;
      const { type, seq, data } = entry.value;
      if (isClosing(entry.value)) closed = seq;
      else if (type === LEDGER_SEALED) sealed = Number(data['size']);
    }
  }
  if (closed > sealed) await sealNow(project, log);
}

/** What was lost is near the end: nothing is recorded while a daemon is away. */
const RECENT = 1_000;

/** Two ends at once take turns, and so do they with a person who seals. */
async function sealNow({ keeper, ledger, id }: Project, log: Log): Promise<void> {
  for (let tries = 0; tries < MOST_TRIES; tries += 1) {
    // What belongs to the same moment is sealed with it.
    await keeper.idle();
    const sealed = await sealLedger(ledger, 'system:workflow');
    if (sealed.ok) return;
    if (sealed.problem.code !== 'ledger/sealing') {
      log.error('the end of a workflow could not be sealed', { project: id, cause: sealed.problem.message });
      return;
    }
    await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
  }
  log.error('the end of a workflow could not be sealed', { project: id, cause: 'another seal takes too long' });
}

const RETRY_MS = 50;
const MOST_TRIES = 600;

function isClosing({ type, data }: Entry): boolean {
  return (
    type === 'PhaseMoved' && data['from'] === 'COMPLETED' && data['to'] === 'COMPLETED' && data['next_role'] === null
  );
}
