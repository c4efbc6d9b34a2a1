import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { fencePath } from '../../git/fence/fence.ts';
import { parseEntry, type Entry } from '../../ledger/format/entry.ts';
import { decide, type Command } from '../../state/decide.ts';
import { agentStep, pipelinePlan, shellStep, startPipeline } from '../../state/runs/say.cases.ts';
import type { Caller } from '../../state/caller.ts';
import { actorOf } from '../../state/caller.ts';
import { LATER } from './request.ts';
import { type Project } from '../project/project.ts';
import { openBareProject } from '../project/project.cases.ts';

const OPERATOR: Caller = { kind: 'operator', name: 'ada' };
let folder: string;
let project: Project;
let mistakes: unknown[];

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'baton-keeper-'));
  mistakes = [];
  project = await open();
});
afterEach(async () => {
  await project.close();
  rmSync(folder, { recursive: true });
});

describe('a project', () => {
  it('gives each of many simultaneous claims its own task', async () => {
    for (let i = 0; i < 20; i++) await ask({ kind: 'create-task', command: { id: `T${i}`, title: 'x' } });
    const claims = await Promise.all(Array.from({ length: 30 }, (_, i) => claimNext(`s${i}`, 0)));
    const won = claims.flatMap((claim) => (claim.ok ? [claim.answer] : []));
    expect(new Set(won.map(({ id }) => id)).size).toBe(20);
    expect(claims.filter((claim) => !claim.ok)).toHaveLength(10);
  });

  it('serves a waiting request in the commit that creates the work', async () => {
    const waiting = claimNext('s1', 10_000);
    const before = project.ledger.head.size;
    await ask({ kind: 'create-task', command: { id: 'A', title: 'x' } });
    expect(await waiting).toMatchObject({ ok: true, answer: { id: 'A', epoch: 1 } });
    expect(project.ledger.head.size - before).toBe(2);
  });

  it('does not renew a claim that ends in the same commit', async () => {
    await ask({ kind: 'create-task', command: { id: 'A', title: 'x' } });
    await claimNext('s1', 0);
    expect(await project.renewClaim('A', 1)).toEqual({ ok: true, answer: true });
    const [, renewed, revoked] = await Promise.all([
      ask({ kind: 'create-task', command: { id: 'B', title: 'x' } }),
      project.renewClaim('A', 1),
      ask({ kind: 'release-claim', command: { id: 'A' } }),
    ]);
    expect([renewed, revoked.ok]).toEqual([{ ok: true, answer: false }, true]);
  });

  it('is read at once if no commit is in progress, else after the earlier requests', async () => {
    const tasks = async () =>
      project.commandLoop.read(({ state }) => ({ known: state.tasks.size, durable: isDurable() }));
    const isDurable = (): boolean => project.ledger.head.size > before;
    const before = project.ledger.head.size;
    expect(await tasks()).toMatchObject({ answer: { known: 0 } });
    const order: string[] = [];
    const created = ask({ kind: 'create-task', command: { id: 'A', title: 'x' } }).then(() => order.push('created'));
    const seen = tasks().then((read) => (order.push('read'), read));
    expect(await seen).toMatchObject({ answer: { known: 1 } });
    await created;
    expect([order, isDurable()]).toEqual([['created', 'read'], true]);
    expect(await tasks()).toMatchObject({ answer: { known: 1, durable: true } });
    const failed = await project.commandLoop.read(() => {
      throw new Error('a mistake');
    });
    expect([failed.ok, mistakes.length]).toEqual([false, 1]);
  });

  it('answers reads that share a failed commit from the durable state', async () => {
    await ask({ kind: 'create-task', command: { id: 'A', title: 'x' } });
    const { store } = project.ledger;
    const refusal = { code: 'ledger/disk-full', message: 'no room', path: '', line: null, column: null, hint: '' };
    const append = vi.spyOn(store, 'append').mockResolvedValue({ ok: false, problem: refusal });
    const count = async () => project.commandLoop.read(({ state }) => state.tasks.size);
    const [created, read, again] = await Promise.all([
      ask({ kind: 'create-task', command: { id: 'B', title: 'x' } }),
      count(),
      ask({ kind: 'create-task', command: { id: 'A', title: 'x' } }),
    ]);
    expect(created).toMatchObject({ ok: false, problem: { message: 'no room' } });
    expect(read).toEqual({ ok: true, answer: 1 });
    expect(again).toMatchObject({ ok: false, refusal: { code: 'task-exists' } });
    append.mockRestore();
    expect(await ask({ kind: 'create-task', command: { id: 'B', title: 'x' } })).toMatchObject({ ok: true });
    expect(await count()).toEqual({ ok: true, answer: 2 });
  });

  it('answers a retry with the same key like the first time, also after a restart', async () => {
    const create: Command = { kind: 'create-task', command: { id: 'A', title: 'x' } };
    const first = await ask(create, 'key-1');
    const size = project.ledger.head.size;
    expect(await ask(create, 'key-1')).toEqual(first);
    await project.close();
    project = await open();
    expect(await ask(create, 'key-1')).toEqual(first);
    expect(project.ledger.head.size).toBe(size);
    expect(await ask(create, 'key-2')).toMatchObject({ ok: false, refusal: { code: 'task-exists' } });
  });

  it('is the same after a restart, with a snapshot and without', async () => {
    await ask({ kind: 'create-task', command: { id: 'A', title: 'x' } });
    await claimNext('s1', 0);
    const before = await look();
    await project.close();
    project = await open();
    expect(await look()).toEqual(before);
    await ask({ kind: 'create-task', command: { id: 'B', title: 'y', after: ['A'] } });
    const later = await look();
    await project.ledger.close();
    project = await open();
    expect(await look()).toEqual(later);
  });

  it('answers a decision that throws with an internal error, and all others normally', async () => {
    const before = project.ledger.head.size;
    const fine = (id: string) => ask({ kind: 'create-task', command: { id, title: 'x' } });
    const waiting = claimNext('s1', 10_000);
    const thrown = project.commandLoop.submit({
      actor: actorOf(OPERATOR),
      decide: () => {
        throw new Error('a mistake');
      },
    });
    const [one, broken, other] = await Promise.all([fine('A'), thrown, fine('B')]);
    expect(broken).toMatchObject({ ok: false, refusal: { code: 'internal' } });
    expect([one, other, await waiting]).toMatchObject([{ ok: true }, { ok: true }, { ok: true, answer: { id: 'A' } }]);
    expect(mistakes.map(String)).toEqual(['Error: a mistake']);
    expect(project.ledger.head.size).toBe(before + 3);
    expect(await fine('C')).toMatchObject({ ok: true });
  });

  it('continues if a follower of the entries throws', async () => {
    await ask({ kind: 'create-task', command: { id: 'A', title: 'x' } });
    project.fences.add('A', null);
    const fence = fencePath(folder, 'p', 'A');
    rmSync(fence);
    mkdirSync(join(fence, 'in the way'), { recursive: true });
    expect(await claimNext('s1', 0)).toMatchObject({ ok: true, answer: { id: 'A' } });
    expect(mistakes).toHaveLength(1);
    expect(await ask({ kind: 'create-task', command: { id: 'B', title: 'x' } })).toMatchObject({ ok: true });
  });

  it('does not retry requests that wait for work while there is none', async () => {
    const asked = vi.fn<() => typeof LATER>(() => LATER);
    const otherwise = { ok: false, refusal: { code: 'nothing', message: 'nothing', hint: '' } } as const;
    const gone = new AbortController();
    const patience = { ms: 10_000, otherwise, signal: gone.signal };
    const waiting = project.commandLoop.submit({
      actor: 'session:s',
      waitsFor: 'work',
      waitLimit: patience,
      decide: asked,
    });
    await ask({ kind: 'create-task', command: { id: 'A', title: 'x' } });
    expect(asked).toHaveBeenCalledTimes(2);
    await claimNext('s1', 0);
    await ask({ kind: 'create-task', command: { id: 'B', title: 'x', after: ['A'] } });
    expect(asked).toHaveBeenCalledTimes(2);
    gone.abort();
    expect(await waiting).toMatchObject({ ok: false, refusal: { code: 'nothing' } });
  });

  it('answers waiting requests before the request that created their work', async () => {
    const order: string[] = [];
    const waiting = claimNext('s1', 10_000).then(() => order.push('the one who waited'));
    const made = ask({ kind: 'create-task', command: { id: 'A', title: 'x' } }).then(() => order.push('the maker'));
    await Promise.all([waiting, made]);
    expect(order).toEqual(['the one who waited', 'the maker']);
  });

  it('answers a waiting request when its time is over', async () => {
    expect(await claimNext('s1', 20)).toMatchObject({ ok: false, refusal: { code: 'nothing' } });
  });
});

