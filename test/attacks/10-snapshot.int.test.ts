import { writeFileSync } from 'node:fs';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { SNAPSHOT_NAME } from '../../src/daemon/loop/fold-state.ts';
import { nodeSha256, openKeyFile } from '../../src/ledger/writer/keys.ts';
import { ledgerPlace } from '../../src/ledger/writer/ledger-files.ts';
import {
  plantRow,
  replaceSnapshot,
  shorten,
  signedBy,
  snapshotFile,
  withOldNote,
} from '../processes/forged-snapshot.ts';
import { readLedger } from '../processes/ledger.ts';
import { World } from '../processes/world.ts';

let world: World;
let entries = 0;
beforeAll(async () => {
  world = new World();
});
afterAll(async () => world[Symbol.asyncDispose]());

beforeEach(async () => {
  await world.startDaemon();
  if (entries === 0) await world.order('task_create', { task_id: 'T1', title: 'earns nothing' });
  await world.order('task_create', { task_id: `T-${(entries += 1)}`, title: 'one more entry' });
  await world.endDaemon();
});

async function phaseAfterRestart(): Promise<unknown> {
  await world.startDaemon();
  const { phase } = await world.order('task_get', { task_id: 'T1' });
  await world.endDaemon();
  return phase;
}

describe('a forged snapshot', { timeout: 60_000 }, () => {
  it('under the signature of another state is named and discarded', async () => {
    await replaceSnapshot(world.ledgerFile, withOldNote);
    const forged = world.baton(['ledger', 'verify']);
    expect(forged.code).toBe(4);
    expect(forged.err).toContain(`the snapshot ${SNAPSHOT_NAME} is forged: no key of this ledger has signed it`);
    expect(await phaseAfterRestart()).toBe('IMPLEMENTATION');
    expect(world.baton(['ledger', 'verify']).code).toBe(0);
  });

  it.each([
    ['no snapshot at all', () => writeFileSync(snapshotFile(world.ledgerFile), 'rubbish')],
    ['half a snapshot', () => shorten(world.ledgerFile)],
  ])('that is %s is named and discarded', async (_, forge) => {
    forge();
    expect(world.baton(['ledger', 'verify'])).toMatchObject({ code: 4 });
    expect(await phaseAfterRestart()).toBe('IMPLEMENTATION');
  });

  it.each(['state-9', 'state-12', 'state-99'])(
    'in the database, named %s, is removed at the next start',
    async (name) => {
      await plantRow(world.ledgerFile, name, await projectOf());
      const forged = world.baton(['ledger', 'verify']);
      expect(forged.code).toBe(4);
      expect(forged.err).toContain(`the snapshot ${name} is forged`);
      expect(await phaseAfterRestart()).toBe('IMPLEMENTATION');
      expect(world.baton(['ledger', 'verify'])).toMatchObject({
        code: 0,
        out: expect.stringContaining('the snapshot matches'),
      });
    },
  );

  it('that was signed with the stolen key is named: only the sandbox keeps the key from an agent', async () => {
    const project = await projectOf();
    const signer = openKeyFile(ledgerPlace(world.stateDir, project).key);
    if (!signer.ok) throw new Error('the key cannot be read');
    await replaceSnapshot(
      world.ledgerFile,
      signedBy({ sha256: nodeSha256, project, signer: signer.value }, SNAPSHOT_NAME),
    );
    const forged = world.baton(['ledger', 'verify']);
    expect(forged.code).toBe(4);
    expect(forged.err).toContain('is forged: it is signed, but differs from the state of entries 1 to');
    expect(forged.err).toContain('remove the snapshot');
  });
});

async function projectOf(): Promise<string> {
  const [first] = await readLedger(world);
  return first?.project ?? '';
}
