import { globSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, expect, it } from 'vitest';
import { RunScene } from '../../src/daemon/runs.cases.ts';
import { about, readLedger } from '../processes/ledger.ts';
import { record } from '../processes/messages.ts';
import { until } from '../processes/until.ts';
import { World } from '../processes/world.ts';

const KEY = 'the-key-of-a-model';
const SECRETS = {
  ANTHROPIC_API_KEY: KEY,
  OPENAI_API_KEY: KEY,
  GEMINI_API_KEY: KEY,
  AWS_SECRET_ACCESS_KEY: KEY,
  BATON_GITHUB_WEBHOOK_SECRET: KEY,
};

let scene: RunScene | undefined;
afterEach(async () => {
  await scene?.end();
  scene = undefined;
});

it('a check gets no key of a client, and its log names what did not pass', async () => {
  await using world = new World({ ...SECRETS, FROM_PROJECT: 'p', FROM_CHECK_1: 'c', OTHER: 'o' });
  const run = 'env | sort; exit 1';
  const runbook = `env_pass = ["FROM_PROJECT"]\n[[ci.required]]\nname = "test"\nrun = "${run}"\nenv_pass = ["FROM_CHECK_*"]\n`;
  world.commit(world.repository, { 'baton.toml': runbook }, 'the project');
  world.git(world.repository, 'switch', '--quiet', '--create', 'feature/t');
  const head = world.commit(world.repository, { a: '1\n' }, 'work');
  world.git(world.repository, 'switch', '--quiet', 'main');
  await world.startDaemon();
  await world.order('task_create', { task_id: 't', title: 't', phase: 'READY_FOR_MERGE' });
  await world.order('thought_record', record('t', head, { branch: 'feature/t' }));
  await world.order('task_self_approve', { task_id: 't', reason: 'nobody else is here' });
  await world.order('merge_request', { task_id: 't' });
  const ended = await until('the merge has ended', async () =>
    about(await readLedger(world), 't', 'MergeFinished').at(-1),
  );
  const text = JSON.stringify(ended.data);
  expect(text).toContain('FROM_PROJECT=p');
  expect(text).toContain('FROM_CHECK_1=c');
  expect(text).not.toContain(KEY);
  const [log = ''] = globSync(join(world.stateDir, 'commands', 'merge-*', 'output.log'));
  const names = [...Object.keys(SECRETS), 'BATON_RESTART', 'OTHER'].sort().join(', ');
  const [first = ''] = readFileSync(log, 'utf8').split('\n');
  expect(first).toBe(`baton: environment variables that the agent does not get (env_pass adds them): ${names}`);
  expect(readFileSync(log, 'utf8')).not.toContain(KEY);
});

it('a prompt file that an agent edited is not read: the adopted one is', async () => {
  scene = new RunScene();
  scene.write(`
    [agents.reader]
    run = "read line; echo $line > heard.txt"
    prompt_file = "prompt.md"
    env_pass = ["SHOWN"]
    on_dead = "done"
    [pipelines.both]
    steps = [{ name = "edits", run = "cp evil.md prompt.md" }, { name = "reads", run = { agent = "reader" } }]
  `);
  writeFileSync(join(scene.repository, 'prompt.md'), 'Read this.');
  writeFileSync(join(scene.repository, 'evil.md'), 'key: ${env.AWS_SECRET_ACCESS_KEY:-none}, shown: ${env.SHOWN}');
  await scene.start({ ...SECRETS, SHOWN: 's' });
  await scene.pipeline(await scene.run('both'));
  expect(scene.lines('heard.txt')).toEqual(['Read this.']);
});