describe('what follows from a command', () => {
  it('is recorded in the same commit, by the engine, with its cause', async () => {
    const before = project.ledger.head.size;
    const answer = await ask(startPipeline(pipelinePlan([shellStep('a'), agentStep('b')])));
    expect(answer).toEqual({ ok: true, answer: { id: 'p1' } });
    const entries = await entriesAfter(before);
    expect(entries.map(({ type, actor, cause }) => [type, actor, cause === null ? null : cause - before])).toEqual([
      ['PipelineStarted', 'operator:ada', null],
      ['StepStarted', 'system:engine', 1],
      ['CommandRequested', 'system:engine', 2],
    ]);
  });

  it('keeps its effects after a restart, with a snapshot and without', async () => {
    await ask(startPipeline(pipelinePlan([agentStep('a', { timeout_ms: 1000 })])));
    const owed = async () => project.commandLoop.read(({ state }) => structuredClone([...state.effects.values()]));
    const before = await owed();
    expect(before).toMatchObject({ answer: [{ type: 'TimerSet' }, { type: 'AgentRequested' }] });
    await project.close();
    project = await open();
    expect(await owed()).toEqual(before);
    await ask({ kind: 'create-task', command: { id: 'A', title: 'x' } });
    await project.ledger.close();
    project = await open();
    expect(await owed()).toEqual(before);
  });

  it('is not opened if an entry does not have the fields of its type', async () => {
    await project.ledger.append([{ actor: 'system:x', type: 'AgentIdle', data: { agent_id: 'a1', why: 'tired' } }]);
    const seq = project.ledger.head.size;
    await project.ledger.close();
    const refused = await open().catch((error: Error) => error.message);
    expect(refused).toBe(`entry ${seq} (AgentIdle) cannot be read: data.why is not one of stop, waiting, quiet`);
    rmSync(folder, { recursive: true });
    folder = mkdtempSync(join(tmpdir(), 'baton-keeper-'));
    project = await open();
  });

  it('is not recorded if the rules never end, and only its request fails', async () => {
    const many = Array.from({ length: 2600 }, async (_, i) =>
      ask({ kind: 'create-task', command: { id: `T${i}`, title: 'x' } }),
    );
    await Promise.all(many);
    const before = project.ledger.head.size;
    const greedy = { name: 'greedy', concurrency: 9999, plan: { kind: 'shell', command: 'x' } } as const;
    const [refused, made] = await Promise.all([
      ask({ kind: 'configure-workers', command: { workers: [greedy] } }),
      ask({ kind: 'create-task', command: { id: 'Z', title: 'x' } }),
    ]);
    expect(refused).toMatchObject({ ok: false, refusal: { code: 'internal' } });
    expect(made).toMatchObject({ ok: true });
    expect((await entriesAfter(before)).map(({ type }) => type)).toEqual(['TaskCreated']);
  });

  it('is limited: a commit takes no more requests than the ledger can record', async () => {
    const nested = { name: 'n', run: { kind: 'pipeline', pipeline: 'inner', vars: {} } } as const;
    const inside = [{ name: 'inner', vars: {}, steps: [shellStep('deep')] }];
    const plan = pipelinePlan([nested], { inside });
    const answers = await Promise.all(
      Array.from({ length: 1500 }, async (_, i) => ask(startPipeline(plan, {}, `p${i}`))),
    );
    expect(answers.filter(({ ok }) => !ok)).toEqual([]);
    const owed = await project.commandLoop.read(({ state }) => state.effects.size);
    expect(owed).toMatchObject({ answer: 1500 });
  });
});

