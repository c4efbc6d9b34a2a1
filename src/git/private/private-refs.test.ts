import { describe, expect, it } from 'vitest';
import type { PrivateGit } from '../../protocol/sandbox.ts';
import { findUnsyncedRefs, mergeRefs } from './carried-refs.ts';
import { privateGitMounts } from './mounts.ts';
import { findPackedRef, isObjectId, parsePackedRefs, renderPackedRefs } from './private-refs.ts';

const [A, B, C] = ['a', 'b', 'c'].map((digit) => digit.repeat(40)) as [string, string, string];

describe('packed refs', () => {
  it('skips what is not a ref', () => {
    const text = `# pack-refs with: sorted \n${A} refs/heads/x\n^${B}\n${B} HEAD\n${C}0 refs/heads/y\n${C}\nrefs/heads/z`;
    expect([...parsePackedRefs(text, 'sha1')]).toEqual([['refs/heads/x', A]]);
    expect([...parsePackedRefs(`${A} refs/tags/x\n${A} refs/heads/x`, 'sha1', ['refs/heads/'])]).toHaveLength(1);
    expect(parsePackedRefs(`${A} refs/heads/x`, 'sha256').size).toBe(0);
  });

  it('are read as they were written', () => {
    const refs = new Map([
      ['refs/heads/b', B],
      ['refs/heads/a', A],
    ]);
    const text = renderPackedRefs(refs);
    expect(text).toBe(`# pack-refs with: sorted \n${A} refs/heads/a\n${B} refs/heads/b\n`);
    expect(parsePackedRefs(text, 'sha1')).toEqual(refs);
    expect(findPackedRef(text, 'refs/heads/a')).toBe(A);
    expect(findPackedRef(text, 'heads/a')).toBeNull();
  });

  it('does not claim an order for characters that git orders differently', () => {
    expect(renderPackedRefs(new Map([['refs/heads/😀', A]]))).toBe(`${A} refs/heads/😀\n`);
  });

  it('knows a commit id', () => {
    expect([A, A.toUpperCase(), '0'.repeat(40), `${A}a`, `ref: ${A}`].map((id) => isObjectId(id, 'sha1'))).toEqual([
      true,
      false,
      false,
      false,
      false,
    ]);
  });
});

describe('mergeRefs', () => {
  const before = new Map([
    ['refs/heads/main', A],
    ['refs/heads/gone', A],
    ['refs/heads/mine', A],
    ['refs/heads/deleted', A],
    ['refs/heads/here', A],
  ]);
  const packed = new Map([...before, ['refs/heads/mine', C], ['refs/stash', C]]);
  packed.delete('refs/heads/deleted');
  const after = new Map([...before, ['refs/heads/main', B], ['refs/heads/here', B], ['refs/heads/new', B]]);
  after.delete('refs/heads/gone');

  it("takes the user's changes, and keeps the session's", () => {
    expect(Object.fromEntries(mergeRefs(packed, before, after, 'here'))).toEqual({
      'refs/heads/main': B,
      'refs/heads/mine': C,
      'refs/heads/here': A,
      'refs/heads/new': B,
      'refs/stash': C,
    });
  });
});

const GIT: PrivateGit = {
  folder: '/state/p',
  at: '/repo/.git/worktrees/w',
  worktree: '/repo/.worktrees/w',
  commonDir: '/repo/.git',
  objects: ['/repo/.git/objects', '/base/objects'],
  format: 'sha1',
  branch: 'task',
  fence: null,
  hooks: '/repo/.git/hooks',
  also: [{ kind: 'empty', at: '/x' }],
};

it('finds refs whose commits exist nowhere else', () => {
  const heads = { task: A, own: A, main: B, same: A, 'refused/x': C };
  const refs = new Map(Object.entries(heads).map(([name, value]) => [`refs/heads/${name}`, value]));
  refs.set('refs/stash', B).set('refs/baton/kept/x/bbb', B).set('refs/tags/t', C);
  const known = { git: GIT, tip: A, made: new Map([['own', A]]), head: 'ref: refs/heads/task', indexed: A };
  const snapshot = new Map([
    ['refs/heads/main', A],
    ['refs/heads/same', A],
  ]);
  expect([...findUnsyncedRefs({ head: C, refs, isComplete: true }, known, snapshot).keys()]).toEqual([
    `refs/baton/kept/HEAD/${C.slice(0, 12)}`,
    `refs/baton/kept/main/${B.slice(0, 12)}`,
    `refs/baton/kept/refused/x/${C.slice(0, 12)}`,
    'refs/stash',
    'refs/baton/kept/x/bbb',
  ]);
});

describe('privateGitMounts', () => {
  it('hides the git directory of the repository, and shows the private one', () => {
    expect(privateGitMounts(GIT)).toEqual([
      { kind: 'scratch', at: '/repo/.git' },
      { kind: 'write', at: '/repo/.git/worktrees/w', from: '/state/p/git' },
      { kind: 'read', at: '/repo/.worktrees/w/.git', from: '/repo/.worktrees/w/.git' },
      { kind: 'read', at: '/run/baton/objects/0', from: '/repo/.git/objects' },
      { kind: 'read', at: '/run/baton/objects/1', from: '/base/objects' },
      { kind: 'read', at: '/run/baton/hooks', from: '/repo/.git/hooks' },
      { kind: 'empty', at: '/x' },
    ]);
  });

  it('puts it at .git in a main checkout', () => {
    const git = { ...GIT, at: '/repo/.git', worktree: '/repo', objects: [], hooks: null, also: [] };
    expect(privateGitMounts(git)).toEqual([{ kind: 'write', at: '/repo/.git', from: '/state/p/git' }]);
  });
});
