import { describe, expect, it } from 'vitest';
import type { StoreHealth } from '../protocol/resource-faults.ts';
import {
  countAtWork,
  judgeAllClear,
  type Proofs,
  proveAgents,
  proveCommands,
  proveLoop,
  provePeople,
  provePhases,
  proveStore,
  type Reason,
  type ReasonKind,
  type UnservedTask,
} from './all-clear.ts';

const WRITABLE: StoreHealth = { writable: true };
const FULL: StoreHealth = {
  writable: false,
  since: '2026-03-01T12:00:00.000Z',
  reason: 'no space left to write ledger.db',
  hint: 'Make room on the disk.',
};
const AWAY: StoreHealth = { ...FULL, away_since: '2026-01-01T00:00:00.000Z' };
const AGENT = { id: 'a1a1a1a1-0000', name: 'fixer', taskId: 'K1' };
const DECISION = {
  id: 'd1',
  title: 'Agent needs attention: fixer',
  context: 'it stopped',
  task_id: null,
  answer: null,
};
const UNSERVED: UnservedTask = {
  id: 'K1',
  title: 'do it',
  phase: 'READY_FOR_MERGE',
  role: 'validator',
  takenBy: null,
  next: 'baton merge K1',
};

const other = (kind: ReasonKind, more: Partial<Reason> = {}): Reason => ({
  kind,
  count: 1,
  task_id: null,
  title: `about the ${kind}`,
  context: '',
  next: 'baton doctor',
  ...more,
});

/** Proofs without any reason against the all-clear. */
const GOOD: Proofs = {
  store: proveStore(WRITABLE),
  commands: proveCommands(undefined),
  loop: proveLoop({ lagMs: 0, boundMs: 5000 }),
  agents: proveAgents([AGENT], () => ({ silentMs: 600_000, limitMs: 600_000 })),
  phases: provePhases([]),
  people: provePeople([], []),
};

it('gives the all-clear if every proof is good', () => {
  expect(judgeAllClear(GOOD, 0)).toEqual({
    all_clear: true,
    summary: 'Nothing needs you, nothing runs.',
    needs: 0,
    reasons: [],
  });
  expect(judgeAllClear(GOOD, 2).summary).toBe('Nothing needs you, 2 running.');
});