async function entriesAfter(seq: number): Promise<Entry[]> {
  const found: Entry[] = [];
  for await (const batch of project.ledger.store.entries({ from: seq + 1, to: project.ledger.head.size }))
    for (const { bytes } of batch) {
      const entry = parseEntry(bytes);
      if (entry.ok) found.push(entry.value);
    }
  return found;
}

async function ask(command: Command, key?: string) {
  return project.commandLoop.submitCommand(command, OPERATOR, key === undefined ? {} : { key });
}

async function claimNext(sessionId: string, ms: number) {
  const otherwise = { ok: false, refusal: { code: 'nothing', message: 'nothing', hint: '' } } as const;
  return project.commandLoop.submit<{ id: string; epoch: number }>({
    actor: `session:${sessionId}`,
    waitLimit: { ms, otherwise },
    decide: ({ state, ready, rules, here }) => {
      const [task] = ready.first(state, 1);
      if (task === undefined) return LATER;
      const command: Command = { kind: 'claim-task', command: { id: task.id, sessionId, holder: sessionId } };
      const outcome = decide(state, command, { kind: 'worker', name: sessionId }, rules, here);
      return outcome.ok ? { ...outcome, answer: { id: task.id, epoch: task.epoch + 1 } } : outcome;
    },
  });
}

async function look() {
  const seen = await project.commandLoop.read(({ state }) =>
    structuredClone({ tasks: [...state.tasks], seq: state.seq }),
  );
  return seen.ok ? seen.answer : undefined;
}

async function open(): Promise<Project> {
  return openBareProject({ id: 'p', path: folder, stateDir: folder, onMistake: (error) => mistakes.push(error) });
}
