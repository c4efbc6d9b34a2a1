import { chmodSync, copyFileSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { about, readLedger } from '../processes/ledger.ts';
import { record } from '../processes/messages.ts';
import { until } from '../processes/until.ts';
import { World } from '../processes/world.ts';

let world: World;
let head: string;
beforeEach(async () => {
  world = await World.open();
  world.git(world.repository, 'switch', '--quiet', '--create', 'feature/a');
  head = world.commit(world.repository, { 'work.txt': 'work\n' }, 'work');
  world.git(world.repository, 'switch', '--quiet', 'main');
  await world.order('task_create', { task_id: 'A', title: 'a', phase: 'READY_FOR_MERGE' });
});
afterEach(async () => world[Symbol.asyncDispose]());

async function merged(): Promise<unknown> {
  await world.order('task_self_approve', { task_id: 'A', reason: 'nobody else is here' });
  await world.order('merge_request', { task_id: 'A' });
  return until('the merge has ended', async () => about(await readLedger(world), 'A', 'MergeFinished').at(-1)?.data);
}

const objectPath = (sha: string): string => join(world.repository, '.git', 'objects', sha.slice(0, 2), sha.slice(2));

describe('objects of the repository', () => {
  it('that were overwritten before the record are refused, and the record with them', async () => {
    const blob = world.git(world.repository, 'rev-parse', `${head}:work.txt`);
    chmodSync(objectPath(blob), 0o644);
    copyFileSync(objectPath(world.git(world.repository, 'rev-parse', 'main:README.md')), objectPath(blob));
    const said = await world.client().call('thought_record', record('A', head, { branch: 'feature/a' }));
    expect(said).toMatchObject({
      ok: false,
      error: { code: 'git/damaged-object', message: expect.stringContaining(blob) },
    });
  });

  it.each(['a file', 'a folder'])(
    'that are overwritten after the record (%s) are never merged: the merge names them',
    async (what) => {
      await world.order('thought_record', record('A', head, { branch: 'feature/a' }));
      const names = what === 'a file' ? [`${head}:work.txt`, 'main:README.md'] : [`${head}^{tree}`, 'main^{tree}'];
      const [name = '', other = ''] = names.map((each) => world.git(world.repository, 'rev-parse', each));
      chmodSync(objectPath(name), 0o644);
      copyFileSync(objectPath(other), objectPath(name));
      const before = world.git(world.repository, 'rev-parse', 'main');
      expect(await merged()).toMatchObject({ outcome: 'refused', reason: expect.stringContaining(`object ${name}`) });
      expect(world.git(world.repository, 'rev-parse', 'main')).toBe(before);
    },
  );

  it('in a pack that is overwritten after the record are not merged: the reason names the damage', async () => {
    await world.order('thought_record', record('A', head, { branch: 'feature/a' }));
    world.git(world.repository, 'repack', '-adq');
    const folder = join(world.repository, '.git/objects/pack');
    const pack = join(folder, readdirSync(folder).find((name) => name.endsWith('.pack')) ?? '');
    const bytes = readFileSync(pack);
    chmodSync(pack, 0o644);
    writeFileSync(pack, bytes.fill(0x41, 20, bytes.length - 24));
    expect(await merged()).toMatchObject({
      outcome: 'refused',
      reason: expect.stringMatching(/where branch 'main' is, is missing or damaged[^]*git fsck/),
    });
  });

  it('that are pruned after the record are merged from the copy', async () => {
    await world.order('thought_record', record('A', head, { branch: 'feature/a' }));
    world.git(world.repository, 'branch', '--quiet', '-D', 'feature/a');
    world.git(world.repository, 'reflog', 'expire', '--expire=now', '--all');
    world.git(world.repository, 'prune', '--expire=now');
    expect(existsSync(objectPath(head))).toBe(false);
    expect(await merged()).toMatchObject({ outcome: 'merged' });
    expect(readFileSync(join(world.repository, 'work.txt'), 'utf8')).toBe('work\n');
    expect(world.tryGit(world.repository, 'fsck', '--strict').code).toBe(0);
  });
});

describe('programs that the repository names', () => {
  it('do not run when a worktree is made, nor when the task is merged', async () => {
    const ran = join(world.folder, 'ran');
    const program = `#!/bin/sh\necho "$0 $*" >>'${ran}'\ncat\n`;
    const evil = join(world.folder, 'evil');
    writeFileSync(evil, program, { mode: 0o755 });
    await world.order('thought_record', record('A', head, { branch: 'feature/a' }));
    world.commit(world.repository, { '.gitattributes': '* filter=evil\n' }, 'attributes');
    for (const name of [
      'filter.evil.smudge',
      'filter.evil.clean',
      'filter.evil.process',
      'core.fsmonitor',
      'core.sshCommand',
    ])
      world.git(world.repository, 'config', name, evil);
    mkdirSync(join(world.repository, '.git/hooks'), { recursive: true });
    for (const hook of ['post-checkout', 'reference-transaction', 'post-index-change', 'post-merge'])
      writeFileSync(join(world.repository, '.git/hooks', hook), program, { mode: 0o755 });
    await world.order('task_create', { task_id: 'B', title: 'b' });
    const made = world.baton(['task', 'claim', 'B', '--as', 'ann', '--worktree']);
    expect(made).toMatchObject({ code: 0, out: expect.stringContaining('.worktrees') });
    expect(await merged()).toMatchObject({ outcome: 'merged' });
    expect(existsSync(ran) ? readFileSync(ran, 'utf8') : '').toBe('');
  });
});