/** Every reason against the all-clear, each alone. */
const CASES: readonly (readonly [why: string, bad: Partial<Proofs>, kind: ReasonKind, summary: string])[] = [
  ['the store cannot be written', { store: proveStore(FULL) }, 'store', '1 unwritable store needs you'],
  [
    'a command would be refused',
    { commands: proveCommands({ message: 'entry 9 is unknown', hint: 'Upgrade Baton.' }) },
    'commands',
    '1 stopped project needs you',
  ],
  [
    'the repository is gone',
    { people: provePeople([], [other('repository')]) },
    'repository',
    '1 missing repository needs you',
  ],
  ['a run has failed', { people: provePeople([], [other('failed')]) }, 'failed', '1 failed run needs you'],
  ['the loop lags', { loop: proveLoop({ lagMs: 5001, boundMs: 5000 }) }, 'loop', '1 slow daemon needs you'],
  ['the lag is no number', { loop: proveLoop({ lagMs: NaN, boundMs: 5000 }) }, 'loop', '1 slow daemon needs you'],
  [
    'an agent is silent',
    { agents: proveAgents([AGENT], () => ({ silentMs: 600_001, limitMs: 600_000 })) },
    'silent',
    '1 silent agent needs you',
  ],
  ['nobody measured an agent', { agents: proveAgents([AGENT], () => undefined) }, 'silent', '1 silent agent needs you'],
  [
    'the silence is no number',
    { agents: proveAgents([AGENT], () => ({ silentMs: NaN, limitMs: 600_000 })) },
    'silent',
    '1 silent agent needs you',
  ],
  ['nobody serves a task', { phases: provePhases([UNSERVED]) }, 'unserved', '1 unserved task needs you'],
  ['a decision is open', { people: provePeople([DECISION], []) }, 'decision', '1 decision needs you'],
  ['the daemon crashes', { people: provePeople([], [other('daemon')]) }, 'daemon', '1 crashing daemon needs you'],
  ['messages wait', { people: provePeople([], [other('outbox')]) }, 'outbox', '1 undelivered outbox needs you'],
  ['the runbook is broken', { people: provePeople([], [other('runbook')]) }, 'runbook', '1 broken runbook needs you'],
  ['the runbook is looser', { people: provePeople([], [other('rules')]) }, 'rules', '1 looser runbook needs you'],
  [
    'the runbook was changed',
    { people: provePeople([], [other('proposal')]) },
    'proposal',
    '1 changed runbook needs you',
  ],
  ['main was moved', { people: provePeople([], [other('main')]) }, 'main', '1 main branch needs you'],
  ['a worker may not start', { people: provePeople([], [other('worker')]) }, 'worker', '1 idle worker needs you'],
  ['a run is stuck', { people: provePeople([], [other('stuck')]) }, 'stuck', '1 stuck run needs you'],
  [
    'a task waits for a cancelled one',
    { people: provePeople([], [other('cancelled')]) },
    'cancelled',
    '1 cancelled task needs you',
  ],
  ['an agent is frozen', { people: provePeople([], [other('frozen')]) }, 'frozen', '1 frozen agent needs you'],
  ['the database is away', { store: proveStore(AWAY) }, 'database', '1 unreachable database needs you'],
  ['a host is silent', { people: provePeople([], [other('host')]) }, 'host', '1 silent host needs you'],
  ['a clock is wrong', { people: provePeople([], [other('clock')]) }, 'clock', '1 wrong clock needs you'],
  ['work was not pushed', { people: provePeople([], [other('push')]) }, 'push', '1 unpushed task needs you'],
  ['a host asks to join', { people: provePeople([], [other('joining')]) }, 'joining', '1 waiting host needs you'],
  ['a host is outdated', { people: provePeople([], [other('version')]) }, 'version', '1 outdated host needs you'],
  ['a task is blocked', { people: provePeople([], [other('blocked')]) }, 'blocked', '1 blocked task needs you'],
];

describe('there is no all-clear if', () => {
  it.each(CASES)('%s', (_, bad, kind, summary) => {
    const judged = judgeAllClear({ ...GOOD, ...bad }, 5);
    expect(judged).toMatchObject({ all_clear: false, needs: 1, summary: `${summary}, 5 running.` });
    expect(judged.reasons.map((reason) => reason.kind)).toEqual([kind]);
    const [reason] = judged.reasons;
    expect(reason?.title).not.toBe('');
    expect(reason?.next).not.toBe('');
  });

  it('covers every kind of reason and every proof in these cases', () => {
    const kinds: Record<ReasonKind, true> = {
      store: true,
      commands: true,
      repository: true,
      failed: true,
      database: true,
      frozen: true,
      loop: true,
      daemon: true,
      outbox: true,
      decision: true,
      runbook: true,
      rules: true,
      proposal: true,
      main: true,
      stuck: true,
      silent: true,
      worker: true,
      unserved: true,
      blocked: true,
      cancelled: true,
      host: true,
      clock: true,
      push: true,
      joining: true,
      version: true,
    };
    expect(new Set(CASES.map(([, , kind]) => kind))).toEqual(new Set(Object.keys(kinds)));
    expect(new Set(CASES.flatMap(([, bad]) => Object.keys(bad)))).toEqual(new Set(Object.keys(GOOD)));
  });
});

