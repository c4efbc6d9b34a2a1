import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, it } from 'vitest';
import { BATON } from '../package/where.ts';
import { findProcesses } from '../processes/find-processes.ts';
import { ENDED, Shell } from '../processes/shell.ts';
import { until } from '../processes/until.ts';
import { startAnthropic } from '../models/anthropic.ts';
import { claudeInTerminal } from './claude-under-test.ts';
import { blocks } from './door.ts';
import { claudeHands } from './played-hands.ts';
import { playModel } from './played-model.ts';
import { shellOf } from './with-daemon.ts';
import { describeTurns } from './workflow-run.ts';
import { openWorld, type World } from './world.ts';

const ROOT = join(import.meta.dirname, '../..');
const PATIENCE_MS = 240_000;

/** `docs/tutorial.md`, command by command, for a user with an API key. */
it('the tutorial: from init to a merge, with Claude Code and a scripted model', { timeout: 600_000 }, async () => {
  await using user = await openWorld(startAnthropic, playModel(claudeHands), blocks(0));
  makeLibrary(user);
  await follow(user);
  await until('nothing runs any more', () => findProcesses(user.stateDir).length === 0);
  expect(describeTurns(user.model.asked)).toContain('reviewer: ');
});

async function follow(user: World): Promise<void> {
  const shellEnv = shellOf(claudeInTerminal, user);
  const path = `${join(user.temporary, 'bin')}:${dirname(process.execPath)}:${shellEnv['PATH']}`;
  const env = { ...shellEnv, PATH: path, BATON_STATE_DIR: user.stateDir, GIT_PAGER: 'cat' };
  await using shell = await Shell.open({ cwd: user.project, env });
  const type = async (line: string): Promise<string> => shell.types(line, ENDED, PATIENCE_MS);
  try {
    const made = await type('baton init --yes');
    expect(made).toMatch(/\n {2}checks +npm test\n/);
    expect(made).toMatch(/\n {2}agents +claude \d+\.\d+\.\d+, login: ANTHROPIC_API_KEY\n/);
    expect(made).toContain('Claude Code plays the roles, 1 check before a merge. Nothing was committed.\n');
    expect(made).toMatch(/\nDry run: passed in \d+ s\..*\n/);
    expect(user.model.asked).toEqual([]);
    await type('git add baton.toml && git commit --quiet -m "chore: add the runbook of Baton" -- baton.toml');

    const plan = await type('baton run issue "Read durations back" --plan');
    expect(plan).toMatch(/\n {2}implementer: agent implementer \(claude; /);
    expect(plan).toContain('\n  check test: npm test\n  merge: squash into main\n');
    const ran = await type('baton run issue "Read durations back"');
    expect(`${describeTurns(user.model.asked)}\n${ran}`).toMatch(/workflow-complete\n\[0\] \$ $/);

    expect(await type("git log --oneline | cut -d ' ' -f 2-")).toContain(
      '\ntask: W-00001 — Read durations back\nchore: add the runbook of Baton\nBegin\n[0]',
    );
    expect(await type('baton task diff W-00001 --stat')).toMatch(/\n {2}A src\/parse-duration\.js +\+\d+ -0\n/);
    expect(await type('npm test > /dev/null && echo "the tests pass on main"')).toContain('\nthe tests pass on main\n');
    expect(await type('baton task show W-00001')).toContain('COMPLETED');
    expect(await type('baton task log W-00001 | cat')).toContain('You must explicitly signal completion');
    expect(await type('baton costs')).toContain('implementer');
    await type('baton ledger prove W-00001 -o proof.json > /dev/null');
    expect(await type('baton verify proof.json | head -1 | cut -d , -f 1')).toContain(
      '\nproof.json: verified task proof\n',
    );
  } finally {
    await type('baton down');
  }
}

/** The original library of durations, without agents or a runbook. */
function makeLibrary({ project, home, temporary }: World): void {
  cpSync(join(ROOT, 'examples/sample'), project, { recursive: true });
  for (const name of ['agents', 'baton.toml']) rmSync(join(project, name), { recursive: true });
  writeFileSync(join(home, '.gitconfig'), '[user]\nname = Ada\nemail = ada@localhost\n');
  mkdirSync(join(temporary, 'bin'));
  const launcher = `#!/bin/sh\nexec '${process.execPath}' '${BATON}' "$@"\n`;
  writeFileSync(join(temporary, 'bin/baton'), launcher, { mode: 0o755 });
  const git = (...args: readonly string[]): Buffer =>
    execFileSync('git', ['-C', project, ...args], { env: { HOME: home, PATH: '/usr/bin:/bin' } });
  git('init', '--quiet', '--initial-branch=main');
  git('add', '--all');
  git('commit', '--quiet', '--message', 'Begin');
}
