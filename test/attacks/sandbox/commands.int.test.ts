import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { probeBubblewrap } from '../../../src/sandbox/probe.ts';
import { about, readLedger } from '../../processes/ledger.ts';
import { record } from '../../processes/messages.ts';
import { PATIENCE_MS } from '../../processes/run-world.ts';
import { AttackWorld } from './attack-world.ts';
import { type Attempts, findSuccesses, MUST_FAIL, readAttempts } from './must-fail.ts';

const bubblewrap = await probeBubblewrap();
const unless = bubblewrap.works ? '' : ` (NOT RUN: ${bubblewrap.reason})`;

/** The project's commands run what agents wrote, but have no session folder, secret or claim. */
const ALL = Object.entries(MUST_FAIL).filter(([what]) => !/session folder|\.git file/.test(what));

describe.skipIf(!bubblewrap.works)(`a command of the project cannot${unless}`, { timeout: PATIENCE_MS }, () => {
  let world: AttackWorld;
  let [setup, check]: Attempts[] = [];

  beforeAll(async () => {
    world = await AttackWorld.open({
      mode: 'bubblewrap',
      agents: { SETUP: 'run = "true"' },
      runbook: `
        [workspace]
        setup = "node attempts.mjs"
        [network]
        install = ["example.org"]
        [[ci.required]]
        name = "attack"
        run = "node attempts.mjs; exit 1"`,
    });
    const agent = await world.start('SETUP');
    await world.run.gone(agent);
    setup = readAttempts(world.worktreeOf('SETUP'), '');
    check = await runCheck(world);
  }, PATIENCE_MS);
  afterAll(async () => world[Symbol.asyncDispose]());

  it.each(ALL)('as the set-up of a worktree: %s', (_, names) => {
    expect(findSuccesses(setup ?? {}, names)).toEqual([]);
  });

  it('as the set-up of a worktree: change anything of the user', () => {
    expect(world.changes()).toEqual([]);
    expect(world.damagedObjects()).toEqual([]);
  });

  it.each(ALL)('as a check before a merge: %s', (_, names) => {
    expect(findSuccesses(check ?? {}, names)).toEqual([]);
  });

  it('as a check before a merge: change anything of the user', () => {
    expect(world.changes()).toEqual([]);
    expect(world.damagedObjects()).toEqual([]);
  });
});

/** Runs the attempts in a check, which has its own checkout, and returns their output. */
async function runCheck({ run }: AttackWorld): Promise<Attempts> {
  const { world, repository } = run;
  const folder = join(repository, '.worktrees/checked');
  world.git(repository, 'worktree', 'add', '--quiet', '-b', 'checked', folder);
  const head = world.commit(folder, { a: '1\n' }, 'work');
  await run.ask('task_create', { task_id: 'CHECK', title: 'x', phase: 'READY_FOR_MERGE' });
  await run.ask('thought_record', record('CHECK', head, { branch: 'checked' }));
  await run.ask('task_self_approve', { task_id: 'CHECK', reason: 'nobody else is here' });
  await run.ask('merge_request', { task_id: 'CHECK' });
  const ended = await run.until('the merge has ended', async () =>
    about(await readLedger(world), 'CHECK', 'MergeFinished').at(-1),
  );
  const [log = ''] = globSync(join(world.stateDir, 'commands', 'merge-*', 'output.log'));
  const text = log === '' ? JSON.stringify(ended.data) : readFileSync(log, 'utf8');
  const [, attempts] = /^attempts: (.*)$/m.exec(text) ?? [];
  if (attempts === undefined) throw new Error(`no attempts were made: ${text}`);
  return JSON.parse(attempts) as Attempts;
}
