import { rmSync } from 'node:fs';
import { basename, join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { createWorktree } from '../worktree/create.ts';
import { measureFacts, type MeasureOptions } from './measure-facts.ts';
import { OwnRepositoryImporter } from '../own/transfer-commits.ts';
import { findReconcileFindings, type RecordedTask } from './reconcile.ts';
import { Scratch, valueOf } from '../scratch.cases.ts';

let scratch: Scratch;
let repo: string;

beforeEach(() => {
  scratch = new Scratch();
  repo = scratch.repository();
});
afterEach(() => scratch.remove());

it('finds nothing in a consistent state: merged, squashed by Baton, waiting, and not started', async () => {
  const merged = work('merged');
  scratch.git(repo, 'merge', '-q', '--no-ff', '--no-edit', 'feature/merged');
  const squashed = work('squashed');
  scratch.git(repo, 'merge', '-q', '--squash', 'feature/squashed');
  const mergeSha = scratch.commit(repo, { conflict: 'resolved\n' }, 'squashed, with a conflict resolved');
  scratch.commit(repo, { squashed: 'went on\n' });
  const waiting = work('waiting');
  scratch.git(repo, 'branch', 'feature/fresh');
  const tasks = [merged, { ...squashed, mergeSha }, waiting, open(waiting), { ...open(waiting), ...fresh('fresh') }];
  for (const thorough of [0, 50]) expect(await findings(tasks, { thorough })).toEqual([]);
});

it('finds work that was reverted, or is missing from the main branch or the repository', async () => {
  const reverted = work('reverted');
  scratch.git(repo, 'merge', '-q', '--no-ff', '--no-edit', 'feature/reverted');
  scratch.git(repo, 'revert', '--no-edit', '-m', '1', 'HEAD');
  const gone = work('gone');
  scratch.git(repo, 'merge', '-q', '--no-ff', '--no-edit', 'feature/gone');
  scratch.git(repo, 'reset', '-q', '--hard', 'HEAD^');
  const deleted = work('deleted');
  scratch.git(repo, 'branch', '-q', '-D', 'feature/deleted');
  const lost = { ...reverted, id: 'lost', record: { commitSha: '1'.repeat(40), branch: 'feature/lost' } };
  for (const thorough of [0, 50]) {
    expect(await findings([reverted, gone, deleted, lost], { thorough })).toEqual([
      'commit-reverted reverted',
      'commit-gone gone',
      'commit-gone deleted',
      'commit-missing lost',
    ]);
  }
});

it('finds branches merged by hand in each way, even if the branch is deleted', async () => {
  const squash = work('squash');
  scratch.git(repo, 'merge', '-q', '--squash', 'feature/squash');
  scratch.commit(repo, {}, 'by hand');
  const merge = work('merge');
  scratch.git(repo, 'merge', '-q', '--no-ff', '--no-edit', 'feature/merge');
  const forward = work('forward');
  scratch.git(repo, 'merge', '-q', '--ff-only', 'feature/forward');
  scratch.git(repo, 'branch', '-q', '-d', 'feature/forward');
  const unrecorded = { ...open(merge), ...fresh('merge') };
  const goesOn = open(work('goes-on'));
  scratch.git(repo, 'merge', '-q', '--no-ff', '--no-edit', 'feature/goes-on');
  scratch.git(repo, 'switch', '-q', 'feature/goes-on');
  scratch.commit(repo, { more: '1\n' });
  scratch.git(repo, 'switch', '-q', 'main');
  expect(await findings([squash, merge, forward].map(open).concat(unrecorded, goesOn))).toEqual([
    'merged-by-hand squash',
    'merged-by-hand merge',
    'merged-by-hand forward',
    'merged-by-hand merge',
  ]);
});

it('finds missing worktrees and passes dead sessions on', async () => {
  const { path, branch } = valueOf(
    await createWorktree(repo, { stateDir: scratch.folder, branch: 'feature/t', base: 'main' }),
  );
  const claim = { epoch: 1, sessionId: 's1', holder: 'ada' };
  const task: RecordedTask = { ...open(work('t1')), record: null, branch, worktree: path, claim };
  expect(await findings([task])).toEqual([]);
  rmSync(path, { recursive: true });
  expect(await findings([task], { deadSessions: new Set(['s1']) })).toEqual(['worktree-missing t1', 'session-dead t1']);
});

it('reports a missing main branch', async () => {
  expect(await measureFacts(scratch.empty('new'), [], { own: ownOf('new'), deadSessions: new Set() })).toMatchObject({
    problem: { code: 'git/no-main-branch' },
  });
});

/** A finished task with two commits on its own branch. */
function work(id: string): RecordedTask {
  const branch = `feature/${id}`;
  scratch.git(repo, 'switch', '-q', '-c', branch);
  scratch.commit(repo, { [id]: '1\n' });
  const commitSha = scratch.commit(repo, { [id]: '2\n' });
  scratch.git(repo, 'switch', '-q', 'main');
  const record = { commitSha, branch };
  return { id, phase: 'COMPLETED', status: 'done', record, mergeSha: null, branch, worktree: null, claim: null };
}

function open(task: RecordedTask): RecordedTask {
  return { ...task, phase: 'IMPLEMENTATION', status: 'in_progress' };
}

function fresh(name: string): Pick<RecordedTask, 'record' | 'branch'> {
  return { record: null, branch: `feature/${name}` };
}

async function findings(tasks: readonly RecordedTask[], options: Partial<MeasureOptions> = {}): Promise<string[]> {
  const facts = valueOf(await measureFacts(repo, tasks, { own: ownOf(repo), deadSessions: new Set(), ...options }));
  return findReconcileFindings(tasks, facts).map(({ kind, task_id }) => `${kind} ${task_id}`);
}

function ownOf(path: string): OwnRepositoryImporter {
  return new OwnRepositoryImporter({ stateDir: join(scratch.folder, 'state'), projectId: basename(path), path });
}
