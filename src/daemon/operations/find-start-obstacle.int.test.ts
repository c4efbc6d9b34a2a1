import { execFileSync } from 'node:child_process';
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { RunScene } from '../runs.cases.ts';

let scene: RunScene;
beforeEach(() => {
  scene = new RunScene();
});
afterEach(async () => scene.end());

const git = (...args: string[]): string => execFileSync('git', ['-C', scene.repository, ...args], { encoding: 'utf8' });

/** The answers to a request for a workflow's plan, and to a request to start it. */
async function answers() {
  await scene.start();
  const input = { name: 'issue', args: ['Add a thing'] };
  return [await scene.call('run_plan', input), await scene.call('run_start', input)];
}

const WORKERS = ['implementer', 'reviewer']
  .map((role) => `[workers.${role}s]\nroles = ["${role}"]\nworkflow = true\nrun = { agent = "coder" }\n`)
  .join('');
const CODER = `[agents.coder]\nrun = "true"\n${WORKERS}`;

describe('a workflow that could not be completed is refused', () => {
  it('if there is no branch to merge into', async () => {
    git('branch', '--move', 'trunk');
    const error = { code: 'git/no-main-branch', hint: expect.stringContaining('baton.toml') };
    for (const answer of await answers()) expect(answer).toMatchObject({ ok: false, error });
    expect(await scene.types()).not.toContain('TaskCreated');
  });

  it('if the clone is shallow: its commits could be neither checked nor merged', async () => {
    const first = git('rev-parse', 'HEAD').trim();
    git('-c', 'user.name=t', '-c', 'user.email=t@t', 'commit', '--quiet', '--allow-empty', '--message=second');
    writeFileSync(join(scene.repository, '.git/shallow'), git('rev-parse', 'HEAD'));
    rmSync(join(scene.repository, '.git/objects', first.slice(0, 2), first.slice(2)));
    const error = { code: 'git/shallow-repository', hint: expect.stringContaining('--unshallow') };
    for (const answer of await answers()) expect(answer).toMatchObject({ ok: false, error });
    expect(await scene.types()).not.toContain('TaskCreated');
  });

  it('if the reviewer would also be an author', async () => {
    scene.write(CODER);
    const error = { code: 'separation-of-duties', message: expect.stringContaining('no agent may review: coder') };
    for (const answer of await answers()) expect(answer).toMatchObject({ ok: false, error });
    expect(await scene.types()).not.toContain('TaskCreated');
  });
});

describe('a workflow starts', () => {
  it.each([
    ['into the branch that the runbook names', '[merge]\ninto = "trunk"\n'],
    ['if the runbook lets the same agent review', `${CODER}[roles]\nreviewer = { same_agent = true }\n`],
  ])('%s', async (_, runbook) => {
    git('branch', 'trunk');
    scene.write(`ci.required = []\n${runbook}[agents.issue-manager]\nrun = "true"\n`);
    for (const answer of await answers()) expect(answer).toMatchObject({ ok: true });
  });
});
