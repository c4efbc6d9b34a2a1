import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { git, gitEnvironment, gitLines } from './run-git.ts';
import { codeOf, Scratch, valueOf } from './scratch.cases.ts';

let scratch: Scratch;
let repo: string;

beforeEach(() => {
  scratch = new Scratch();
  repo = scratch.repository();
});
afterEach(() => scratch.remove());

describe('git', () => {
  it('returns the output, or a problem in its own words', async () => {
    expect(valueOf(await gitLines(['log', '--format=%s'], { cwd: repo }))).toEqual(['first']);
    const failed = await git(['rev-parse', '--verify', 'nothing'], { cwd: repo });
    expect(failed).toMatchObject({
      problem: { code: 'git/failed', message: 'git rev-parse failed: Needed a single revision' },
    });
    expect(valueOf(await git(['symbolic-ref', '-q', 'x'], { cwd: repo, answers: [1] }))).toMatchObject({ code: 1 });
  });

  it("names the files in git's message", async () => {
    scratch.git(repo, 'checkout', '--quiet', '-b', 'other');
    scratch.commit(repo, { mine: 'theirs' });
    scratch.git(repo, 'checkout', '--quiet', '-');
    scratch.write(repo, { mine: 'not committed' });
    const failed = await git(['merge', '--ff-only', 'other'], { cwd: repo });
    expect(failed).toMatchObject({
      problem: { message: expect.stringMatching(/would be overwritten by merge:; mine$/) },
    });
  });

  it('stops commands that take too long or print too much', async () => {
    const started = performance.now();
    scratch.git(repo, 'config', 'alias.slow', '!exec sleep 20');
    expect(codeOf(await git(['slow'], { cwd: repo, timeoutMs: 50 }))).toBe('git/timeout');
    expect(performance.now() - started).toBeLessThan(15_000);
    scratch.commit(repo, { large: 'x'.repeat(10_000) });
    const options = { cwd: repo, maxBytes: 1000 };
    expect(codeOf(await git(['cat-file', 'blob', 'HEAD:large'], options))).toBe('git/too-much-output');
  });

  it('passes input, even if git does not read it', async () => {
    const input = 'x'.repeat(1_000_000);
    const hash = valueOf(await gitLines(['hash-object', '--stdin'], { cwd: repo, input }));
    expect(hash).toHaveLength(1);
    expect(valueOf(await git(['version'], { cwd: repo, input })).stdout).toMatch(/^git version/);
  });

  it('does not run the monitor that a repository configures', async () => {
    scratch.git(repo, 'config', 'core.fsmonitor', `touch '${scratch.folder}/ran'; false`);
    valueOf(await git(['status', '--porcelain'], { cwd: repo }));
    expect(scratch.try(repo, ['hash-object', `${scratch.folder}/ran`]).code).not.toBe(0);
  });
});

it('keeps the identity from the environment, not the location', () => {
  const from = {
    PATH: '/bin',
    GIT_DIR: '/elsewhere',
    GIT_INDEX_FILE: 'x',
    GIT_CONFIG_COUNT: '1',
    GIT_CONFIG_PARAMETERS: "'a.b=c'",
    GIT_SSH_COMMAND: 'ssh -v',
    GIT_AUTHOR_NAME: 'Ada',
    GIT_AUTHOR_DATE: '2020-01-01',
    BATON_SESSION: 's1',
    LC_ALL: 'de_DE.UTF-8',
  };
  expect(gitEnvironment(from)).toEqual({
    PATH: '/bin',
    GIT_SSH_COMMAND: 'ssh -v',
    GIT_AUTHOR_NAME: 'Ada',
    LC_ALL: 'C',
    GIT_TERMINAL_PROMPT: '0',
    GIT_OPTIONAL_LOCKS: '0',
    GIT_NO_LAZY_FETCH: '1',
    GIT_NO_REPLACE_OBJECTS: '1',
    GIT_EDITOR: ':',
  });
});
