import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { ResultOf } from '../../../api/operations/registry.ts';
import { createClient } from '../../../api/client/connect.ts';
import { writeProjectPath } from '../../../api/project-list.ts';
import { restoreState } from '../../../state/json-form.ts';
import { RunScene } from '../../runs.cases.ts';

/** One daemon for all: these operations change nothing. */
let world: RunScene;
beforeAll(async () => {
  world = new RunScene();
  await world.start();
  for (const task_id of ['A', 'B']) await world.ask('task_create', { task_id, title: `do ${task_id}` });
});
afterAll(async () => world.end());

describe('projects_list', () => {
  it('lists every project without opening one, and no project that is not open looks calm', async () => {
    const gone = join(world.stateDir, 'gone');
    writeProjectPath(world.stateDir, 'other', gone);
    await world.restart();
    await world.ask('task_list');
    const { projects } = await world.ask<ResultOf<'projects_list'>>('projects_list');
    expect(projects).toMatchObject([
      {
        id: world.project,
        path: world.repository,
        is_open: true,
        all_clear: true,
        needs: 0,
      },
      { id: 'other', name: 'gone', path: gone, is_open: false, seq: null, needs: 1, all_clear: false },
    ]);
    expect(projects[1]?.summary).toBe(`Unknown: its folder is missing: ${gone}`);
    expect(projects[0]?.seq).toBe((await world.ask<ResultOf<'ledger_head'>>('ledger_head')).size);
  });

  it('needs no project in the request, and is for operators', async () => {
    const client = createClient({ stateDir: world.stateDir, env: world.scene.env, projectPath: '/', autostart: false });
    expect(await client.call('projects_list', {})).toMatchObject({ ok: true });
    client.close();
    const { token } = await world.ask<ResultOf<'task_claim'>>('task_claim', { task_id: 'A', as: 'ada' });
    expect(await world.call('projects_list', {}, token)).toMatchObject({ ok: false, error: { code: 'forbidden' } });
  });
});

describe('state_snapshot', () => {
  it('returns the state of the newest entry, with its hash', async () => {
    const { seq, hash, state } = await world.ask<ResultOf<'state_snapshot'>>('state_snapshot');
    expect({ size: seq, hash }).toEqual(await world.ask('ledger_head'));
    expect([...restoreState(state).tasks.keys()]).toEqual(['A', 'B']);
  });
});