it('throws if a proof is missing', () => {
  const { store, loop, agents, phases, people } = GOOD;
  // @ts-expect-error the store is missing
  const noStore: Proofs = { loop, agents, phases, people };
  // @ts-expect-error the loop is missing
  const noLoop: Proofs = { store, agents, phases, people };
  // @ts-expect-error the agents are missing
  const noAgents: Proofs = { store, loop, phases, people };
  // @ts-expect-error the phases are missing
  const noPhases: Proofs = { store, loop, agents, people };
  // @ts-expect-error the people are missing
  const noPeople: Proofs = { store, loop, agents, phases };
  // @ts-expect-error a proof of something else
  const wrongOne: Proofs = { ...GOOD, store: loop };
  // @ts-expect-error a proof that nobody measured
  const madeUp: Proofs = { ...GOOD, store: { reasons: [] } };
  for (const incomplete of [noStore, noLoop, noAgents, noPhases, noPeople, wrongOne, madeUp])
    expect(() => judgeAllClear(incomplete, 0)).toThrow('there is no proof about the');
});

it('is not clear while an answer is not in effect yet, but needs no person', () => {
  const answered = { ...DECISION, answer: {} };
  const judge = (...decisions: Parameters<typeof provePeople>[0]) =>
    judgeAllClear({ ...GOOD, people: provePeople(decisions, []) }, 2);
  expect(judge(answered)).toEqual({
    all_clear: false,
    summary: '1 answer takes effect soon, 2 running.',
    needs: 0,
    reasons: [],
  });
  expect(judge(DECISION, answered, answered)).toMatchObject({
    summary: '1 decision needs you, 2 answers take effect soon, 2 running.',
    needs: 1,
  });
});

it('counts reasons of one kind together: questions, then faults, then work that waits', () => {
  const judged = judgeAllClear(
    {
      ...GOOD,
      phases: provePhases([UNSERVED, { ...UNSERVED, id: 'K2' }]),
      store: proveStore(FULL),
      agents: proveAgents([AGENT], () => undefined),
      people: provePeople([DECISION], [other('blocked', { count: 35 }), other('blocked')]),
    },
    0,
  );
  expect(judged.summary).toBe(
    '1 decision, 1 unwritable store, 36 blocked tasks, 1 silent agent, 2 unserved tasks need you, nothing runs.',
  );
  expect(judged.needs).toBe(41);
});

it('names the cause and the next command', () => {
  expect(proveStore(FULL).reasons).toMatchObject([
    {
      title: 'The ledger cannot be written since 2026-03-01T12:00:00.000Z',
      context: 'no space left to write ledger.db',
      next: 'Make room on the disk.',
    },
  ]);
  expect(proveAgents([AGENT], () => ({ silentMs: 900_000, limitMs: 600_000 })).reasons).toMatchObject([
    {
      title: 'Agent fixer a1a1a1a1 has not reported for 15 min',
      context: 'The limit is 10 min.',
      task_id: 'K1',
      next: 'baton agent show a1a1a1a1-0000',
    },
  ]);
  expect(provePhases([UNSERVED]).reasons).toMatchObject([
    {
      title: 'No worker takes task K1 do it',
      context: 'It is READY_FOR_MERGE, next role validator.',
      next: 'baton merge K1',
    },
  ]);
});

it('lists the first few and counts the rest', () => {
  const many = (count: number) => Array.from({ length: count }, (_, i) => ({ ...AGENT, id: `agent-${i}` }));
  const { reasons } = proveAgents(many(40), () => undefined);
  expect(reasons).toHaveLength(6);
  expect(reasons.reduce((sum, { count }) => sum + count, 0)).toBe(40);
  expect(proveAgents(many(6), () => undefined).reasons.map(({ count }) => count)).toEqual([1, 1, 1, 1, 1, 1]);
});

it('counts top-level runs that do not wait for a person', () => {
  const run = (status: string, within: string | null = null) => ({ status, within });
  expect(countAtWork([run('running'), run('starting'), run('waiting'), run('escalated'), run('running', 'p1')])).toBe(
    2,
  );
});
