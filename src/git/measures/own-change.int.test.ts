import { basename } from 'node:path';
import fc from 'fast-check';
import { afterAll, describe, expect, it } from 'vitest';
import { samples } from '../../../test/lanes.ts';
import { OwnRepositoryImporter } from '../own/transfer-commits.ts';
import { Scratch, valueOf } from '../scratch.cases.ts';
import { measureChange, type MeasuredChange } from './measure-change.ts';
import { findViolations } from './violations.ts';

const scratch = new Scratch();
afterAll(() => scratch.remove());

/** A repository with main checked out, where people commit, and a task's branch in a worktree. */
class History {
  readonly repo: string;
  readonly worktree: string;
  readonly #own: OwnRepositoryImporter;
  #files = 0;

  constructor(name: string) {
    this.repo = scratch.repository(name);
    this.worktree = `${this.repo}-task`;
    scratch.git(this.repo, 'worktree', 'add', '--quiet', '-b', 'task', this.worktree);
    this.#own = new OwnRepositoryImporter({
      stateDir: scratch.folder,
      projectId: basename(this.repo),
      path: this.repo,
    });
  }

  get tip(): string {
    return scratch.git(this.worktree, 'rev-parse', 'HEAD');
  }

  get main(): string {
    return scratch.git(this.repo, 'rev-parse', 'main');
  }

  person(files: Record<string, string> = { [`person-${(this.#files += 1)}`]: 'p' }): string {
    return scratch.commit(this.repo, files);
  }

  /** Returns the file that the session changed. */
  session(files?: Record<string, string>): string {
    const name = `session-${(this.#files += 1)}`;
    scratch.commit(this.worktree, files ?? { [name]: 's' });
    return name;
  }

  merge(): void {
    scratch.git(this.worktree, 'merge', '--quiet', '--no-edit', 'main');
  }

  rebase(): void {
    scratch.git(this.worktree, 'rebase', '--quiet', 'main');
  }

  async change(base: string, main: string | null = this.main): Promise<MeasuredChange> {
    return valueOf(await measureChange(this.worktree, { stateDir: scratch.folder, own: this.#own, base, main }));
  }

  files(commit: string): ReadonlyMap<string, string> {
    const lines = scratch.git(this.worktree, 'ls-tree', '-r', commit).split('\n');
    return new Map(lines.map((line) => [line.split('\t')[1] ?? '', line.split(/\s/)[2] ?? '']));
  }
}

const paths = ({ files }: MeasuredChange): string[] => files.map(({ path }) => path).toSorted();

const STEPS = ['person', 'work', 'merge', 'rebase', 'next session'] as const;

describe('over random histories without conflicts', () => {
  it(
    'each session is charged with its own files, and the own changes in order give the tree of the task',
    { timeout: 180_000 },
    async () => {
      let histories = 0;
      await fc.assert(
        fc.asyncProperty(fc.array(fc.constantFrom(...STEPS), { minLength: 3, maxLength: 7 }), async (steps) => {
          const history = new History(`random-${(histories += 1)}`);
          let base = history.tip;
          let worked: string[] = [];
          const changes = new Set<string>();
          const [charged, expected]: [string[][], string[][]] = [[], []];
          for (const step of [...steps, 'next session'] as const) {
            if (step === 'person') history.person();
            else if (step === 'work') worked.push(history.session());
            else if (step === 'merge') history.merge();
            else if (step === 'rebase') history.rebase();
            else {
              charged.push(paths(await history.change(base)));
              expected.push(worked.toSorted());
              for (const path of worked) changes.add(path);
              [base, worked] = [history.tip, []];
            }
          }
          expect(charged).toEqual(expected);
          const contained = scratch.git(history.worktree, 'merge-base', 'main', 'HEAD');
          const tip = history.files('HEAD');
          const composed = new Map(history.files(contained));
          for (const path of changes) composed.set(path, tip.get(path) ?? '');
          expect(tip).toEqual(composed);
        }),
        { numRuns: samples(16) },
      );
    },
  );
});

describe('a session that brings main in', () => {
  it.each(['merge', 'rebase'] as const)('by %s has an empty change, and breaks no constraint', async (how) => {
    const history = new History(`only-${how}`);
    history.session();
    const base = history.tip;
    history.person({ 'package.json': '{"dependencies":{"left-pad":"1"}}', a: '1', b: '1', '.gitignore': 'made\n' });
    history[how]();
    scratch.write(history.worktree, { made: 'by a build, which main ignores' });
    const change = await history.change(base);
    expect([paths(change), change.main]).toEqual([[], history.main]);
    const violations = findViolations({ max_files: 0, no_new_deps: true }, change, null);
    expect(violations).toEqual([]);
    // Main must be on record: what nobody recorded there is charged.
    expect(paths(await history.change(base, base))).toContain('package.json');
  });

  it('is charged with what its merge commit adds', async () => {
    const history = new History('evil');
    history.session();
    const base = history.tip;
    history.person();
    scratch.git(history.worktree, 'merge', '--quiet', '--no-commit', '--no-ff', 'main');
    scratch.write(history.worktree, { evil: 'x', 'README.md': 'evil\n' });
    scratch.git(history.worktree, 'add', '--all');
    scratch.git(history.worktree, 'commit', '--quiet', '--message', 'merge');
    expect(paths(await history.change(base))).toEqual(['README.md', 'evil']);
  });

  it('has touched the files that conflicted, and no others', async () => {
    const history = new History('conflict');
    history.session({ same: 'ours\n' });
    const base = history.tip;
    history.person({ same: 'theirs\n', other: '1' });
    scratch.try(history.worktree, ['merge', '--quiet', 'main']);
    scratch.write(history.worktree, { same: 'both\n' });
    scratch.git(history.worktree, 'add', '--all');
    scratch.git(history.worktree, 'commit', '--quiet', '--message', 'merge');
    expect(paths(await history.change(base))).toEqual(['same']);
    // Also if it keeps its own side.
    scratch.git(history.worktree, 'reset', '--quiet', '--hard', base);
    scratch.git(history.worktree, 'merge', '--quiet', '--strategy-option=ours', '--no-edit', 'main');
    expect(paths(await history.change(base))).toEqual(['same']);
  });
});

it('a main that contains the tip hides nothing: the position before the task came onto it counts', async () => {
  const history = new History('hides');
  const base = history.tip;
  const before = history.person();
  history.merge();
  const file = history.session();
  scratch.git(history.repo, 'merge', '--quiet', '--ff-only', 'task');
  expect(paths(await history.change(base, before))).toEqual([file]);
});
