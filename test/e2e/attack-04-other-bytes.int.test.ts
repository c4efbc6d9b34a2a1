import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { about, readLedger } from '../processes/ledger.ts';
import { record } from '../processes/messages.ts';
import { until } from '../processes/until.ts';
import { World } from '../processes/world.ts';

/** Without the exception a person would be asked about `.gitattributes` before the checks run. */
const RUNBOOK = `
[ci]
protected = ["!.gitattributes"]

[[ci.required]]
name = "test"
run = "grep -q GOOD code.txt"
`;

/**
 * Attack 4: the repository is configured so that reading a commit shows other bytes than those that are merged, and
 * runs the agent's program.
 */
it('checks and merges the bytes of the commit, whatever the repository shows instead', async () => {
  await using world = new World();
  const { repository } = world;
  world.commit(repository, { 'baton.toml': RUNBOOK, 'code.txt': 'GOOD\n' }, 'the project');
  await world.startDaemon();
  const ran = join(world.folder, 'ran');
  const program = join(world.folder, 'evil');
  writeFileSync(program, `#!/bin/sh\necho "$*" >>'${ran}'\nsed s/BAD/GOOD/\n`, { mode: 0o755 });

  const bad = change(world, 'bad', { 'code.txt': 'BAD\n', '.gitattributes': '*.txt filter=evil diff=evil -text\n' });
  world.git(repository, 'switch', '--quiet', 'main');
  const good = change(world, 'good', { 'new.txt': 'GOOD too\n' });
  world.git(repository, 'switch', '--quiet', 'main');
  world.git(repository, 'replace', bad, good);
  for (const name of ['filter.evil.smudge', 'filter.evil.clean', 'diff.evil.textconv', 'diff.evil.command'])
    world.git(repository, 'config', name, program);
  world.git(repository, 'config', 'core.fsmonitor', program);

  expect(await merged(world, 'bad', bad)).toMatchObject({ outcome: 'failed' });
  expect(await merged(world, 'good', good)).toMatchObject({ outcome: 'merged' });
  expect(readFileSync(join(repository, 'new.txt'), 'utf8')).toBe('GOOD too\n');
  expect(readFileSync(join(repository, 'code.txt'), 'utf8')).toBe('GOOD\n');
  expect(existsSync(ran) ? readFileSync(ran, 'utf8') : '').toBe('');
});

function change(world: World, name: string, files: Record<string, string>): string {
  world.git(world.repository, 'switch', '--quiet', '--create', `feature/${name}`, 'main');
  return world.commit(world.repository, files, name);
}

/** The outcome of merging this commit. */
async function merged(world: World, id: string, head: string): Promise<unknown> {
  await world.order('task_create', { task_id: id, title: id, phase: 'READY_FOR_MERGE' });
  await world.order('thought_record', record(id, head, { branch: `feature/${id}` }));
  await world.order('task_self_approve', { task_id: id, reason: 'nobody else is here' });
  await world.order('merge_request', { task_id: id });
  return until('the merge has ended', async () => about(await readLedger(world), id, 'MergeFinished').at(-1)?.data);
}
