import { execFileSync } from 'node:child_process';
import { existsSync, lstatSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { inLongLane } from '../lanes.ts';
import { RunScene, type Told } from '../../src/daemon/runs.cases.ts';
import { until } from '../../src/daemon/running.cases.ts';
import { parseMission } from '../../src/protocol/mission.ts';

let world: RunScene;
beforeEach(() => {
  world = new RunScene();
});
afterEach(async () => world.end());

const git = (...args: string[]): string =>
  execFileSync('git', ['-c', 'user.name=t', '-c', 'user.email=t@t', ...args], { encoding: 'utf8' }).trim();

/** Commits a file of the repository. */
function keep(path: string, text: string): void {
  mkdirSync(dirname(join(world.repository, path)), { recursive: true });
  writeFileSync(join(world.repository, path), text);
  git('-C', world.repository, 'add', path);
  git('-C', world.repository, 'commit', '-q', '-m', `add ${path}`);
}

/** A worker with the scripted agent, which plays these steps on any task. */
function script(steps: string, more = ''): void {
  writeFileSync(join(world.scene.folder, 'script.yaml'), steps);
  world.write(`
    exit_protocol = true
    ${more}
    [agents.coder]
    run = "scripted ${join(world.scene.folder, 'script.yaml')}"
    role = "implementer"
    timeout = "60s"
    on_dead = "fail"
    on_stop = { action = "signal", attempts = 1 }
    [workers.w]
    phases = ["IMPLEMENTATION"]
    run = { agent = "coder" }`);
}

const result = (files: string, status = 'completed'): string => `
  - write:
      path: .baton/session/result.yaml
      text: |
        version: "1"
        task_id: T001
        status: ${status}
        files_modified: ${files}
        log:
          - { level: info, message: did it, timestamp: "2026-01-01T00:00:00Z" }
          - { level: tip, message: nothing else, timestamp: "2026-01-01T00:00:00Z" }
        completed_at: "2026-01-01T00:00:00Z"
  - result: .baton/session/result.yaml`;

const EXIT = `
  - exit: IMPLEMENTATION
  - stop`;

async function entry(type: string): Promise<Told> {
  const find = async () => (await world.entries()).find((each) => each.type === type);
  await until(async () => (await find()) !== undefined, `${type} is recorded`, 30_000);
  return (await find()) as Told;
}

/** Baton's messages to the session. */
async function readSaid(): Promise<string> {
  const { data } = await entry('SessionPrepared');
  return readFileSync(join(String(data['workspace']), '.baton/session/said'), 'utf8');
}

describe('a session that Baton starts', { timeout: 90_000 }, () => {
  it('has its mission in the worktree of its task, recorded before it runs', async () => {
    keep('docs/ask.md', 'Please ``` do it.');
    script(
      `steps:
  - run: 'cd .baton/session; cp "$BATON_MISSION" seen.yaml; (cd ../..; pwd) > where; baton mission show > got; git status --porcelain > status; echo $BATON_PORT > port'${result('[]')}${EXIT}`,
      'limits = { max_files = 3, no_new_deps = true }',
    );
    await world.start();
    await world.ask('task_create', { task_id: 'T001', title: 'Say hello', prompt_file: 'docs/ask.md' });
    await entry('AgentSessionCompleted');
    const types = await world.types();
    expect(types.indexOf('SessionPrepared')).toBeLessThan(types.indexOf('AgentStarted'));
    const { data } = await entry('SessionPrepared');
    const workspace = String(data['workspace']);
    expect(workspace).toBe(join(world.repository, '.worktrees/t001-say-hello'));
    const read = (name: string): string => readFileSync(join(workspace, '.baton/session', name), 'utf8').trim();
    expect(read('where')).toBe(workspace);
    expect(read('status')).toBe('');
    expect(Number(read('port'))).toBe(data['port']);
    const mission = parseMission(readFileSync(join(workspace, '.baton/session/seen.yaml')));
    expect(mission).toMatchObject({ ok: true, value: data['mission'] });
    expect(data['mission']).toMatchObject({ constraints: { max_files: 3, no_new_deps: true }, timeout: 60 });
    expect(JSON.parse(read('got'))).toEqual(data['mission']);
    const task = readFileSync(join(workspace, '.baton/session/task.md'), 'utf8');
    expect(task).toContain('Please ``` do it.');
    expect(task).toContain('````markdown');
    expect(task).toContain('handoff-to-reviewer-agent.xml');
    expect(existsSync(join(workspace, '.baton/session/epic.md'))).toBe(true);
  });

  inLongLane(() => {
    it('follows the runbook in force at its start, even if that was adopted under a running daemon', async () => {
      const steps = `steps:${result('[]').replaceAll('T001', 'T002')}${EXIT}`;
      script(steps, '[workspace]\nsetup = "exit 3"\n[limits]\nmax_files = 3');
      await world.start();
      await world.ask('task_create', { task_id: 'T001', title: 'Say hello' });
      expect((await entry('ClaimFailed')).data).toMatchObject({ reason: expect.stringContaining('exit code 3') });
      script(steps, '[workspace]\nsetup = "exit 0"\n[limits]\nmax_files = 1\nno_new_deps = true');
      await world.ask('runbook_adopt');
      await world.ask('task_create', { task_id: 'T002', title: 'Say hello again' });
      const constraints = { max_files: 1, no_new_deps: true };
      expect((await entry('SessionPrepared')).data).toMatchObject({ task_id: 'T002', mission: { constraints } });
      await entry('AgentSessionCompleted');
    });
  });

  inLongLane(() => {
    it('has its mission, whatever an earlier session has put in its place', async () => {
      keep('docs/ask.md', 'Please do it.');
      script(`steps:
    - run: 'if [ -e seen ]; then cp .baton/session/task.md seen; else touch seen; rm docs/ask.md .baton/session/task.md; mkfifo docs/ask.md .baton/session/task.md; ln -sf ../../outside .baton/session/epic.md; fi'
    - run: 'baton emit exit ''{"protocol":"apm2_agent_exit","version":"1.0.0","phase_completed":"IMPLEMENTATION","exit_reason":"blocked"}'''
    - stop`);
      await world.start();
      await world.ask('task_create', { task_id: 'T001', title: 'Say hello', prompt_file: 'docs/ask.md' });
      await entry('AgentSessionCompleted');
      await world.ask('task_unblock', { task_id: 'T001', reason: 'again' });
      const ended = async () => (await world.types()).filter((type) => type === 'AgentSessionCompleted').length === 2;
      await until(ended, 'the second has ended', 30_000);
      const { workspace } = (await entry('SessionPrepared')).data;
      expect(readFileSync(join(String(workspace), 'seen'), 'utf8')).toContain('T001: Say hello');
      expect(lstatSync(join(String(workspace), '.baton/session/epic.md')).isFile()).toBe(true);
      expect(existsSync(join(String(workspace), 'outside'))).toBe(false);
    });

    it('keeps its worktree while its task continues, even if it has left its branch', async () => {
      // In a sandbox the worktree can only follow other branches.
      script(
        `steps:
    - run: 'git checkout -q --detach; baton emit exit ''{"protocol":"apm2_agent_exit","version":"1.0.0","phase_completed":"IMPLEMENTATION","exit_reason":"blocked"}'''
    - stop`,
        'sandbox = "none"',
      );
      await world.start();
      await world.ask('task_create', { task_id: 'T001', title: 'Say hello' });
      await entry('AgentExited');
      expect(await world.ask('worktree_prune')).toMatchObject({
        removed: [],
        kept: [{ branch: null, holds: [], needed: 'T001 is BLOCKED' }],
      });
    });

    it('that does its mission is measured, and its task continues', async () => {
      script(
        `steps:
  - write: { path: a.txt, text: hello }${result('[{ path: a.txt, action: created }]')}${EXIT}`,
        'limits = { max_files = 1 }',
      );
      await world.start();
      await world.ask('task_create', { task_id: 'T001', title: 'Say hello' });
      expect((await entry('AgentSessionCompleted')).data).toMatchObject({
        exit_reason: 'completed',
        next_phase: 'CI_PENDING',
      });
      expect((await entry('SessionMeasured')).data).toMatchObject({
        file_count: 1,
        files: [{ path: 'a.txt', action: 'created' }],
        commits: 0,
        violations: [],
      });
    });
  });

  it('can show only its own work as evidence: the bundle is compared with the worktree', async () => {
    const bundle = (head: string, task = 'T001'): string =>
      `printf '{"task_id":"${task}","phase":"IMPLEMENTATION","head_sha":"%s","commands":[],"files":[],"next_step":"review"}' ${head} > .baton/session/e.json`;
    const exit = `baton emit exit '{"protocol":"apm2_agent_exit","version":"1.0.0","phase_completed":"IMPLEMENTATION","exit_reason":"completed","evidence_bundle_ref":".baton/session/e.json"}'`;
    const tried = (head: string, task?: string): string =>
      `  - run: ${JSON.stringify(`${bundle(head, task)}; ${exit} 2>> .baton/session/said`)}`;
    script(`steps:${result('[]')}
${tried('0123456789012345678901234567890123456789')}
${tried('$(git rev-parse HEAD)', 'T999')}
${tried('$(git rev-parse HEAD)')}
  - stop`);
    await world.start();
    await world.ask('task_create', { task_id: 'T001', title: 'Say hello' });
    expect((await entry('AgentSessionCompleted')).data).toMatchObject({ exit_reason: 'completed' });
    const said = await readSaid();
    expect(said).toContain('head_sha 0123456789012345678901234567890123456789 is not on the branch');
    expect(said).toContain('it is about T999, not T001');
  });

  inLongLane(() => {
    it('that owes a result and has none does not complete, whatever it reports', async () => {
      script(`steps:
    - run: 'baton emit exit ''{"protocol":"apm2_agent_exit","version":"1.0.0","phase_completed":"IMPLEMENTATION","exit_reason":"completed"}'' 2> .baton/session/said; echo nonsense > r.yaml; baton result submit r.yaml; rm r.yaml'
    - stop
    - stop`);
      await world.start();
      await world.ask('task_create', { task_id: 'T001', title: 'Say hello' });
      expect((await entry('ClaimFailed')).data).toMatchObject({ task_id: 'T001' });
      expect(await readSaid()).toContain('cannot complete: missing result');
      expect(await world.types()).not.toContain('AgentSessionCompleted');
      expect((await entry('SessionMeasured')).data).toMatchObject({ file_count: 0 });
    });
  });
});
