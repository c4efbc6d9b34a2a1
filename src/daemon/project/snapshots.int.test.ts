import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { until } from '../../../test/processes/until.ts';
import { isPostgres } from '../../../test/stores/chosen.ts';
import { signParts } from '../../ledger/state-parts.ts';
import type { State } from '../../state/state.ts';
import { encodeState, viewState } from '../../state/state-parts.ts';
import { operator } from '../../state/say.cases.ts';
import { ENTRY_TYPES, readSnapshot, SNAPSHOT_NAME } from '../loop/fold-state.ts';
import { openBareProject } from './project.cases.ts';
import type { Project } from './project.ts';
import type { SnapshotLimits } from './snapshots.ts';

const NEVER: SnapshotLimits = { entries: 1_000_000, ms: 1e9, leastMs: 0, stopMs: 10_000 };
const OFTEN: SnapshotLimits = { ...NEVER, entries: 5 };

let stateDir: string;
const discarded: string[] = [];
beforeEach(() => {
  stateDir = mkdtempSync(join(tmpdir(), 'baton-snapshots-'));
  discarded.length = 0;
});
afterEach(() => rmSync(stateDir, { recursive: true }));

async function open(snapshotLimits: SnapshotLimits): Promise<Project> {
  const onDiscarded = (name: string, why: string): void => void discarded.push(`${name}: ${why}`);
  return openBareProject({ id: 'p', path: stateDir, stateDir, snapshotLimits, onDiscarded });
}

async function create(project: Project, ...ids: readonly string[]): Promise<void> {
  for (const id of ids) {
    const created = await project.commandLoop.submitCommand(
      { kind: 'create-task', command: { id, title: 'a task' } },
      operator,
    );
    if (!created.ok) throw new Error(`${id} was not created`);
  }
}

/** The entry of the stored snapshot; undefined if there is none. */
async function savedSeq({ ledger }: Project): Promise<number | undefined> {
  const found = await readSnapshot(ledger.store, ledger.snapshotTrust, ledger.head.size);
  return found?.ok === true ? found.state.seq : undefined;
}

/** Each part takes longer than the stop may. */
async function* slowly(parts: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  for await (const part of parts) {
    yield part;
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}

const tasksOf = (project: Project): string[] => project.read(({ tasks }: State) => [...tasks.keys()]);

// The bare projects of the tests have no replica on PostgreSQL, where snapshots are kept.
it.skipIf(isPostgres)('is written while the daemon runs, and is the state of one moment', async () => {
  const project = await open(OFTEN);
  await create(project, 'A', 'B', 'C', 'D', 'E', 'F');
  await until('a snapshot', async () => (await savedSeq(project)) !== undefined);
  const seq = (await savedSeq(project)) ?? 0;
  expect(seq).toBeGreaterThanOrEqual(5);
  // Killed: nothing is written at the end.
  await project.ledger.close();
  const next = await open(NEVER);
  expect(tasksOf(next)).toEqual(['A', 'B', 'C', 'D', 'E', 'F']);
  expect([await savedSeq(next), discarded]).toEqual([seq, []]);
  await next.close();
});

it.skipIf(isPostgres)('does not delay commits, which it does not contain', async () => {
  const project = await open(OFTEN);
  const { state: parts } = project.ledger.store;
  if (parts === undefined) throw new Error('the store keeps no snapshots');
  const write = parts.write.bind(parts);
  const begun = Promise.withResolvers<void>();
  const held = Promise.withResolvers<void>();
  parts.write = async (all) => {
    begun.resolve();
    await held.promise;
    await write(all);
  };
  await create(project, 'A', 'B', 'C', 'D', 'E');
  await begun.promise;
  const { size } = project.ledger.head;
  await create(project, 'F', 'G');
  expect(tasksOf(project)).toHaveLength(7);
  parts.write = write;
  held.resolve();
  await until('the snapshot', async () => (await savedSeq(project)) !== undefined);
  expect((await savedSeq(project)) ?? 0).toBeLessThanOrEqual(size);
  await project.close();
  const next = await open(NEVER);
  expect([tasksOf(next).length, await savedSeq(next)]).toEqual([7, next.ledger.head.size]);
  await next.close();
});

it.skipIf(isPostgres)(
  'does not keep a stop from closing the ledger, and an unfinished one does not exist',
  async () => {
    const project = await open({ ...NEVER, stopMs: 1 });
    await create(project, 'A', 'B');
    const { state: slow } = project.ledger.store;
    if (slow === undefined) throw new Error('the store keeps no snapshots');
    const write = slow.write.bind(slow);
    slow.write = async (all) => write(slowly(all));
    await project.close();
    expect(readdirSync(join(stateDir, 'projects')).filter((name) => name.includes('.state'))).toEqual([]);
    const next = await open(NEVER);
    expect(tasksOf(next)).toEqual(['A', 'B']);
    const { state: parts } = next.ledger.store;
    if (parts !== undefined) parts.write = async () => Promise.reject(new Error('the disk is full'));
    await create(next, 'C');
    await next.close();
    const last = await open(NEVER);
    expect(tasksOf(last)).toEqual(['A', 'B', 'C']);
    await create(last, 'D');
    // A part that JSON cannot render, such as one of more than 512 MiB.
    const toJSON = (): never => {
      throw new RangeError('Invalid string length');
    };
    last.read(({ tasks }) => Object.assign(tasks.get('D') ?? {}, { title: { toJSON } }));
    await last.close();
    const recovered = await open(NEVER);
    expect(tasksOf(recovered)).toEqual(['A', 'B', 'C', 'D']);
    await recovered.close();
  },
);

it.skipIf(isPostgres)(
  'of a version that knows other entries is not used: it could hide what the fold refuses',
  async () => {
    const project = await open(NEVER);
    await create(project, 'A');
    const { head, snapshotSigner, store } = project.ledger;
    const others = [[...ENTRY_TYPES, 'TaskDreamt'], ENTRY_TYPES.slice(1)];
    await project.close();
    for (const types of others) {
      const later = async function* () {
        const view = project.read((state) => viewState(state));
        for (const part of encodeState(view, types)) yield Buffer.from(part);
      };
      await store.state?.write(signParts(snapshotSigner, { name: SNAPSHOT_NAME, head }, later()));
      discarded.length = 0;
      const next = await open(NEVER);
      expect([tasksOf(next), discarded]).toEqual([['A'], [`${SNAPSHOT_NAME}: it does not fit the ledger`]]);
      await next.ledger.close();
    }
  },
);

it.skipIf(isPostgres)('that cannot be read is replaced at the next stop', async () => {
  const project = await open(NEVER);
  await create(project, 'A');
  await project.close();
  const { state: parts } = project.ledger.store;
  await parts?.write(
    (async function* () {
      yield Buffer.from('{}');
    })(),
  );
  const next = await open(NEVER);
  expect(discarded).toHaveLength(1);
  await next.close();
  const last = await open(NEVER);
  expect(await savedSeq(last)).toBe(last.ledger.head.size);
  await last.close();
});
