import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { decide, type Command } from '../state/decide.ts';
import type { Caller } from '../state/caller.ts';
import { actorOf } from '../state/caller.ts';
import { LATER } from './keeper.ts';
import { type Project } from './project.ts';
import { openBareProject } from './project.cases.ts';

const OPERATOR: Caller = { kind: 'operator', name: 'ada' };
let folder: string;
let project: Project;

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'baton-keeper-'));
  project = await open();
});
afterEach(async () => {
  await project.close();
  rmSync(folder, { recursive: true });
});

describe('a project', () => {
  it('gives each of many who ask at once a task of their own', async () => {
    for (let i = 0; i < 20; i++) await ask({ kind: 'create-task', command: { id: `T${i}`, title: 'x' } });
    const claims = await Promise.all(Array.from({ length: 30 }, (_, i) => claimNext(`s${i}`, 0)));
    const won = claims.flatMap((claim) => (claim.ok ? [claim.answer] : []));
    expect(new Set(won.map(({ id }) => id)).size).toBe(20);
    expect(claims.filter((claim) => !claim.ok)).toHaveLength(10);
  });

  it('wakes who waits in the commit that makes the work', async () => {
    const waiting = claimNext('s1', 10_000);
    const before = project.ledger.head.size;
    await ask({ kind: 'create-task', command: { id: 'A', title: 'x' } });
    expect(await waiting).toMatchObject({ ok: true, answer: { id: 'A', epoch: 1 } });
    expect(project.ledger.head.size - before).toBe(2);
  });

  it('answers a retry with the same key as it answered the first time, also after a restart', async () => {
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

  it('gives up waiting after the time it was given', async () => {
    expect(await claimNext('s1', 20)).toMatchObject({ ok: false, refusal: { code: 'nothing' } });
  });
});

async function ask(command: Command, key?: string) {
  return project.keeper.submit({
    actor: actorOf(OPERATOR),
    ...(key === undefined ? {} : { key }),
    decide: ({ state, rules }) => decide(state, command, OPERATOR, rules),
  });
}

async function claimNext(sessionId: string, ms: number) {
  const otherwise = { ok: false, refusal: { code: 'nothing', message: 'nothing', hint: '' } } as const;
  return project.keeper.submit<{ id: string; epoch: number }>({
    actor: `session:${sessionId}`,
    patience: { ms, otherwise },
    decide: ({ state, ready, rules }) => {
      const [task] = ready.first(state, 1);
      if (task === undefined) return LATER;
      const command: Command = { kind: 'claim-task', command: { id: task.id, sessionId, holder: sessionId } };
      const outcome = decide(state, command, { kind: 'worker', name: sessionId }, rules);
      return outcome.ok ? { ...outcome, answer: { id: task.id, epoch: task.epoch + 1 } } : outcome;
    },
  });
}

async function look() {
  const seen = await project.keeper.read(({ state }) => structuredClone({ tasks: [...state.tasks], seq: state.seq }));
  return seen.ok ? seen.answer : undefined;
}

async function open(): Promise<Project> {
  return openBareProject({ id: 'p', path: folder, stateDir: folder });
}
