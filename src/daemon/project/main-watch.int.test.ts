import { chmodSync, existsSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import { findUpstream } from '../../git/main-branch.ts';
import { Scratch } from '../../git/scratch.cases.ts';
import type { Command } from '../../state/decide.ts';
import { findMain, type MainBranchState } from '../../state/main/main-branch.ts';
import type { Decision } from '../../state/runs/decision.ts';
import * as runs from '../../state/runs/say.cases.ts';
import { openBareProject } from './project.cases.ts';
import type { Project } from './project.ts';

const scratch = new Scratch();
afterAll(() => scratch.remove());

let count = 0;
let repo: string;
let project: Project;

beforeEach(async () => {
  count += 1;
  repo = scratch.repository(`repo${count}`);
  scratch.git(repo, 'remote', 'add', 'origin', scratch.bare(`up${count}.git`));
  scratch.git(repo, 'push', '--quiet', 'origin', 'main');
  project = await open();
  await project.mainWatch.poll();
  return async () => project.close();
});

describe('the watch on the main branch', () => {
  it('records commits and pulls of people without a decision', async () => {
    const [first, second] = [scratch.git(repo, 'rev-parse', 'HEAD'), scratch.commit(repo, { a: '1' })];
    await project.mainWatch.poll();
    scratch.git(repo, 'pack-refs', '--all');
    await project.mainWatch.poll();
    const third = scratch.commit(repo, { a: '2' });
    await project.mainWatch.poll();
    expect((await moves()).map(({ old, new: now, fast_forward }) => [old, now, fast_forward])).toEqual([
      [null, first, true],
      [first, second, true],
      [second, third, true],
    ]);
    expect(await decisions()).toEqual([]);
  });

  it('opens a decision about a commit made while an agent ran, and shows it', async () => {
    await startAgent();
    const sha = scratch.commit(repo, { 'evil.ts': '1\n' }, 'not reviewed');
    await project.mainWatch.poll();
    const [decision] = await decisions();
    expect(decision).toMatchObject({ source: 'integrity', result: null });
    for (const part of [sha, 'Ada <ada@example.org> (1)', 'evil.ts | 1 +', 'coder', 'not on the upstream branch'])
      expect(decision?.context).toContain(part);
    scratch.commit(repo, { 'evil.ts': '2\n' });
    await project.mainWatch.poll();
    // Another commit changes the question, so another decision replaces it.
    expect((await decisions()).map(({ result }) => result?.kind ?? 'open')).toEqual(['withdrawn', 'open']);
    scratch.git(repo, 'reset', '--quiet', '--hard', 'HEAD~2');
    await project.mainWatch.poll();
    expect((await decisions()).map(({ result }) => result?.kind)).toEqual(['withdrawn', 'withdrawn']);
  });

  it('opens a decision about a commit made while the command of a step ran, also if it ended before the look', async () => {
    await tell(runs.startPipeline(runs.pipelinePlan([runs.shellStep('build')])));
    const command = await project.commandLoop.read(({ state }) =>
      [...state.effects.values()].find((effect) => effect.type === 'CommandRequested'),
    );
    const id = command.ok ? (command.answer?.data.command_id ?? '') : '';
    scratch.commit(repo, { 'evil.ts': '1\n' });
    await tell(runs.finish(id));
    await project.mainWatch.poll();
    expect((await moves()).at(-1)).toMatchObject({ sessions: [{ id, name: 'step build' }] });
    expect(await decisions()).toHaveLength(1);
  });

  it('opens no decision if the upstream branch, fetched by Baton itself, has the commits', async () => {
    await startAgent();
    const before = scratch.git(repo, 'rev-parse', 'HEAD');
    scratch.commit(repo, { a: '1' });
    scratch.git(repo, 'push', '--quiet', 'origin', 'main');
    scratch.git(repo, 'update-ref', 'refs/remotes/origin/main', before);
    await project.mainWatch.poll();
    expect((await moves()).at(-1)).toMatchObject({ on_upstream: true, sessions: [{ name: 'coder' }] });
    expect(await decisions()).toEqual([]);
  });

  it('is not deceived by a remote-tracking branch or another address of the remote', async () => {
    await startAgent();
    const evil = scratch.bare(`evil${count}.git`);
    scratch.git(repo, 'remote', 'set-url', 'origin', evil);
    scratch.commit(repo, { a: '1' });
    scratch.git(repo, 'push', '--quiet', 'origin', 'main');
    await project.mainWatch.poll();
    expect((await moves()).at(-1)).toMatchObject({ on_upstream: false });
    expect(await decisions()).toHaveLength(1);
  });

  it('trusts neither a new address by itself nor a remote with two addresses', async () => {
    const upstream = (await moves()).at(-1)?.upstream;
    const url = scratch.git(repo, 'config', 'remote.origin.url');
    const evil = scratch.bare(`evil${count}.git`);
    scratch.git(repo, 'remote', 'set-url', 'origin', evil);
    // A person commits while no session runs, so Baton asks no question, and records the other address.
    scratch.commit(repo, { a: '1' });
    await project.mainWatch.poll();
    expect(await mainNow()).toMatchObject({ upstream, trusted: null });
    await startAgent();
    scratch.commit(repo, { a: '2' });
    scratch.git(repo, 'push', '--quiet', 'origin', 'main');
    await project.mainWatch.poll();
    expect((await moves()).at(-1)).toMatchObject({ on_upstream: false });
    expect((await decisions()).map(({ context }) => context)).toEqual([expect.stringContaining('has changed')]);
    scratch.git(repo, 'config', '--add', 'remote.origin.url', url);
    expect(await findUpstream(repo, 'main')).toBe(null);
  });

  it('runs no program that the repository configures, even if it looks like a shallow clone, and opens a decision', async () => {
    const mark = join(repo, '.git', 'was-run');
    scratch.write(repo, { '.git/gpg.sh': `#!/bin/sh\ntouch '${mark}'\n` });
    chmodSync(join(repo, '.git/gpg.sh'), 0o755);
    await startAgent();
    const tree = scratch.git(repo, 'rev-parse', 'HEAD^{tree}');
    const parent = scratch.git(repo, 'rev-parse', 'HEAD');
    const who = 'Eve <eve@example.org> 1700000000 +0000';
    const lines = [`tree ${tree}`, `parent ${parent}`, `author ${who}`, `committer ${who}`];
    const signature = ['gpgsig -----BEGIN PGP SIGNATURE-----', ' ', ' x', ' -----END PGP SIGNATURE-----'];
    scratch.write(repo, { '.git/commit': [...lines, ...signature, '', 'signed', ''].join('\n') });
    const signed = scratch.git(repo, 'hash-object', '-t', 'commit', '-w', '.git/commit');
    // The commit's tree is missing, so it cannot be copied.
    const broken = [`tree ${'1'.repeat(40)}`, `parent ${signed}`, ...lines.slice(2), '', 'top', ''];
    scratch.write(repo, { '.git/commit': broken.join('\n') });
    const top = scratch.git(repo, 'hash-object', '-t', 'commit', '-w', '.git/commit');
    scratch.git(repo, 'config', 'log.showSignature', 'true');
    scratch.git(repo, 'config', 'gpg.program', join(repo, '.git/gpg.sh'));
    scratch.write(repo, { '.git/shallow': '', '.git/refs/heads/main': `${top}\n` });
    await project.mainWatch.poll();
    expect(existsSync(mark)).toBe(false);
    expect((await moves()).at(-1)).toMatchObject({ new: top, fast_forward: false, authors: [], stat: null });
    expect(await decisions()).toHaveLength(1);
  });

  it('is not deceived by replaced or grafted commits, nor by a forged commit-graph', async () => {
    const first = scratch.git(repo, 'rev-parse', 'HEAD');
    await startAgent();
    const tree = scratch.git(repo, 'rev-parse', 'HEAD^{tree}');
    const other = scratch.git(repo, 'commit-tree', '-m', 'another root', tree);
    const child = scratch.git(repo, 'commit-tree', '-m', 'looks the same', '-p', first, tree);
    scratch.git(repo, 'update-ref', 'refs/heads/main', other);
    scratch.git(repo, 'replace', other, child);
    scratch.write(join(repo, '.git/info'), { grafts: `${other} ${first}\n` });
    scratch.git(repo, 'commit-graph', 'write', '--reachable');
    await project.mainWatch.poll();
    expect((await moves()).at(-1)).toMatchObject({ new: other, fast_forward: false });
    expect(await decisions()).toHaveLength(1);
  });

  it('detects a symbolic branch, a new name of the main branch, and a rewritten file', async () => {
    scratch.git(repo, 'branch', 'evil');
    scratch.git(repo, 'switch', '--quiet', '--detach');
    scratch.git(repo, 'symbolic-ref', 'refs/heads/main', 'refs/heads/evil');
    await project.mainWatch.poll();
    const tree = scratch.git(repo, 'rev-parse', 'HEAD^{tree}');
    const sha = scratch.git(repo, 'commit-tree', '-m', 'x', tree);
    scratch.git(repo, 'update-ref', 'refs/heads/evil', sha);
    await project.mainWatch.poll();
    expect((await moves()).at(-1)).toMatchObject({ new: sha, fast_forward: false });
    scratch.write(join(repo, '.git/refs/heads'), { main: `${scratch.git(repo, 'rev-parse', 'HEAD')}\n` });
    await project.mainWatch.poll();
    expect((await decisions())[0]?.result?.kind).toBe('withdrawn');
    scratch.git(repo, 'update-ref', 'refs/remotes/origin/evil', sha);
    scratch.git(repo, 'symbolic-ref', 'refs/remotes/origin/HEAD', 'refs/remotes/origin/evil');
    await project.mainWatch.poll();
    expect((await moves()).at(-1)).toMatchObject({ branch: 'evil', previous_branch: 'main' });
  });

  it('compares with the record after a restart: a move is suspect only if a session was alive since', async () => {
    const id = await startAgent();
    await tell(runs.exited(id));
    await project.mainWatch.poll();
    await project.close();
    const sha = scratch.commit(repo, { night: '1' });
    project = await open();
    await project.mainWatch.poll();
    expect((await moves()).at(-1)).toMatchObject({ new: sha, sessions: [] });
    await startAgent('a2');
    await project.mainWatch.poll();
    await project.close();
    scratch.commit(repo, { evil: '1' });
    project = await open();
    await project.mainWatch.poll();
    expect((await moves()).at(-1)).toMatchObject({ sessions: [{ id: 'a2' }] });
    expect(await decisions()).toHaveLength(1);
  });
});

async function open(): Promise<Project> {
  const stateDir = join(scratch.folder, 'state');
  const opened = await openBareProject({ id: `p${count}`, path: repo, stateDir, onMistake: fail });
  opened.mainWatch.start();
  return opened;
}

function fail(error: unknown): void {
  throw error;
}

async function tell(command: Command): Promise<void> {
  const settled = await project.commandLoop.submitCommand(command, { kind: 'system', name: 'test' });
  expect(settled.ok).toBe(true);
}

async function startAgent(id = 'a1'): Promise<string> {
  await tell(runs.startAgent(runs.agentPlan(), id));
  await tell(runs.started(id));
  await project.mainWatch.poll();
  return id;
}

async function moves(): Promise<Record<string, unknown>[]> {
  const found: Record<string, unknown>[] = [];
  for await (const batch of project.ledger.store.entries({ from: 1, to: project.ledger.head.size })) {
    for (const { bytes } of batch) {
      const { type, data } = JSON.parse(new TextDecoder().decode(bytes));
      if (type === 'MainMoved') found.push(data);
    }
  }
  return found;
}

async function mainNow(): Promise<MainBranchState | undefined> {
  const read = await project.commandLoop.read(({ state }) => ({ main: findMain(state) }));
  return read.ok ? read.answer.main : undefined;
}

async function decisions(): Promise<readonly Decision[]> {
  const read = await project.commandLoop.read(({ state }) => ({
    all: [...state.decisions.values()],
    main: findMain(state),
  }));
  if (!read.ok) throw new Error('the store does not answer');
  const main: MainBranchState | undefined = read.answer.main;
  expect(main).toBeDefined();
  return read.answer.all.filter(({ source }) => source === 'integrity');
}
