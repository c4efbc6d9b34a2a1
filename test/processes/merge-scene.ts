import { about, readLedger } from './ledger.ts';
import { record } from './messages.ts';
import { RunWorld } from './run-world.ts';
import type { World } from './world.ts';

/** What a branch does to the files of the main branch, in the main checkout. */
export type BranchWork = (world: World) => void;

/** The project whose required check is a script, with a lenient reviewer: an operator who approves everything. */
export const CHECKED_FILES: Readonly<Record<string, string>> = {
  'ci/run.sh': '. ./ci/lib.sh\ntest -f src/a.js\n',
  'ci/lib.sh': 'true\n',
  'ci/notes.md': 'notes\n',
  '.vscode/tasks.json': '{}\n',
  'src/a.js': '1\n',
};

/** Opens a project, commits the work on a branch, approves it and asks for its merge. Returns what stands in its way. */
export async function askedAtMerge(work: BranchWork): Promise<{ readonly asked: string; readonly merged: boolean }> {
  const runbook = '[[ci.required]]\nname = "test"\nrun = "sh ci/run.sh"\n';
  await using world = await RunWorld.open({ runbook, scripts: CHECKED_FILES });
  const { world: place, repository } = world;
  place.git(repository, 'switch', '--quiet', '--create', 'feature/a');
  work(place);
  place.git(repository, 'add', '--all', '--force');
  place.git(repository, 'commit', '--quiet', '--message', 'work');
  const head = place.git(repository, 'rev-parse', 'HEAD');
  place.git(repository, 'switch', '--quiet', 'main');
  await world.ask('task_create', { task_id: 'A', title: 'a', phase: 'READY_FOR_MERGE' });
  await world.ask('thought_record', record('A', head, { branch: 'feature/a' }));
  await world.ask('task_self_approve', { task_id: 'A', reason: 'nobody else is here' });
  await world.ask('merge_request', { task_id: 'A' });
  const end = await world.until('the merge has ended or asks', async () => {
    const open = (await world.decisions()).find(({ status }) => status === 'open');
    if (open !== undefined) return { asked: open.context, merged: false };
    const ended = about(await readLedger(place), 'A', 'MergeFinished').at(-1);
    return ended !== undefined && { asked: '', merged: ended.data['outcome'] === 'merged' };
  });
  return end;
}
