import { describe, expect, it } from 'vitest';
import { decide, type Command } from '../decide.ts';
import { create, claim, operate, operator, release, system, worker } from '../say.cases.ts';
import { isClaimable } from '../tasks/claim-task.ts';
import { taskStatus } from '../tasks/task.ts';
import { emptyState, evolve, type State } from '../state.ts';
import { nameBranch, prepare, startWorkflow } from './say.cases.ts';

const RULES = { ciGate: false, mergeGate: false };

function after(...commands: readonly Command[]): State {
  return commands.reduce((state, command) => say(state, command), emptyState());
}

function say(state: State, command: Command): State {
  const outcome = decide(state, command, /^(?:prepare|name)-/.test(command.kind) ? system : operator, RULES, undefined);
  if (!outcome.ok) throw new Error(outcome.refusal.message);
  for (const event of outcome.events) evolve(state, { ...event, seq: state.seq + 1, at: '', actor: 'operator:ann' });
  return state;
}

describe('a workflow', () => {
  it('is a task in DRAFT, for the issue manager, with the next free id', () => {
    const state = after(startWorkflow('One'), create('W-00003'), startWorkflow('Two', 'semi'));
    expect([...state.tasks.keys()]).toEqual(['W-00001', 'W-00003', 'W-00004']);
    expect(state.tasks.get('W-00004')).toMatchObject({
      phase: 'DRAFT',
      nextRole: 'issue-manager',
      flow: { mode: 'semi' },
    });
  });

  it('is started by people, and refused if the task cannot be created', () => {
    expect(decide(emptyState(), startWorkflow('One'), worker, RULES, undefined).ok).toBe(false);
    expect(decide(emptyState(), startWorkflow(''), operator, RULES, undefined).ok).toBe(false);
  });
});

describe('a workflow of an existing task', () => {
  const take = (task: string): Command => ({ kind: 'start-workflow', command: { tasks: [task], mode: 'semi' } });
  const refused = (state: State, id: string): string => {
    const outcome = decide(state, take(id), operator, RULES, undefined);
    return outcome.ok ? 'taken' : outcome.refusal.code;
  };

  it('starts a limited number at once', () => {
    const named = (count: number): string[] => Array.from({ length: count }, (_, i) => `T${i}`);
    const state = after(...named(251).map((id) => create(id)));
    const start = (count: number) =>
      decide(
        state,
        { kind: 'start-workflow', command: { tasks: named(count), mode: 'semi' } },
        operator,
        RULES,
        undefined,
      );
    expect(start(250).ok).toBe(true);
    expect(start(251)).toMatchObject({ ok: false, refusal: { code: 'tasks-not-started' } });
  });

  it('begins in DRAFT with the issue manager, and keeps title, priority and dependencies', () => {
    const given = after(create('B'), create('A', { title: 'As it is', priority: 5, after: ['B'] }));
    const task = say(given, take('A')).tasks.get('A');
    expect(task).toMatchObject({
      title: 'As it is',
      priority: 5,
      after: ['B'],
      phase: 'DRAFT',
      nextRole: 'issue-manager',
      flow: { mode: 'semi' },
    });
    expect(task && taskStatus(task)).toBe('todo');
    expect(given.tasks.size).toBe(2);
  });

  it('accepts one in DRAFT, and one with earlier work, whose author must not review it', () => {
    const draft = after(create('A', { phase: 'DRAFT', nextRole: 'prep' }), take('A'));
    expect(draft.tasks.get('A')).toMatchObject({ phase: 'DRAFT', nextRole: 'issue-manager' });
    const begun = after(create('A'), claim('A', 'a1'), nameBranch('A', 1, 'feature/a'), release('A', { epoch: 1 }));
    const before = begun.tasks.get('A')?.flow;
    expect(say(begun, take('A')).tasks.get('A')?.flow).toMatchObject({ authors: before?.authors, branch: 'feature/a' });
  });

  it('is refused for a task that is missing, claimed, or in a later phase', () => {
    expect(refused(emptyState(), 'A')).toBe('no-such-task');
    expect(refused(after(create('A'), claim('A', 'a1')), 'A')).toBe('already-claimed');
    expect(refused(after(create('A'), take('A')), 'A')).toBe('workflow-started');
    expect(refused(after(startWorkflow('One')), 'W-00001')).toBe('workflow-started');
    expect(refused(after(create('A', { phase: 'CI_PENDING' })), 'A')).toBe('not-workable');
    expect(refused(after(create('A'), operate('waive')), 'A')).toBe('completed');
    expect(refused(after(create('A'), operate('cancel')), 'A')).toBe('cancelled');
    expect(refused(after(create('A'), operate('cancel'), operate('reinstate')), 'A')).toBe('taken');
    expect(decide(after(create('A')), take('A'), worker, RULES, undefined).ok).toBe(false);
  });
});

