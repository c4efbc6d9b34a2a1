import { parseEntry } from '../../ledger/format/entry.ts';
import { all } from '../../ledger/store.cases.ts';
import type { Store } from '../../ledger/store.ts';
import { createKeyAddedDraft } from '../../ledger/verify/keyring.ts';
import { taskIdOf } from '../../ledger/verify/task-proof.ts';
import { verifyLedger } from '../../ledger/verify/verify-ledger.ts';
import { nodeSha256, nodeVerifier } from '../../ledger/writer/keys.ts';
import { openTestLedger, record, testSigner } from '../../ledger/writer/ledger.cases.ts';
import type { Ledger } from '../../ledger/writer/ledger.ts';
import { decide } from '../../state/decide.ts';
import { CommandLoop } from './command-loop.ts';
import { loadState } from './fold-state.ts';
import { LATER } from './request.ts';
import { CommitClock } from './speculative-state.ts';

const NOTHING = { ok: false, refusal: { code: 'nothing', message: 'nothing', hint: '' } } as const;

interface Host {
  readonly loop: CommandLoop;
  readonly ledger: Ledger;
}

export interface RacedClaims {
  readonly tasks: readonly string[];
  /** The tasks that the sessions got, and those that the ledger granted. */
  readonly granted: readonly string[];
  readonly claimed: readonly string[];
  readonly isVerified: boolean;
}

/**
 * Two daemons on one store claim the same tasks at the same time. A valid chain does not prove that each task is
 * granted once.
 */
export async function raceClaims(open: () => Promise<Store>, count: number): Promise<RacedClaims> {
  const here = await openHost(await open(), 1);
  await record(here.ledger, [createKeyAddedDraft(nodeSha256, 'demo', testSigner(2), 'system:ledger')]);
  const tasks = Array.from({ length: count }, (_, i) => `T${i}`).toSorted((a, b) => a.localeCompare(b));
  const created = tasks.map((id) =>
    here.loop.submitCommand({ kind: 'create-task', command: { id, title: 'x' } }, { kind: 'operator', name: 'ada' }),
  );
  await Promise.all(created);
  const there = await openHost(await open(), 2);
  const granted = await Promise.all([
    claimAll(here, 'a'),
    claimAll(here, 'b'),
    claimAll(there, 'c'),
    claimAll(there, 'd'),
  ]);
  const rows = await all(here.ledger.store.entries({ from: 1 }));
  const claimed = rows.flatMap(({ bytes }) => {
    const entry = parseEntry(bytes);
    return entry.ok && entry.value.type === 'TaskClaimed' ? [taskIdOf(entry.value.data) ?? ''] : [];
  });
  const options = { project: 'demo', verifier: nodeVerifier, allSignatures: true };
  const verified = await verifyLedger(here.ledger.store, options);
  for (const { ledger } of [here, there]) await ledger.close();
  const sorted = (ids: readonly string[]): string[] => ids.toSorted((a, b) => a.localeCompare(b));
  return { tasks, granted: sorted(granted.flat()), claimed: sorted(claimed), isVerified: verified.ok };
}

async function openHost(store: Store, key: number): Promise<Host> {
  const clock = new CommitClock(() => new Date());
  let loop: CommandLoop | undefined;
  const ledger = await openTestLedger({
    store,
    signer: testSigner(key),
    clock: () => clock.read(),
    onEntries: (entries) => loop?.receiveEntries(entries),
  });
  const state = await loadState(ledger);
  loop = new CommandLoop({
    ledger,
    state,
    rules: { ciGate: false, mergeGate: false },
    here: undefined,
    clock,
    onRecorded: () => {},
    onInternalError: (error) => {
      throw error;
    },
  });
  // Like a daemon, it follows every commit and catches up while its own decisions are being written.
  store.watch(() => void ledger.catchUp());
  return { loop, ledger };
}

/** Claims one task after the other, like a worker. */
async function claimAll(host: Host, worker: string): Promise<readonly string[]> {
  const granted: string[] = [];
  for (;;) {
    const id = await claimNext(host.loop, `${worker}${granted.length}`);
    if (id === undefined) return granted;
    granted.push(id);
  }
}

async function claimNext(loop: CommandLoop, sessionId: string): Promise<string | undefined> {
  const result = await loop.submit<string>({
    actor: `session:${sessionId}`,
    waitLimit: { ms: 0, otherwise: NOTHING },
    decide: ({ state, ready, rules, here }) => {
      const [task] = ready.first(state, 1);
      if (task === undefined) return LATER;
      const command = { kind: 'claim-task', command: { id: task.id, sessionId, holder: sessionId } } as const;
      const outcome = decide(state, command, { kind: 'worker', name: sessionId }, rules, here);
      return outcome.ok ? { ...outcome, answer: task.id } : outcome;
    },
  });
  return result.ok ? result.answer : undefined;
}
