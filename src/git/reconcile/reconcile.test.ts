import { describe, expect, it } from 'vitest';
import { unrevertedCommits } from './measure-facts.ts';
import { findReconcileFindings, type MeasuredFacts, type RecordedTask } from './reconcile.ts';
import type { WorkFact } from './work-facts.ts';

const SHA = 'a'.repeat(40);
const DONE: RecordedTask = {
  id: 'P0.1.1',
  phase: 'COMPLETED',
  status: 'done',
  record: { commitSha: SHA, branch: 'feature/x' },
  mergeSha: null,
  branch: 'feature/x',
  worktree: '/w/x',
  claim: null,
};
const OPEN: RecordedTask = { ...DONE, phase: 'READY_FOR_REVIEW', status: 'in_progress' };
const landing = { how: 'merge', commit: 'b'.repeat(40), base: null } as const;

describe('reconcile', () => {
  it.each<[WorkFact, string | undefined]>([
    [{ state: 'on-main', sha: SHA, landing }, undefined],
    [{ state: 'elsewhere', wasOnMain: false }, undefined],
    [{ state: 'elsewhere', wasOnMain: true }, 'commit aaaaaaaaaaaa was on main, and no longer is'],
    [{ state: 'nowhere' }, 'commit aaaaaaaaaaaa is on no branch'],
    [{ state: 'missing' }, 'commit aaaaaaaaaaaa, which its record names, is not in the repository'],
    [
      { state: 'reverted', sha: SHA, landing, by: 'c'.repeat(40) },
      'commit aaaaaaaaaaaa was reverted on main: by cccccccccccc',
    ],
    [
      { state: 'reverted', sha: SHA, landing, by: null },
      'commit aaaaaaaaaaaa was reverted on main: its files are as they were before',
    ],
  ])('says of a done task whose work is %j: %s', (fact, what) => {
    const found = findReconcileFindings([DONE], facts({ work: new Map([['P0.1.1', fact]]) }));
    expect(found.map(({ message }) => message)).toEqual(what === undefined ? [] : [`P0.1.1 is done, but ${what}`]);
    expect(found.every(({ safe, action }) => !safe && action?.do === 'reinstate')).toBe(true);
  });

  it('finds a branch that was merged by hand, and leaves it to a person', () => {
    const work = new Map<string, WorkFact>([['P0.1.1', { state: 'on-main', sha: SHA, landing }]]);
    expect(findReconcileFindings([OPEN], facts({ work }))).toEqual([
      {
        kind: 'merged-by-hand',
        task_id: 'P0.1.1',
        message: 'P0.1.1 is in READY_FOR_REVIEW, but feature/x was merged into main',
        hint: 'If it is done: baton task update P0.1.1 --status done',
        safe: false,
        action: { do: 'complete', commit_sha: SHA },
      },
    ]);
    for (const fact of [{ state: 'missing' }, { state: 'nowhere' }] as const) {
      expect(findReconcileFindings([OPEN], facts({ work: new Map([['P0.1.1', fact]]) }))).toEqual([]);
    }
  });

  it('finds missing worktrees of unfinished tasks', () => {
    const missingWorktrees = new Set(['/w/x']);
    const [found, ...rest] = findReconcileFindings([DONE, OPEN], facts({ missingWorktrees }));
    expect(found).toMatchObject({ kind: 'worktree-missing', safe: false, action: { branch: 'feature/x' } });
    expect(rest).toEqual([]);
  });

  it('may end the claims of dead sessions, and of no others', () => {
    const claimed = (sessionId: string) => ({ ...OPEN, claim: { epoch: 3, sessionId, holder: 'ada' } });
    const found = findReconcileFindings([claimed('s1'), claimed('s2')], facts({ deadSessions: new Set(['s1']) }));
    expect(found).toMatchObject([
      { kind: 'session-dead', safe: true, action: { do: 'end-claim', epoch: 3, session_id: 's1' } },
    ]);
  });

  it('reports nothing about unmeasured tasks', () => {
    expect(findReconcileFindings([DONE, OPEN], facts({}))).toEqual([]);
  });
});

describe('undisputedOf', () => {
  // m merges b (two commits) into the trunk t1 – t2; r comes last.
  const graph = ['r m', 'm t2 b2', 'b2 b1', 'b1 t1', 't2 t1', 't1'];

  it('omits reverted commits, and commits of a reverted merge', () => {
    expect([...unrevertedCommits(graph, [])]).toEqual(['r', 'm', 'b2', 'b1', 't2', 't1']);
    expect([...unrevertedCommits(graph, ['m'])]).toEqual(['r', 't2', 't1']);
    expect([...unrevertedCommits(graph, ['b1', 'unknown'])]).toEqual(['r', 'm', 'b2', 't2', 't1']);
  });
});

function facts(some: Partial<MeasuredFacts>): MeasuredFacts {
  return { mainBranch: 'main', work: new Map(), missingWorktrees: new Set(), deadSessions: new Set(), ...some };
}
