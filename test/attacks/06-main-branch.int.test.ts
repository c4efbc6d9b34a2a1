import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, expect, it } from 'vitest';
import { RunScene } from '../../src/daemon/runs.cases.ts';
import { until } from '../../src/daemon/running.cases.ts';
import { REAL_GIT } from '../processes/real-git.ts';

/**
 * Variants of attack 6, without a sandbox. `src/git/fence/fence-refs.int.test.ts` tests the fence itself, ref by ref.
 */
let scene: RunScene;

const GIT = `env -i ${REAL_GIT} -c user.name=e -c user.email=e@e`;

async function open(attack: string): Promise<void> {
  scene = new RunScene();
  scene.write(`
    [merge]
    method = "squash"
    [agents.thief]
    run = "scripted thief.yaml"
    sandbox = "none"
    [workers.w]
    tasks = ["EVIL"]
    run = { agent = "thief" }`);
  writeFileSync(join(scene.repository, 'thief.yaml'), attack);
  git('add', '--all');
  git('commit', '-q', '-m', 'a runbook');
  await scene.start();
  await scene.ask('task_create', { task_id: 'EVIL', title: 'The attack' });
}

afterEach(async () => scene.end());

it('detects a move that was made while the daemon was away', { timeout: 60_000 }, async () => {
  await open(`
- write: { path: ../../ready.txt, text: ready }
- run: while ! test -e ../../go.txt; do sleep 0.05; done
- run: ${GIT} -C ../.. commit -q --allow-empty -m evil
- write: { path: ../../done.txt, text: done }
- hang
`);
  await until(() => has('ready.txt'), 'the agent runs');
  await scene.stop();
  writeFileSync(join(scene.repository, 'go.txt'), '');
  await until(() => has('done.txt'), 'the agent has moved main');
  await scene.start();
  await until(async () => (await asked()).length === 1, 'a person is asked');
  expect((await moves()).at(-1)).toMatchObject({ new: git('rev-parse', 'main'), sessions: [{ task_id: 'EVIL' }] });
});

it('detects that another branch is declared the main branch', { timeout: 60_000 }, async () => {
  await open(`
- run: git switch -q -c evil
- run: git -c user.name=e -c user.email=e@e commit -q --allow-empty -m evil
- run: git update-ref refs/remotes/origin/evil HEAD
- run: git symbolic-ref refs/remotes/origin/HEAD refs/remotes/origin/evil
- hang
`);
  await until(async () => (await asked()).length === 1, 'a person is asked');
  expect((await moves()).at(-1)).toMatchObject({ branch: 'evil', previous_branch: 'main', fast_forward: false });
});

it(
  'detects rewritten history, and asks nothing about commits without a live session',
  { timeout: 60_000 },
  async () => {
    await open('- run: "true"\n- signal: complete\n- stop\n');
    await until(async () => (await types()).includes('AgentExited'), 'the session has ended');
    // The watch has seen the branch again, so later moves are not attributed to the session.
    await until(lookedSince, 'the branch was seen after the session');
    git('commit', '-q', '--allow-empty', '-m', 'by a person');
    await until(async () => (await moves()).length === 2, 'the commit is recorded');
    expect((await moves()).at(-1)).toMatchObject({ fast_forward: true, sessions: [] });
    expect(await asked()).toEqual([]);
    git('commit', '-q', '--amend', '--allow-empty', '-m', 'rewritten');
    await until(async () => (await asked()).length === 1, 'a person is asked');
    expect((await moves()).at(-1)).toMatchObject({ fast_forward: false, sessions: [] });
  },
);

function git(...args: string[]): string {
  const author = ['-c', 'user.name=t', '-c', 'user.email=t@t'];
  return execFileSync('git', ['-C', scene.repository, ...author, ...args], { encoding: 'utf8' }).trim();
}

function has(file: string): boolean {
  return existsSync(join(scene.repository, file));
}

/** A file in the state folder records when the branch was last seen without a live session. */
async function lookedSince(): Promise<boolean> {
  const exited = (await scene.entries()).find(({ type }) => type === 'AgentExited');
  const folder = join(scene.stateDir, 'main-seen');
  const [file = ''] = existsSync(folder) ? readdirSync(folder).filter((name) => !name.endsWith('.draft')) : [];
  const seen = file === '' ? { at: '' } : JSON.parse(readFileSync(join(folder, file), 'utf8'));
  return exited !== undefined && seen.at > exited.at;
}

async function asked(): Promise<readonly { readonly source: string }[]> {
  const { needs_you } = await scene.ask<{ needs_you: { source: string }[] }>('status_get');
  return needs_you.filter(({ source }) => source === 'integrity');
}

// oxlint-disable-next-line typescript/no-explicit-any -- Whatever stands in the ledger.
async function moves(): Promise<Record<string, any>[]> {
  return (await scene.entries()).filter(({ type }) => type === 'MainMoved').map(({ data }) => data);
}

async function types(): Promise<string[]> {
  return (await scene.entries()).map(({ type }) => type);
}
