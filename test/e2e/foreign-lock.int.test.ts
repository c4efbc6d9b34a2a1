import { DatabaseSync } from 'node:sqlite';
import { expect, it } from 'vitest';
import { createClient } from '../../src/api/client/connect.ts';
import { keepCall, listKept } from '../../src/api/outbox.ts';
import { stateFiles } from '../../src/api/state-folder.ts';
import { until } from '../processes/until.ts';
import { World } from '../processes/world.ts';
import { isPostgres } from '../stores/chosen.ts';

const LOCK_WAIT_MS = 700;

it.skipIf(isPostgres)('a foreign lock on one ledger delays only that project, and loses nothing', async () => {
  await using world = await World.open({ BATON_LOCK_WAIT_MS: String(LOCK_WAIT_MS) });
  await world.order('task_create', { task_id: 'T1', title: 'x' });
  const { token } = await world.order('task_claim', { task_id: 'T1', as: 'Ada' });
  const file = world.ledgerFile;
  const other = `${world.folder}/other`;
  world.git(world.folder, 'init', '--quiet', '--initial-branch=main', other);
  world.commit(other, { 'README.md': 'hello\n' }, 'first');
  const neighbour = createClient({ env: world.env, projectPath: other, autostart: false });
  await neighbour.call('task_create', { task_id: 'N0', title: 'open it' });
  const { outbox } = stateFiles(world.stateDir);

  const foreign = new DatabaseSync(file);
  foreign.exec('BEGIN IMMEDIATE');
  try {
    let isAnswered = false;
    const began = performance.now();
    const locked = world.client().call('task_create', { task_id: 'T2', title: 'y' });
    void locked.finally(() => (isAnswered = true));
    let asked = 0;
    // One at a time, because each would be blocked while the event loop is.
    for (; !isAnswered; asked += 1) {
      expect(await neighbour.call('task_create', { task_id: `N${asked + 1}`, title: 'z' })).toMatchObject({ ok: true });
      expect(await neighbour.health()).toMatchObject({ ok: true });
    }
    expect(asked).toBeGreaterThan(2);
    expect(performance.now() - began).toBeGreaterThanOrEqual(LOCK_WAIT_MS);
    const answer = await locked;
    expect(answer).toMatchObject({
      ok: false,
      error: {
        code: 'store-unavailable',
        message: expect.stringMatching(/has been locked by another process for \d+\.\d s/),
        hint: expect.stringContaining(`fuser -v ${file}`),
      },
    });
    expect(!answer.ok && answer.error.message).toContain(file);
    // Reads continue, even those that share a commit with a failing write; status reports why writes wait.
    void world.client().call('task_create', { task_id: 'T3', title: 'y' });
    expect(await world.order('status_get', {})).toMatchObject({
      store: { writable: false, reason: expect.stringContaining('locked'), hint: expect.stringContaining('fuser') },
    });
    expect(await world.client().health()).toMatchObject({
      result: { writable: false, stores: [{ writable: false, reason: expect.stringContaining(file) }] },
    });
    const input = JSON.stringify({ task_id: 'T1', reason: 'kept' });
    const call = { v: 1, operation: 'task_release', input, key: 'k', projectPath: null } as const;
    keepCall(outbox, { ...call, token: String(token), keptAt: new Date().toISOString() });
    await neighbour.deliverKept();
    expect(listKept(outbox)).toHaveLength(1);
  } finally {
    foreign.close();
    neighbour.close();
  }
  await until('the message is delivered', async () => listKept(outbox).length === 0);
  expect(await world.order('task_get', { task_id: 'T1' })).toMatchObject({ claim: null });
  expect(await world.order('status_get', {})).toMatchObject({ store: { writable: true } });
  expect(world.baton(['ledger', 'verify'])).toMatchObject({ code: 0 });
});
