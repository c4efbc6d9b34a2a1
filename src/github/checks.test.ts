import { describe, expect, it } from 'vitest';
import { listEndedChecks } from './checks.ts';

const SHA = 'a'.repeat(40);
const run = (id: number, name: string, app: string | null, conclusion: string | null = 'success') => ({
  id,
  name,
  head_sha: SHA,
  status: conclusion === null ? 'in_progress' : 'completed',
  conclusion,
  html_url: null,
  ...(app === null ? {} : { app: { slug: app } }),
});
const ended = (...lists: readonly unknown[]) =>
  listEndedChecks(SHA, lists).map(({ name, app, conclusion }) => `${app} ${name}: ${conclusion}`);

describe('the ended checks of a commit', () => {
  it('are those of each app, so that none hides the check of another', () => {
    const checks = [run(1, 'build', 'circleci', 'failure'), run(2, 'build', 'other'), run(3, 'build', 'late', null)];
    expect(ended(checks, [])).toEqual(['other build: success', 'circleci build: failure']);
    expect(ended(checks, [run(9, 'build', null, null)])).toEqual(['other build: success', 'circleci build: failure']);
  });

  it('are the newest runs of an app, and none while that one still runs', () => {
    expect(ended([run(2, 'build', 'circleci'), run(1, 'build', 'circleci', 'failure')], [])).toEqual([
      'circleci build: success',
    ]);
    expect(ended([run(1, 'build', 'circleci'), run(2, 'build', 'circleci', null)], [])).toEqual([]);
  });

  it('are workflows before checks with their name', () => {
    const checks = [run(9, 'build', 'github-actions', 'failure'), run(8, 'build', 'other')];
    expect(ended(checks, [run(1, 'build', null)])).toEqual(['github-actions build: success', 'other build: success']);
    expect(ended([{ ...run(1, 'build', 'other'), head_sha: 'b'.repeat(40) }, { id: 'x' }], 'none')).toEqual([]);
  });
});
