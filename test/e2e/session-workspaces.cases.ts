import { execFileSync } from 'node:child_process';
import { existsSync, lstatSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { RunScene, type Shown, type Told } from '../../src/daemon/runs.cases.ts';
import { until } from '../../src/daemon/running.cases.ts';
import { readRunning } from '../../src/effects/processes/supervised.ts';
import { agentFiles } from '../../src/supervisor/contract.ts';

const git = (folder: string, ...args: string[]): string =>
  execFileSync('git', ['-C', folder, '-c', 'user.name=t', '-c', 'user.email=t@t', ...args], {
    encoding: 'utf8',
  }).trim();

/** Content of a worktree that must not be lost, and how to check that it still exists. */
interface Content {
  readonly name: string;
  readonly put: (worktree: string) => void;
  readonly isThere: (worktree: string) => boolean;
  /** What the message to people lists. */
  readonly listed: RegExp;
}

const text = (path: string): string => readFileSync(path, 'utf8');
const subject = (worktree: string): string => git(worktree, 'log', '-1', '--format=%s');
const commit = (worktree: string): void =>
  void git(worktree, 'commit', '-q', '--allow-empty', '-m', 'precious', '-m', worktree);

const CONTENTS: readonly Content[] = [
  {
    name: 'uncommitted',
    put: (worktree) => writeFileSync(join(worktree, 'tracked.txt'), 'precious'),
    isThere: (worktree) => text(join(worktree, 'tracked.txt')) === 'precious',
    listed: /1 changed/,
  },
  {
    name: 'untracked',
    put: (worktree) => writeFileSync(join(worktree, 'new.txt'), 'precious'),
    isThere: (worktree) => text(join(worktree, 'new.txt')) === 'precious',
    listed: /1 untracked/,
  },
  {
    name: 'staged',
    put: (worktree) => {
      writeFileSync(join(worktree, 'tracked.txt'), 'precious');
      git(worktree, 'add', 'tracked.txt');
    },
    isThere: (worktree) => git(worktree, 'diff', '--cached', '--name-only') === 'tracked.txt',
    listed: /1 staged/,
  },
  {
    name: 'stashed',
    put: (worktree) => {
      writeFileSync(join(worktree, 'tracked.txt'), 'precious');
      git(worktree, 'stash', 'push', '-q');
    },
    isThere: (worktree) => git(worktree, 'stash', 'list').includes('-stashed'),
    listed: /1 stashed/,
  },
  { name: 'unpushed', put: commit, isThere: (worktree) => subject(worktree) === 'precious', listed: /1 unpushed/ },
  {
    name: 'unmerged',
    put: (worktree) => {
      commit(worktree);
      git(worktree, 'push', '-q', 'origin', 'HEAD');
    },
    isThere: (worktree) => subject(worktree) === 'precious',
    listed: /^1 unmerged$/,
  },
  {
    name: 'configured',
    put: (worktree) => writeFileSync(join(worktree, '.env'), 'TOKEN=precious'),
    isThere: (worktree) => text(join(worktree, '.env')) === 'TOKEN=precious',
    listed: /1 configured/,
  },
  {
    name: 'configured and only here',
    put: (worktree) => writeFileSync(join(worktree, 'not-there'), 'precious'),
    isThere: (worktree) => text(join(worktree, 'not-there')) === 'precious',
    listed: /1 configured/,
  },
  {
    name: 'hidden',
    put: (worktree) => {
      const rules = git(worktree, 'rev-parse', '--path-format=absolute', '--git-path', 'info/exclude');
      writeFileSync(rules, `${text(rules)}/precious*\n`);
      writeFileSync(join(worktree, 'precious.txt'), 'precious');
    },
    isThere: (worktree) => text(join(worktree, 'precious.txt')) === 'precious',
    listed: /1 untracked/,
  },
  {
    name: 'assumed',
    put: (worktree) => {
      git(worktree, 'update-index', '--assume-unchanged', 'tracked.txt');
      writeFileSync(join(worktree, 'tracked.txt'), 'precious');
    },
    isThere: (worktree) => text(join(worktree, 'tracked.txt')) === 'precious',
    listed: /1 changed/,
  },
];

const idOf = (index: number): string => `T${String(index + 1).padStart(3, '0')}`;

/**
 * At most twelve tasks with three sessions each: the content that each first session puts into its worktree still
 * exists after everything that can happen to a session. `src/git/worktree/remove-worktree.int.test.ts` tests for every
 * content that it keeps its worktree.
 */
export function proveWorkspaces(isChosen: (name: string) => boolean): void {
  const contents = CONTENTS.filter(({ name }) => isChosen(name));
  const tasks = [...contents.map(({ name }) => name), 'tidy', 'clean'];

  const world = new RunScene();
  /** Whether everything still existed after each attempt, by task. */
  const after = new Map<string, readonly boolean[]>();
  let kept: readonly { path: string; holds: readonly string[]; needed: string | null }[] = [];
  let removed: readonly string[] = [];
  let places: readonly string[] = [];
  const cleared = new Map<string, Told['data']>();
  /** The result of closing each task. */
  const closed = new Map<string, string>();

  beforeAll(async () => {
    const { repository } = world;
    writeFileSync(join(repository, 'tracked.txt'), 'as it was');
    writeFileSync(join(repository, '.gitignore'), '.env\nnot-there\nnode_modules/\n.baton/setup.txt\n');
    git(repository, 'add', '--all');
    git(repository, 'commit', '-q', '-m', 'second');
    const remote = join(world.scene.folder, 'remote.git');
    execFileSync('git', ['init', '-q', '--bare', remote]);
    git(repository, 'remote', 'add', 'origin', remote);
    git(repository, 'push', '-q', 'origin', 'main');
    writeFileSync(join(repository, '.env'), 'TOKEN=of the repository');
    mkdirSync(join(repository, 'node_modules/x'), { recursive: true });
    world.write(`
      limits = { kill_after = "300ms" }
      [workspace]
      copy = [".env", "not-there"]
      link = ["node_modules"]
      setup = "echo set up >> .baton/setup.txt"
      [agents.coder]
      run = "sleep 600"
      on_dead = "fail"
      requires = []
      [workers.w]
      concurrency = 20
      run = { agent = "coder" }`);
    mkdirSync(join(repository, '.baton'), { recursive: true });
    writeFileSync(join(repository, '.baton/keep'), '');
    git(repository, 'add', '.baton/keep');
    git(repository, 'commit', '-q', '-m', 'third');
    git(repository, 'push', '-q', 'origin', 'main');
    await world.start();
    for (const [i, title] of tasks.entries()) await world.ask('task_create', { task_id: idOf(i), title });

    const first = await agents(1);
    places = await workspaces();
    for (const [i, { put }] of contents.entries()) put(places[i] ?? '');
    look('work');
    for (const { id } of first) await world.ask('agent_kill', { id, reason: 'enough' });
    await agentsGone(first);
    look('cancel');
    await again();

    const second = await agents(2);
    look('re-run');
    for (const { id } of second) process.kill(supervisorOf(id), 'SIGKILL');
    await agentsGone(second);
    look('crash');
    await again();

    await agents(3);
    await world.restart();
    look('restart');
    const commit_sha = git(repository, 'rev-parse', 'HEAD');
    const record = { branch: 'main', commit_sha, tests_run: [], summary: 's', blockers: [], files_changed: [] };
    for (const i of tasks.keys())
      await world.ask('task_complete', { task_id: idOf(i), ...record, related_thought_records: [] });
    await until(async () => (await world.ask<{ agents: Shown[] }>('agent_list')).agents.length === 0, 'all are gone');
    look('done');
    const clearings = async () => (await world.entries()).filter(({ type }) => type === 'PlaceCleared');
    await until(async () => (await clearings()).length === tasks.length, 'all worktrees were looked at', 60_000);
    for (const { data } of await clearings()) cleared.set(String(data['task_id']), data);
    look('cleared');
    for (const [i, name] of tasks.slice(0, -1).entries()) {
      const { actions } = await world.ask<{ actions: string[] }>('workflow_close', { task_id: idOf(i) });
      closed.set(name, actions.join('; '));
    }
    look('close');
    const pruned = await world.ask<{ removed: string[]; kept: typeof kept }>('worktree_prune');
    ({ removed, kept } = pruned);
    look('prune');
  }, 180_000);
  afterAll(async () => world.end());

  function look(what: string): void {
    const isThere = ({ isThere: holds }: Content, i: number): boolean => {
      const place = places[i] ?? '';
      return existsSync(place) && holds(place);
    };
    after.set(what, contents.map(isThere));
  }

  /** The agents of each task's nth session, once they run. */
  async function agents(epoch: number): Promise<Shown[]> {
    const find = async () =>
      (await world.ask<{ agents: Shown[] }>('agent_list')).agents.filter(({ process }) => process === 'running');
    await until(async () => (await find()).length === tasks.length, `all agents of session ${epoch} run`, 60_000);
    return find();
  }

  async function agentsGone(which: readonly Shown[]): Promise<void> {
    const isGone = async (id: string) => (await world.ask('agent_show', { id })).process === 'gone';
    await until(
      async () => (await Promise.all(which.map(async ({ id }) => isGone(id)))).every(Boolean),
      'they are gone',
      60_000,
    );
  }

  async function again(): Promise<void> {
    for (const i of tasks.keys()) {
      const task_id = idOf(i);
      await until(
        async () => (await world.ask<{ phase: string }>('task_get', { task_id })).phase === 'BLOCKED',
        'blocked',
      );
      await world.ask('task_unblock', { task_id, reason: 'again' });
    }
  }

  async function workspaces(): Promise<string[]> {
    const prepared = (await world.entries()).filter(({ type }) => type === 'SessionPrepared');
    return tasks.map((_, i) => String(prepared.find(({ data }) => data['task_id'] === idOf(i))?.data['workspace']));
  }

  function supervisorOf(agentId: string): number {
    return Number(readRunning(agentFiles(world.stateDir, agentId), 1)?.supervisor.split('/')[1]);
  }

  describe('the worktree of a task', () => {
    it('gets files that git does not contain, once', () => {
      const place = places[1] ?? '';
      expect(lstatSync(join(place, 'node_modules')).isSymbolicLink()).toBe(true);
      expect(existsSync(join(place, 'node_modules/x'))).toBe(true);
      expect(existsSync(join(place, 'not-there'))).toBe(false);
      expect(text(join(places[0] ?? '', '.env'))).toBe('TOKEN=of the repository');
      expect(text(join(place, '.baton/setup.txt'))).toBe('set up\n');
    });

    it('is the same for every session of the task, with the same unique port', async () => {
      const prepared = (await world.entries()).filter(({ type }) => type === 'SessionPrepared').map(({ data }) => data);
      for (const i of tasks.keys()) {
        const own = prepared.filter(({ task_id }) => task_id === idOf(i));
        expect(own).toHaveLength(3);
        expect(new Set(own.map(({ workspace }) => workspace)).size).toBe(1);
        expect(new Set(own.map(({ port }) => port)).size).toBe(1);
      }
      expect(new Set(prepared.map(({ port }) => port)).size).toBe(tasks.length);
    });

    it.each(['work', 'cancel', 're-run', 'crash', 'restart', 'done', 'cleared', 'close', 'prune'])(
      'keeps everything after: %s',
      (what) => {
        const lost = contents.map(({ name }) => name).filter((_, i) => after.get(what)?.[i] !== true);
        expect(lost).toEqual([]);
      },
    );

    it.each(contents.map((each, i) => [each.name, i, each] as const))(
      'is listed with what it holds: %s',
      (name, i, { listed }) => {
        const view = kept.find(({ path }) => path === places[i]);
        const reason = `kept '${places[i] ?? ''}': ${view?.holds.join(', ') ?? ''}`;
        expect(closed.get(name)).toContain(reason);
        expect(cleared.get(idOf(i))).toMatchObject({ outcome: 'kept', reason: expect.stringContaining(reason) });
        expect(view).toMatchObject({ needed: null, holds: expect.arrayContaining([expect.stringMatching(listed)]) });
      },
    );

    it('is removed with its branch when the task is completed, if nothing would be lost', () => {
      for (const name of ['tidy', 'clean']) {
        const id = idOf(tasks.indexOf(name));
        expect(cleared.get(id)).toMatchObject({ outcome: 'removed', reason: null });
        expect(git(world.repository, 'branch', '--list', `feature/${id.toLowerCase()}-${name}`)).toBe('');
      }
      expect(places.slice(-2).map((place) => existsSync(place))).toEqual([false, false]);
      expect([removed, closed.get('tidy')]).toEqual([[], expect.stringContaining('Worktree and branch are gone')]);
      expect(existsSync(join(world.repository, 'node_modules/x'))).toBe(true);
    });
  });
}