describe('workflows of several tasks', () => {
  const take = (...tasks: string[]): Command => ({ kind: 'start-workflow', command: { tasks, mode: 'semi' } });

  it('begin together, each once; one that waits for another is queued', () => {
    const given = after(create('A'), create('B', { after: ['A'] }), create('C', { phase: 'DRAFT' }));
    const outcome = decide(given, take('B', 'A', 'C', 'A'), operator, RULES, undefined);
    expect(outcome).toMatchObject({ ok: true, answer: { id: 'B', n: 2, ids: ['B', 'A', 'C'] } });
    say(given, take('B', 'A', 'C', 'A'));
    expect([...given.tasks.values()].map(({ phase, flow }) => [phase, flow.mode])).toEqual([
      ['DRAFT', 'semi'],
      ['DRAFT', 'semi'],
      ['DRAFT', 'semi'],
    ]);
    const ready = [...given.tasks.values()].filter((task) => isClaimable(given, task, RULES));
    expect(ready.map(({ id }) => id)).toEqual(['A', 'C']);
  });

  it('are all refused if one is, with each refusal and its next command', () => {
    const given = after(
      create('A'),
      create('B'),
      create('C'),
      operate('waive', 'done', 'B'),
      operate('cancel', 'no', 'C'),
    );
    const outcome = decide(given, take('A', 'B', 'C', 'D'), operator, RULES, undefined);
    expect(!outcome.ok && outcome.refusal).toEqual({
      code: 'tasks-not-started',
      message: [
        'no workflow was started: 3 of 4 tasks cannot become workflows',
        '  task B is completed. To do it again: baton task reinstate B --reason "…"',
        '  task C is cancelled: no. To work on it again: baton task reinstate C --reason "…"',
        '  there is no task D. See all tasks: baton task list',
      ].join('\n'),
      hint: 'Follow the hint of each task, or leave the task out.',
    });
  });

  it('may be imported in the same commit: nothing is imported if one cannot begin', () => {
    const imported = (status?: 'done'): Command => ({
      kind: 'start-workflow',
      command: {
        tasks: ['12', '13'],
        mode: 'semi',
        imports: {
          source: 'GitHub',
          tasks: [
            { id: '12', title: 'One', description: 'All of it.' },
            { id: '13', title: 'Two', after: ['12'], ...(status === undefined ? {} : { status }) },
          ],
        },
      },
    });
    const state = after(imported());
    expect([...state.tasks.values()].map(({ id, flow }) => [id, flow.mode])).toEqual([
      ['12', 'semi'],
      ['13', 'semi'],
    ]);
    expect(state.tasks.get('12')?.description).toBe('All of it.');
    const refused = decide(emptyState(), imported('done'), operator, RULES, undefined);
    expect(!refused.ok && refused.refusal.message).toContain(
      '1 of 2 tasks cannot become workflows\n  task 13 is completed',
    );
    const bad = {
      ...imported(),
      command: { tasks: ['1'], mode: 'semi', imports: { source: 'x', tasks: [{ id: '1', title: '' }] } },
    };
    const unmade = decide(emptyState(), bad as Command, operator, RULES, undefined);
    expect(!unmade.ok && unmade.refusal.code).toBe('empty-title');
  });
});

describe('the branch of a task', () => {
  const name = (state: State, id: string, branch: string, epoch = 1) =>
    decide(state, nameBranch(id, epoch, branch), system, RULES, undefined);

  it('is named once, and keeps its name whatever the template says later', () => {
    const state = after(create('A'), claim('A', 'a1'));
    expect(name(state, 'A', 'feature/a')).toMatchObject({ answer: 'feature/a', events: [{ type: 'BranchNamed' }] });
    say(state, nameBranch('A', 1, 'feature/a'));
    expect(name(state, 'A', 'other/a')).toMatchObject({ answer: 'feature/a', events: [] });
    const stale = name(state, 'A', 'feature/a', 2);
    expect(!stale.ok && stale.refusal.code).toBe('claim-ended');
  });

  it('is that of no other task', () => {
    const state = after(create('P0.1'), create('P0-1'), claim('P0.1', 'a1'), claim('P0-1', 'b1'));
    say(state, nameBranch('P0.1', 1, 'feature/p0-1'));
    const taken = name(state, 'P0-1', 'feature/p0-1');
    expect(!taken.ok && taken.refusal).toMatchObject({
      code: 'branch-taken',
      message: "branch 'feature/p0-1' belongs to P0.1",
    });
    expect(name(state, 'P0-1', 'feature/2').ok).toBe(true);
  });
});

describe('a session', () => {
  it('is prepared once, under its claim', () => {
    const state = after(create('A'), claim('A', 'a1'));
    say(state, prepare('A', 1));
    expect(state.tasks.get('A')?.flow).toMatchObject({
      branch: 'feature/a',
      place: { branch: 'feature/a', port: 3100 },
    });
    expect(decide(state, prepare('A', 1), system, RULES, undefined)).toMatchObject({ ok: true, events: [] });
    const stale = decide(state, prepare('A', 2), system, RULES, undefined);
    expect(!stale.ok && stale.refusal.code).toBe('claim-ended');
  });

  it("of a task records the main branch's position when the first one began; later ones do not", () => {
    const state = after(create('A'), claim('A', 'a1'));
    const [first, second] = ['1'.repeat(40), '2'.repeat(40)];
    say(state, prepare('A', 1, first));
    for (const next of [release('A', { epoch: 1 }), claim('A', 'a2'), prepare('A', 2, second)]) say(state, next);
    expect(state.tasks.get('A')?.flow.mainAt).toBe(first);
    // Restarted work starts from the main branch's position at that time.
    for (const next of [operate('reinstate'), claim('A', 'a3'), prepare('A', 3, second)]) say(state, next);
    expect(state.tasks.get('A')?.flow.mainAt).toBe(second);
  });
});
