import { execFileSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { RunScene, type Told } from '../../src/daemon/runs.cases.ts';
import { until } from '../../src/daemon/running.cases.ts';
import { someOf } from '../lanes.ts';

/** A session's work and Baton's findings, while its result claims that there are none. */
interface Case {
  readonly name: string;
  /** The steps before its result and its exit signal. */
  readonly steps: readonly object[];
  /** The changes that the result claims. */
  readonly claims: readonly string[];
  readonly found: readonly RegExp[];
  /**
   * Set if git itself does not show it. Only without a sandbox, since a sandboxed session can change only its own git
   * directory.
   */
  readonly isUnseen?: boolean;
}

const write = (path: string, text: string): object => ({ write: { path, text } });

/**
 * Manifests that exist before, with only `known` in them. For other package managers see
 * `find-new-dependencies.test.ts`.
 */
const BEFORE: Readonly<Record<string, string>> = {
  'package.json': '{"dependencies":{"known":"1.0.0"}}',
  'package-lock.json': '{"lockfileVersion":3,"packages":{"":{},"node_modules/known":{"version":"1.0.0"}}}',
};

const adds = (name: string, path: string, text: string, found: RegExp): Case => ({
  name,
  steps: [write(path, text)],
  claims: [path],
  found: [found],
});

/** A session with commits owes a record too, whatever the other findings are. */
const RECORD = `printf '{"task_id":"T002","branch":"feature/t002","commit_sha":"%s","tests_run":[],"summary":"one","blockers":[],"files_changed":["a.txt"],"related_thought_records":[]}' $(git rev-parse HEAD) | baton thought record -`;

const EVERY_CASE: readonly Case[] = [
  {
    name: 'an eleventh file',
    steps: Array.from({ length: 11 }, (_, i) => write(`f${i}.txt`, 'x')),
    claims: Array.from({ length: 11 }, (_, i) => `f${i}.txt`),
    found: [/^max_files: 11 files differ from the base, 10 allowed$/],
  },
  {
    name: 'a commit',
    steps: [write('a.txt', 'x'), { commit: 'one' }, { run: RECORD }],
    claims: ['a.txt'],
    found: [/^no_git_commit: HEAD is 1 commit ahead of the base$/],
  },
  adds('npm', 'package.json', '{"dependencies":{"known":"1.0.0","fresh":"1.0.0"}}', /^no_new_deps: npm fresh/),
  {
    name: 'a file that it does not name, and one that it did not touch',
    steps: [write('a.txt', 'x')],
    claims: ['b.txt'],
    found: [/listed but not changed: b\.txt/, /changed but not listed: a\.txt/],
  },
  {
    name: 'files that it hides from git',
    steps: [
      { run: 'echo "/hidden*" >> "$(git rev-parse --git-path info/exclude)"' },
      ...Array.from({ length: 10 }, (_, i) => write(`hidden${i}.txt`, 'x')),
      { run: 'git update-index --assume-unchanged package.json' },
      write('package.json', '{"dependencies":{"known":"1.0.0","fresh":"1.0.0"}}'),
    ],
    claims: [],
    found: [/^max_files: 11 files differ/, /^no_new_deps: npm fresh/, /changed but not listed: .*hidden0\.txt/],
    isUnseen: true,
  },
];

const CASES = someOf(EVERY_CASE, 0, 4);
const HONEST: Case = { name: 'honest', steps: [write('a.txt', 'x')], claims: ['a.txt'], found: [] };
/** A session that submits its result and does not exit. On a busy machine the other sessions are slow too. */
const SLOW: Case = { name: 'slow', steps: [write('a.txt', 'x')], claims: ['a.txt'], found: [] };
const ALL = [...CASES, HONEST, SLOW];
const idOf = (index: number): string => `T${String(index + 1).padStart(3, '0')}`;

const world = new RunScene();
let entries: readonly Told[] = [];

beforeAll(async () => {
  for (const [path, text] of Object.entries(BEFORE)) {
    mkdirSync(dirname(join(world.repository, path)), { recursive: true });
    writeFileSync(join(world.repository, path), text);
  }
  const git = ['-C', world.repository, '-c', 'user.name=t', '-c', 'user.email=t@t'];
  execFileSync('git', [...git, 'add', '--all']);
  execFileSync('git', [...git, 'commit', '-q', '-m', 'manifests']);
  const parts = ALL.map((each, i) => {
    const file = join(world.scene.folder, `${idOf(i)}.yaml`);
    writeFileSync(file, JSON.stringify({ steps: stepsOf(each, idOf(i)) }));
    const timeout = each === SLOW ? 'timeout = "8s"' : '';
    return `
      [agents.${idOf(i)}]
      run = "scripted ${file}"
      on_dead = "fail"
      on_stop = { action = "signal", attempts = 1 }
      requires = ["exit", "result"]
      ${timeout}
      ${each.isUnseen === true ? 'sandbox = "none"' : ''}
      [workers.${idOf(i)}]
      tasks = ["${idOf(i)}"]
      phases = ["IMPLEMENTATION"]
      run = { agent = "${idOf(i)}" }`;
  });
  world.write(`
    exit_protocol = true
    limits = { max_files = 10, no_git_commit = true, no_new_deps = true, kill_after = "500ms" }
    ${parts.join('\n')}`);
  await world.start();
  for (const i of ALL.keys()) await world.ask('task_create', { task_id: idOf(i), title: ALL[i]?.name });
  const isOver = async (): Promise<boolean> => {
    entries = await world.entries();
    return entries.filter(({ type }) => type === 'SessionMeasured').length === ALL.length;
  };
  await until(isOver, 'all sessions are measured', 200_000);
}, 230_000);
afterAll(async () => world.end());

function stepsOf(each: Case, id: string): unknown[] {
  const { steps, claims } = each;
  const at = '2026-01-01T00:00:00Z';
  const log = ['did it', 'nothing else'].map((message) => ({ level: 'info', message, timestamp: at }));
  const files_modified = claims.map((path) => ({ path, action: 'modified' }));
  const result = { version: '1', task_id: id, status: 'completed', files_modified, log, completed_at: at };
  const file = '.baton/session/result.yaml';
  const leaves = each === SLOW ? ['hang'] : [{ exit: 'IMPLEMENTATION' }, 'stop'];
  return [...steps, write(file, JSON.stringify(result)), { result: file }, ...leaves];
}

function of(id: string, type: string): Told['data'] | undefined {
  return entries.find((each) => each.type === type && each.data['task_id'] === id)?.data;
}

describe('a session that breaks its mission, and reports success', () => {
  it.each(CASES.map((each, i) => [each.name, idOf(i), each] as const))(
    'is caught: %s',
    async (_, id, { found, steps, isUnseen = false }) => {
      const exit = of(id, 'AgentSessionCompleted');
      expect(exit).toMatchObject({ exit_reason: 'error', claimed_exit_reason: 'completed', next_phase: 'BLOCKED' });
      const violations = of(id, 'SessionMeasured')?.['violations'] as string[];
      for (const pattern of found) expect(violations).toContainEqual(expect.stringMatching(pattern));
      expect(violations).toHaveLength(found.length);
      expect(of(id, 'ResultSubmitted')).toMatchObject({ result: { status: 'completed' } });
      expect(of(id, 'ClaimFailed')).toMatchObject({ reason: violations.join('; ') });
      expect(await world.ask('task_get', { task_id: id })).toMatchObject({ phase: 'BLOCKED' });
      const workspace = String(of(id, 'SessionPrepared')?.['workspace']);
      const kept = execFileSync('git', ['-C', workspace, 'status', '--porcelain'], { encoding: 'utf8' });
      expect(kept === '').toBe(isUnseen || steps.some((step) => 'commit' in step));
      const { worktrees } = await world.ask<{ worktrees: { path: string; holds: string[] }[] }>('worktree_list');
      expect(worktrees.find(({ path }) => path === workspace)?.holds).not.toEqual([]);
    },
  );

  it('is detected if it takes too long, and its work is measured', () => {
    const id = idOf(ALL.indexOf(SLOW));
    expect(of(id, 'SessionMeasured')).toMatchObject({ file_count: 1, violations: ['timeout: ended after 8 seconds'] });
    expect(of(id, 'ClaimFailed')).toMatchObject({ reason: expect.stringContaining('timed out') });
    expect(of(id, 'ResultSubmitted')).toMatchObject({ result: { status: 'completed' } });
  });

  it('is never merged', async () => {
    const types = await world.types();
    expect(types.filter((type) => type.startsWith('Merge'))).toEqual([]);
    const main = execFileSync('git', ['-C', world.repository, 'log', '-1', '--format=%s', 'main'], {
      encoding: 'utf8',
    });
    expect(main).toBe('manifests\n');
  });

  it('differs from one that keeps its mission', () => {
    const id = idOf(ALL.indexOf(HONEST));
    expect(of(id, 'AgentSessionCompleted')).toMatchObject({ exit_reason: 'completed', next_phase: 'CI_PENDING' });
    expect(of(id, 'SessionMeasured')).toMatchObject({ violations: [], file_count: 1 });
  });
});
