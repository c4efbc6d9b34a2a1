import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { RunScene, type Told } from '../../src/daemon/runs.cases.ts';
import { until } from '../../src/daemon/running.cases.ts';
import { inLongLane } from '../lanes.ts';

const world = new RunScene();
const script = join(world.scene.folder, 'agent.yaml');
const secondScript = join(world.scene.folder, 'other.yaml');

const RECORD = `printf '{"task_id":"T1","branch":"feature/t1","commit_sha":"%s","tests_run":[],"summary":"one","blockers":[],"files_changed":["a.txt"],"related_thought_records":[]}' $(git rev-parse HEAD) | baton thought record -`;

/** Sets the next session's work, and its report of that work. */
function play(steps: readonly object[], files_modified: readonly object[]): void {
  const at = '2026-01-01T00:00:00Z';
  const log = ['did it', 'nothing else'].map((message) => ({ level: 'info', message, timestamp: at }));
  const result = { version: '1', task_id: 'T1', status: 'completed', files_modified, log, completed_at: at };
  const file = '.baton/session/result.yaml';
  const handsIn = [{ write: { path: file, text: JSON.stringify(result) } }, { result: file }];
  writeFileSync(script, JSON.stringify({ steps: [...steps, ...handsIn, { exit: 'IMPLEMENTATION' }, 'stop'] }));
}

async function nextMeasured(count: number): Promise<Told['data'] | undefined> {
  let measured: readonly Told[] = [];
  await until(async () => {
    measured = (await world.entries()).filter(({ type }) => type === 'SessionMeasured');
    return measured.length === count;
  }, `${count} sessions are measured`);
  return measured.at(-1)?.data;
}

beforeAll(async () => {
  world.write(`
    exit_protocol = true
    limits = { max_files = 1, kill_after = "500ms" }
    [agents.a]
    run = "scripted ${script}"
    on_dead = "fail"
    on_stop = { action = "signal", attempts = 1 }
    requires = ["exit", "result"]
    [agents.b]
    run = "scripted ${secondScript}"
    on_dead = "escalate"
    [workers.w]
    tasks = ["T1"]
    phases = ["IMPLEMENTATION"]
    run = { agent = "a" }
    [workers.v]
    tasks = ["T2"]
    run = { agent = "b" }`);
  await world.start();
}, 60_000);
afterAll(async () => world.end());

inLongLane(() => {
  it('work that broke a constraint is not accepted in the next session, unless it is reverted', async () => {
    const write = (path: string): object => ({ write: { path, text: 'x' } });
    play(
      [write('a.txt'), write('b.txt'), { commit: 'one' }, { run: RECORD }],
      ['a.txt', 'b.txt'].map((path) => ({ path, action: 'created' })),
    );
    await world.ask('task_create', { task_id: 'T1', title: 'x' });
    const tooMany = ['max_files: 2 files differ from the base, 1 allowed'];
    const first = await nextMeasured(1);
    expect(first).toMatchObject({ violations: tooMany, file_count: 2 });
    // It changes nothing and reports so correctly; the earlier files are still there.
    play([], []);
    await world.ask('task_unblock', { task_id: 'T1', reason: 'try again' });
    expect(await nextMeasured(2)).toMatchObject({ violations: tooMany, file_count: 0, base: first?.['head'] });
    expect(await world.ask('task_get', { task_id: 'T1' })).toMatchObject({ phase: 'BLOCKED' });
    play(
      [{ run: 'git rm -q b.txt' }, { commit: 'take it back' }, { run: RECORD }],
      [{ path: 'b.txt', action: 'deleted' }],
    );
    await world.ask('task_unblock', { task_id: 'T1', reason: 'one of them is enough' });
    expect(await nextMeasured(3)).toMatchObject({ violations: [], file_count: 1 });
    await until(
      async () => (await world.ask<{ phase: string }>('task_get', { task_id: 'T1' })).phase === 'CI_PENDING',
      'it goes on',
    );
    const since = (await world.entries())
      .filter(({ type }) => type === 'SessionPrepared')
      .map(({ data }) => data['since'] ?? null);
    expect(since).toEqual([null, first?.['base'], first?.['base']]);
  }, 120_000);
});

it('a restarted agent gets fresh forms, not those that its predecessor has used', async () => {
  const look = 'grep -qs USED .baton/session/result.yaml && echo used >> forms.txt || echo fresh >> forms.txt';
  const steps = [{ run: `${look}; echo USED > .baton/session/result.yaml` }, { crash: 1 }];
  writeFileSync(secondScript, JSON.stringify({ steps }));
  await world.ask('task_create', { task_id: 'T2', title: 'y' });
  const asked = async (): Promise<Asked | undefined> =>
    (await world.ask<{ decisions: readonly Asked[] }>('decision_list')).decisions.find(
      ({ source }) => source === 'dead',
    );
  await until(async () => (await asked()) !== undefined, 'its first process has ended');
  const first = await asked();
  const option = first?.options.find(({ action }) => action === 'retry')?.n;
  await world.ask('decision_resolve', { id: first?.id, option });
  await until(async () => ![undefined, first?.id].includes((await asked())?.id), 'its second process has ended');
  const prepared = (await world.entries()).findLast(({ type }) => type === 'SessionPrepared');
  expect(readFileSync(join(String(prepared?.data['workspace']), 'forms.txt'), 'utf8')).toBe('fresh\nfresh\n');
}, 60_000);

interface Asked {
  readonly id: string;
  readonly source: string;
  readonly options: readonly { readonly n: number; readonly action: string }[];
}
