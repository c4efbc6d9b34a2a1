import { describe, expect, it } from 'vitest';
import { keptRef, taskOfRef, travelRef, wipRef } from './travel-ref.ts';

describe('the refs of a task at the remote', () => {
  it.each([
    ['T-1', 'refs/baton/T-1/3'],
    ['P0.1.1', 'refs/baton/P0.1.1/3'],
    ['a/b', 'refs/baton/a%2Fb/3'],
    ['a..b', 'refs/baton/a%2E.b/3'],
    ['.hidden.', 'refs/baton/%2Ehidden%2E/3'],
    ['x.lock', 'refs/baton/x%2Elock/3'],
    ['a~b*c^d:e?f[g\\h i', 'refs/baton/a%7Eb%2Ac%5Ed%3Ae%3Ff%5Bg%5Ch%20i/3'],
    ['ü@{1}', 'refs/baton/%C3%BC%40%7B1%7D/3'],
  ])('%s', (taskId, ref) => {
    expect(travelRef(taskId, 3)).toBe(ref);
    expect(taskOfRef(ref)).toBe(taskId);
    expect(wipRef(taskId, 3)).toBe(`${ref}-wip`);
    expect(taskOfRef(wipRef(taskId, 3))).toBe(taskId);
  });

  it.each(['refs/heads/main', keptRef('T-1', 'a'.repeat(40)), 'refs/baton/T-1', 'refs/baton/%ZZ/1'])(
    'are not taken for %s',
    (ref) => {
      expect(taskOfRef(ref)).toBeUndefined();
    },
  );
});
