import { expect, it } from 'vitest';
import type { TaskDiff } from '../../api/operations/task-work.ts';
import { renderTaskDiff } from './diff.ts';

const PATCH = 'diff --git a/a.ts b/a.ts\n--- a/a.ts\n+++ b/a.ts\n@@ -1 +1 @@\n--- old\n+\u001B[31mnew\tx\n';
const file = {
  path: 'a.ts',
  action: 'modified',
  additions: 1,
  deletions: 1,
  binary: false,
  patch: PATCH,
  cut: false,
} as const;
const diff: TaskDiff = {
  task_id: 'T1',
  of: 'branch',
  branch: 'baton/t1',
  base: '1111111111111111',
  head: '2222222222222222',
  commits: 1,
  total: { files: 1, additions: 1, deletions: 1 },
  files: [file],
  sessions: [],
  worktree: null,
};
const render = (more: Partial<TaskDiff>, options = {}): string =>
  renderTaskDiff({ ...diff, ...more }, { colors: false, stat: false, isOneFile: false, ...options });

it('lists the files and shows their patches, safe to print', () => {
  const binary = {
    ...file,
    path: 'd.bin',
    action: 'created',
    patch: null,
    binary: true,
    additions: 0,
    deletions: 0,
  } as const;
  expect(
    render({ commits: 2, total: { files: 2, additions: 1, deletions: 1 }, files: [file, binary] }).split('\n'),
  ).toEqual([
    'T1 on baton/t1 since it left the main branch: 2 commits, 2 files, +1 -1 (111111111111..222222222222)',
    '  M a.ts   +1 -1',
    '  A d.bin  binary',
    '',
    'diff --git a/a.ts b/a.ts',
    '--- a/a.ts',
    '+++ b/a.ts',
    '@@ -1 +1 @@',
    '--- old',
    '+\\u001b[31mnew\tx',
    '',
  ]);
});

it("has only Baton's own colours", () => {
  const lines = render({}, { colors: true }).split('\n');
  expect(lines).toContain('\u001B[31m--- old\u001B[0m');
  expect(lines).toContain('\u001B[32m+\\u001b[31mnew\tx\u001B[0m');
});

it('names the command that shows what was cut', () => {
  const cut = { ...file, path: 'a b.ts', cut: true };
  expect(render({ files: [cut] })).toContain(
    "… the rest of 'a b.ts' is cut; see it: baton task diff T1 --file 'a b.ts'\n",
  );
  expect(render({ files: [{ ...cut, patch: null }] })).toContain(
    "… 'a b.ts' is left out here; see it: baton task diff",
  );
  expect(render({ files: [cut] }, { isOneFile: true })).toContain(`git diff ${diff.base} ${diff.head} -- 'a b.ts'\n`);
  expect(render({ total: { files: 12, additions: 1, deletions: 1 } })).toContain('  … 11 more files\n');
});

it('shows only the files with --stat, and reports what it omits', () => {
  const shown = render({ worktree: '/w/t1' }, { stat: true });
  expect(shown).not.toContain('@@');
  expect(shown).toContain('Only commits are shown. A session works in /w/t1, which may have uncommitted changes.\n');
  const none = { files: [], commits: 0, total: { files: 0, additions: 0, deletions: 0 } };
  expect(render({ ...none, head: diff.base })).toContain('There is no commit to show.\n');
  expect(render(none)).toContain('The commits change none of these files.\n');
});
