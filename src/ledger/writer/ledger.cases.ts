import { createPrivateKey } from 'node:crypto';
import type { Signer } from '../format/crypto.ts';
import type { Draft } from '../format/draft.ts';
import { MemoryStore } from '../memory-store.ts';
import { nodeVerifier, signerOf } from './keys.ts';
import type { OutsideCopy } from './ledger-files.ts';
import type { Ledger, LedgerOptions } from './ledger.ts';
import { taskIdOf } from '../verify/task-proof.ts';
import { openLedger } from './open.ts';

/** The fixtures of ledger tests: keys that are the same in every run, and a clock that only tests advance. */
export function testSigner(number = 1): Signer {
  const seed = Buffer.alloc(32, number);
  const der = Buffer.concat([Buffer.from('302e020100300506032b657004220420', 'hex'), seed]);
  return signerOf(createPrivateKey({ key: der, format: 'der', type: 'pkcs8' }));
}

export function testOptions(changes: Partial<LedgerOptions> = {}): LedgerOptions {
  let now = Date.UTC(2026, 0, 1);
  return {
    store: new MemoryStore(),
    project: 'demo',
    signer: testSigner(),
    verifier: nodeVerifier,
    outside: new MemoryOutsideCopy(),
    clock: () => new Date((now += 1)),
    ...changes,
  };
}

export async function openTestLedger(changes: Partial<LedgerOptions> = {}): Promise<Ledger> {
  const opened = await openLedger(testOptions(changes));
  if (!opened.ok) throw new Error(opened.problem.message);
  return opened.ledger;
}

export function testDraft(number: number, taskId = 'T001'): Draft {
  return {
    actor: 'session:s-1',
    type: 'TaskUpdated',
    cause: 1,
    data: { task_id: taskId, progress: number, notes: `Schritt ${number} — done ✓` },
  };
}

/** Adds the numbers of entries of version 2. `last` keeps the last number of each task. */
export function numberDrafts(last: Map<string, number>, drafts: readonly Draft[]): Draft[] {
  return drafts.map((draft) => {
    const id = taskIdOf(draft.data) ?? '';
    const number = (last.get(id) ?? 0) + 1;
    last.set(id, number);
    return { ...draft, tasks: { [id]: number } };
  });
}

/** Counts the entries of a task, as `baton ledger prove` does. */
export function countDraft(last: Map<string, number>, taskId: string): Draft {
  const data = { task_id: taskId, last: (last.get(taskId) ?? 0) + 1 };
  const [draft] = numberDrafts(last, [{ actor: 'operator:ada', type: 'TaskCounted', data }]);
  if (draft === undefined) throw new Error('there is one draft');
  return draft;
}

/** Appends, and throws if the append is refused. */
export async function record(ledger: Ledger, drafts: readonly Draft[]): Promise<void> {
  const recorded = await ledger.append(drafts);
  if (!recorded.ok) throw new Error('problem' in recorded ? recorded.problem.message : 'a conflict');
}

export class MemoryOutsideCopy implements OutsideCopy {
  #note: string | undefined;

  constructor(note?: string) {
    this.#note = note;
  }

  read(): string | undefined {
    return this.#note;
  }

  write(note: string): void {
    this.#note = note;
  }

  sync(): void {}

  close(): void {}
}
