import { join } from 'node:path';
import { expect, it } from 'vitest';
import { record } from '../processes/messages.ts';
import { until } from '../processes/until.ts';
import { World } from '../processes/world.ts';

const RUNBOOK = '[[ci.required]]\nname = "test"\nrun = "grep -q GOOD code.txt && test -e crlf.txt"\n';

/** A repository with some history, cloned in a way that omits something, or with the other kind of hash. */
function clone(world: World, init: readonly string[], options: readonly string[]): string {
  const [origin, path] = [join(world.folder, 'origin'), join(world.folder, 'clone')];
  world.git(world.folder, 'init', '--quiet', '--initial-branch=main', ...init, origin);
  world.git(origin, 'config', 'uploadpack.allowFilter', 'true');
  world.commit(origin, { 'baton.toml': RUNBOOK, 'code.txt': 'OLD\n', 'crlf.txt': 'a\n' }, 'first');
  world.commit(origin, { 'code.txt': 'GOOD\n', '.gitattributes': 'crlf.txt eol=crlf\n' }, 'second');
  world.git(world.folder, 'clone', '--quiet', ...options, `file://${origin}`, path);
  return path;
}

/** A branch with one commit, made like a person's work. */
function work(world: World, path: string): string {
  world.git(path, 'switch', '--quiet', '--create', 'work');
  const head = world.commit(path, { 'work.txt': 'work\n', 'a/.gitattributes': '* -text\n', 'a/b': 'x\n' }, 'work');
  world.git(path, 'switch', '--quiet', 'main');
  return head;
}

it('with SHA-256 works: worktree, record, checks and merge', { timeout: 60_000 }, async () => {
  await using world = await World.open();
  const path = clone(world, ['--object-format=sha256'], []);
  const baton = (...args: string[]) => world.baton(args, { cwd: path });
  expect(baton('task', 'add', 'W-0', '--title', 'w').code).toBe(0);
  expect(baton('task', 'claim', 'W-0', '--as', 'ann', '--worktree')).toMatchObject({ code: 0, err: '' });
  const head = work(world, path);
  world.write(world.folder, { 'record.json': JSON.stringify(record('W-1', head, { branch: 'work' })) });
  expect(baton('task', 'add', 'W-1', '--title', 'w', '--phase', 'READY_FOR_MERGE').code).toBe(0);
  expect(baton('thought', 'record', join(world.folder, 'record.json'))).toMatchObject({ code: 0, err: '' });
  expect(baton('merge', 'W-1', '--self-approve', 'alone')).toMatchObject({ code: 0, err: '' });
  const ended = await until('the merge has ended', async () => {
    const told = baton('ledger', 'log', '--json').out;
    return /"MergeFinished"/.test(told) && told;
  });
  expect(ended).toContain('"outcome":"merged"');
  expect(world.git(path, 'show', 'main:work.txt')).toBe('work');
});

it.each([
  ['a shallow clone', ['--depth=1'], 'git fetch --unshallow'],
  ['a partial clone', ['--filter=blob:none'], 'git fetch --refetch --no-filter'],
  ['a partial clone', ['--filter=tree:0'], 'git fetch --refetch --no-filter'],
])('%s (%s) is refused by name, with what to do', { timeout: 60_000 }, async (name, options, remedy) => {
  await using world = await World.open();
  const path = clone(world, [], options);
  const head = work(world, path);
  world.write(world.folder, { 'record.json': JSON.stringify(record('W-1', head, { branch: 'work' })) });
  const baton = (...args: string[]) => world.baton(args, { cwd: path });
  expect(baton('task', 'add', 'W-1', '--title', 'w').code).toBe(0);
  const refused = baton('thought', 'record', join(world.folder, 'record.json'));
  expect([refused.code, refused.err]).toEqual([1, expect.stringContaining(`is ${name}`)]);
  expect(refused.err).toContain(remedy);
});
