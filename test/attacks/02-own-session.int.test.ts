import { spawnSync } from 'node:child_process';
import { expect, it } from 'vitest';
import { EXIT_PROTOCOL } from '../processes/hand-work.ts';
import { about, readLedger } from '../processes/ledger.ts';
import { exitSignal, record } from '../processes/messages.ts';
import { until } from '../processes/until.ts';
import { World } from '../processes/world.ts';

/** What Gemini CLI sets for every command of its shell, also in a session that a person started. */
const GEMINI = {
  GIT_CONFIG_GLOBAL: '/dev/null',
  GIT_CONFIG_SYSTEM: '/dev/null',
  GIT_CONFIG_NOSYSTEM: '1',
  GIT_CONFIG_COUNT: '2',
  GIT_CONFIG_KEY_0: 'core.fsmonitor',
  GIT_CONFIG_VALUE_0: '',
  GIT_CONFIG_KEY_1: 'core.hooksPath',
  GIT_CONFIG_VALUE_1: '',
};
const COMMIT = 'commit --quiet --allow-empty -m late';
const PLANT = 'echo mine >backdoor.txt; git add --all;';
/** No configuration stops these commands. */
const PLUMBING = [
  'git update-ref $(git symbolic-ref HEAD) $(git commit-tree -p HEAD -m late $(git write-tree))',
  `git -c core.hooksPath=/dev/null -c commit.gpgSign=false ${COMMIT}`,
];

it('a reviewer in a client of its own commits after its verdict: git refuses it, or it is not merged', async () => {
  await using world = await World.open(EXIT_PROTOCOL);
  await world.order('task_create', { task_id: 'W-1', title: 'w' });
  const ada = await world.agent('ada');
  await ada.do('task_claim', { task_id: 'W-1', as: 'ada' });
  const { path, branch } = await ada.do('task_worktree');
  const tree = String(path);
  const work = world.commit(tree, { 'work.txt': 'work\n' }, 'work');
  await ada.do('thought_record', record('W-1', work, { branch }));
  await ada.do('exit_signal', exitSignal('IMPLEMENTATION'));
  await ada.do('task_claim', { as: 'ci' });
  await ada.do('exit_signal', exitSignal('CI_PENDING'));
  const cleo = await world.agent('cleo');
  await cleo.do('task_claim', { as: 'cleo' });
  await cleo.do('exit_signal', exitSignal('REVIEW'));

  const run = (command: string) => {
    const ran = spawnSync('sh', ['-c', command], { cwd: tree, env: { ...world.env, ...GEMINI }, encoding: 'utf8' });
    return { code: ran.status, said: ran.stderr };
  };
  for (const git of ['git', '"$(command -v git)"', 'git -c core.hooksPath=/dev/null']) {
    expect(run(`${git} ${COMMIT}`)).toMatchObject({ code: 128, said: expect.stringContaining('claim ended: W-1') });
    expect(world.git(tree, 'rev-parse', 'HEAD')).toBe(work);
  }
  for (const command of PLUMBING) expect(run(`${PLANT} ${command}`)).toMatchObject({ code: 0 });
  const late = world.git(tree, 'rev-parse', 'HEAD');
  expect(world.git(tree, 'rev-list', '--count', `${work}..HEAD`)).toBe('2');

  // The merge is of the reviewed commit.
  const dan = await world.agent('dan');
  await dan.do('task_claim', { task_id: 'W-1', as: 'dan' });
  await dan.do('merge_request', { task_id: 'W-1' });
  const merged = await until('the merge has ended', async () =>
    about(await readLedger(world), 'W-1').find(({ type }) => type === 'MergeFinished'),
  );
  expect(merged.data).toMatchObject({ outcome: 'merged', head: work });
  expect(world.git(world.repository, 'rev-parse', 'main^{tree}')).toBe(world.git(tree, 'rev-parse', `${work}^{tree}`));
  expect(world.tryGit(world.repository, 'merge-base', '--is-ancestor', late, 'main')).toMatchObject({ code: 1 });
});
