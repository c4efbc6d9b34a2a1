import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { main } from '../../src/cli/main.ts';
import { SNAPSHOT_NAME } from '../../src/daemon/loop/fold-state.ts';
import { RunScene } from '../../src/daemon/runs.cases.ts';
import { replaceSnapshot, withOldNote } from '../processes/forged-snapshot.ts';

const scene = new RunScene();
afterAll(async () => scene.end());

async function verify(): Promise<{ readonly code: number; readonly out: string; readonly err: string }> {
  const said = { out: '', err: '' };
  const code = await main(['ledger', 'verify'], {
    env: { BATON_STATE_DIR: scene.stateDir },
    cwd: scene.repository,
    isTerminal: false,
    out: (text) => void (said.out += text),
    err: (text) => void (said.err += text),
    readInput: async () => new Uint8Array(0),
  });
  return { code, ...said };
}

it('a forged snapshot that marks a task done is named by verify and discarded by the daemon', async () => {
  await scene.start();
  await scene.ask('task_create', { task_id: 'T1', title: 'earns nothing' });
  await scene.stop();
  expect(await verify()).toMatchObject({
    code: 0,
    out: expect.stringMatching(/fold: \d+ entries folded again in \d+\.\d\d s; the snapshot matches$/m),
  });
  await replaceSnapshot(scene.ledgerFile, withOldNote);
  const forged = await verify();
  expect(forged).toMatchObject({ code: 4, out: '' });
  expect(forged.err).toContain(`Error: the snapshot ${SNAPSHOT_NAME} is forged: no key of this ledger has signed it [`);
  await scene.start();
  expect(await scene.ask('task_get', { task_id: 'T1' })).toMatchObject({ phase: 'IMPLEMENTATION', status: 'todo' });
  expect(readFileSync(join(scene.stateDir, 'daemon.log'), 'utf8')).toContain('a snapshot was discarded');
});
