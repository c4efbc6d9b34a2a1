import { describe, expect, it } from 'vitest';
import { planSync, type SyncFacts } from './sync-plan.ts';

const [OLD, NEW, OTHER] = ['a', 'b', 'c'].map((digit) => digit.repeat(40)) as [string, string, string];

describe('planSync', () => {
  it.each([
    ['nothing has changed', { task: OLD }, []],
    ["the task's branch moves to anything", { task: NEW }, [['task', OLD, NEW]]],
    ["the task's branch is never deleted", {}, []],
    ['a new branch is created', { task: OLD, fresh: NEW }, [['fresh', null, NEW]]],
    ['an own branch moves', { task: OLD, own: NEW }, [['own', OLD, NEW]], { own: OLD }],
    ['an own branch is deleted', { task: OLD }, [['own', OLD, null]], { own: OLD }],
  ])('%s', (_, branches, moves, made?: Readonly<Record<string, string>>) => {
    const { task, others, refused } = plan(branches, { made: new Map(Object.entries(made ?? {})) });
    const all = [...(task === null ? [] : [task]), ...others];
    expect(all.map(({ branch, from, to }) => [branch, from, to])).toEqual(moves);
    expect(refused).toEqual([]);
  });

  it.each([
    ['main', 'not-yours'],
    ['HEAD', 'bad-name'],
    ['FETCH_HEAD', 'bad-name'],
    ['refs/heads/main', 'bad-name'],
    [OTHER, 'bad-name'],
    ['-d', 'bad-name'],
    ['a..b', 'bad-name'],
    ['origin', 'bad-name'],
    ['origin/main', 'bad-name'],
    ['origin/not-fetched-yet', 'bad-name'],
    ['v1', 'bad-name'],
    ['abc1234', 'bad-name'],
  ])('refuses %s', (branch, reason) => {
    const planned = plan({ task: OLD, [branch]: NEW });
    expect(planned.refused).toMatchObject([{ branch, reason }]);
    expect(planned.others).toEqual([]);
    expect(planned.refused[0]?.message).toMatch(/^branch '.+' stays inside the sandbox: /);
  });

  it('deletes nothing if refs could not be read', () => {
    expect(plan({}, { made: new Map([['own', OLD]]), isComplete: false }).others).toEqual([]);
  });

  it('looks at branches only', () => {
    const refs = new Map(['tags/v1', 'remotes/origin/x', 'replace/y', 'baton/z'].map((name) => [`refs/${name}`, NEW]));
    const facts = { ...FACTS, privateRefs: { head: '', refs, isComplete: true } };
    expect(planSync(facts)).toEqual({ task: null, others: [], refused: [] });
  });

  it('moves a hundred branches at once', () => {
    const many = Object.fromEntries(Array.from({ length: 150 }, (_, index) => [`b${index}`, NEW]));
    const { others, refused } = plan(many);
    expect([others.length, refused.length, refused[0]?.reason]).toEqual([100, 50, 'too-many']);
  });
});

const FACTS: Omit<SyncFacts, 'privateRefs'> = {
  branch: 'task',
  tip: OLD,
  made: new Map(),
  snapshot: new Map([
    ['refs/heads/main', OLD],
    ['refs/heads/task', OLD],
    ['refs/remotes/origin/main', OLD],
    ['refs/tags/v1', OLD],
  ]),
};

function plan(
  branches: Readonly<Record<string, string>>,
  { isComplete = true, ...more }: Partial<SyncFacts> & { readonly isComplete?: boolean } = {},
): ReturnType<typeof planSync> {
  const refs = new Map(Object.entries(branches).map(([name, value]) => [`refs/heads/${name}`, value]));
  return planSync({ ...FACTS, privateRefs: { head: '', refs, isComplete }, ...more });
}
