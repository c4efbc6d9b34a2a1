import { join } from 'node:path';
import { expect, it } from 'vitest';
import { about, readLedger } from '../processes/ledger.ts';
import { record } from '../processes/messages.ts';
import { until } from '../processes/until.ts';
import { World } from '../processes/world.ts';

const check = (run: string): string => `[[ci.required]]\nname = "test"\nrun = ${JSON.stringify(run)}\n`;

/** The outcome of merging a branch with these files. */
async function merged(world: World, files: Record<string, string>, prepare = (): void => undefined): Promise<unknown> {
  const { repository } = world;
  world.git(repository, 'switch', '--quiet', '--create', 'feature/t', 'main');
  prepare();
  const head = world.commit(repository, files, 'work');
  world.git(repository, 'switch', '--quiet', 'main');
  await world.order('task_create', { task_id: 't', title: 't', phase: 'READY_FOR_MERGE' });
  await world.order('thought_record', record('t', head, { branch: 'feature/t' }));
  await world.order('task_self_approve', { task_id: 't', reason: 'nobody else is here' });
  await world.order('merge_request', { task_id: 't' });
  return until('the merge has ended', async () => about(await readLedger(world), 't', 'MergeFinished').at(-1)?.data);
}

it('a branch does not change how its files are written for its check', async () => {
  await using world = new World();
  // The check fails on carriage returns, which main requests for batch files.
  const files = {
    'baton.toml': check(`! grep -q "$(printf '\\r')" run.bat`),
    '.gitattributes': '*.bat text eol=crlf\n',
  };
  world.commit(world.repository, files, 'the project');
  await world.startDaemon();
  const ended = await merged(world, { 'run.bat': 'echo hi\n', '.gitattributes': '*.bat -text eol=lf\n' });
  expect(ended).toMatchObject({ outcome: 'failed', reason: 'check failed on the merged tree: test' });
});

it('a check that rewrites the files of the branch does not change what the next check judges', async () => {
  await using world = new World();
  const lint = '[[ci.required]]\nname = "lint"\nrun = "! test -e installed || ! grep -q evil code.ts"\n';
  world.commit(world.repository, { 'baton.toml': check('sh test.sh') + lint, 'test.sh': 'true\n' }, 'the project');
  await world.startDaemon();
  const files = { 'code.ts': 'evil\n', 'test.sh': 'echo good >code.ts\ntouch installed\n' };
  expect(await merged(world, files)).toMatchObject({
    outcome: 'failed',
    reason: 'check failed on the merged tree: lint',
  });
});

it('a filter that no operator allowed fails the check, by name', async () => {
  await using world = new World();
  const files = { 'baton.toml': check('true'), '.gitattributes': '*.bin filter=big\n', 'a.bin': 'pointer\n' };
  world.commit(world.repository, files, 'the project');
  await world.startDaemon();
  const ended = await merged(world, { b: '1\n' });
  expect(ended).toMatchObject({ outcome: 'failed' });
  expect(JSON.stringify(ended)).toContain("'a.bin' needs the git filter 'big', which is not allowed");
});

it('a submodule from a new address is not fetched, and the check states why', async () => {
  await using world = new World();
  world.commit(world.repository, { 'baton.toml': check('true') }, 'the project');
  await world.startDaemon();
  const other = join(world.folder, 'other');
  world.git(world.folder, 'init', '--quiet', '--initial-branch=main', other);
  const inner = world.commit(other, { code: 'x\n' }, 'x');
  const modules = `[submodule "s"]\n\tpath = s\n\turl = ${other}\n`;
  const ended = await merged(world, { '.gitmodules': modules }, () => {
    world.git(world.folder, 'clone', '--quiet', other, join(world.repository, 's'));
  });
  expect(world.git(world.repository, 'ls-tree', 'feature/t', 's')).toContain(inner);
  expect(ended).toMatchObject({ outcome: 'failed' });
  expect(JSON.stringify(ended)).toContain("'s' is a submodule whose path and URL are not on the main branch");
});
