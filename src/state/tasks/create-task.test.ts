import { describe, expect, it } from 'vitest';
import { event } from '../event.ts';
import { given } from '../given.cases.ts';
import { claim, create, depend, expire, operate, operator, session, system, worker } from '../say.cases.ts';

describe('creating a task', () => {
  it('gives it a serial number, and starts it in IMPLEMENTATION', () => {
    const created = event('TaskCreated', {
      task_id: 'P0.1.1',
      n: 1,
      title: 'Set up the package',
      after: [],
      priority: 0,
      phase: 'IMPLEMENTATION',
      next_role: null,
      prompt_file: null,
      epic_id: null,
      prd_id: null,
    });
    const { answer } = given([])
      .when(create('P0.1.1', { title: 'Set up the package' }), operator)
      .then([created]);
    expect(answer).toEqual({ n: 1, priority: 0 });
  });

  it('numbers tasks in the order in which they are made', () => {
    const three = given([
      [create('A'), operator],
      [create('B'), operator],
      [create('C'), system],
    ]);
    expect(['A', 'B', 'C'].map((id) => three.task(id).n)).toEqual([1, 2, 3]);
    expect(three.when(create('D'), operator).thenTypes(['TaskCreated']).answer).toEqual({ n: 4, priority: 0 });
  });

  it.each(['P0.1.1', 'T042', 'W-00042', '123', 'a'.repeat(64)])('takes the id %s', (id) => {
    given([]).when(create(id), operator).thenTypes(['TaskCreated']);
  });

  it.each(['', '.a', '-a', 'a b', 'a/b', 'ä', 'a'.repeat(65), 'a\n'])('refuses the id %j', (id) => {
    given([]).when(create(id), operator).thenRefused('invalid-id');
  });

  it('refuses an id that is taken, an empty title and half a priority', () => {
    const one = given([[create('A'), operator]]);
    one.when(create('A'), operator).thenRefused('task A exists already');
    one.when(create('B', { title: ' \n' }), operator).thenRefused('empty-title');
    one.when(create('B', { priority: 0.5 }), operator).thenRefused('invalid-priority');
  });

  it('keeps the description of its author, up to a limit, and the issue that it comes from', () => {
    const githubIssue = { repository: 'owner/name', number: 12 };
    const { task } = given([])
      .when(create('A', { description: '\n  With a flag.\n', githubIssue }), operator)
      .thenTypes(['TaskCreated']);
    expect(task('A')).toMatchObject({ description: 'With a flag.', githubIssue });
    const plain = given([])
      .when(create('A', { description: ' \n' }), operator)
      .thenTypes(['TaskCreated']);
    expect(plain.task('A')).toMatchObject({ description: null, githubIssue: null });
    const most = 'é'.repeat(8192);
    given([])
      .when(create('A', { description: most }), operator)
      .thenTypes(['TaskCreated']);
    given([])
      .when(create('A', { description: `${most}!` }), operator)
      .thenRefused('too-large');
  });

  it('starts in any phase that an operator names, except done and blocked', () => {
    const none = given([]);
    expect(
      none
        .when(create('A', { phase: 'READY_FOR_REVIEW' }), operator)
        .thenTypes(['TaskCreated'])
        .task('A').phase,
    ).toBe('READY_FOR_REVIEW');
    none.when(create('B', { phase: 'COMPLETED' }), operator).thenRefused('a task cannot start in COMPLETED');
    none.when(create('B', { phase: 'BLOCKED' }), system).thenRefused('a task cannot start in BLOCKED');
  });

  it('does not let an agent make a task that has passed the gates', () => {
    const held = given([
      [create('A'), operator],
      [claim(), worker],
    ]);
    held.when(create('B', { phase: 'READY_FOR_MERGE' }), session()).thenRefused('invalid-phase');
    held.when(create('B'), worker).thenRefused('forbidden');
    held.when(create('B', { phase: 'DRAFT' }), session()).thenTypes(['TaskCreated']);
  });
});

describe('a session that creates a task', () => {
  it('does so under its live claim', () => {
    const over = given([
      [create('A'), operator],
      [claim(), worker],
      [expire(), system],
    ]);
    over.when(create('B'), session()).thenRefused('the claim on A has ended: expired');
    over.when(create('B'), session('s1', 'X')).thenRefused('there is no task X');
  });
});

describe('dependencies', () => {
  const chain = [
    [create('A'), operator],
    [create('B', { after: ['A'] }), operator],
    [create('C', { after: ['B', 'B'] }), operator],
  ] as const;

  it('are named once, and must exist', () => {
    expect(given(chain).task('C').after).toEqual(['B']);
    given(chain)
      .when(create('D', { after: ['A', 'X'] }), operator)
      .thenRefused('there is no task X');
    given(chain).when(depend('A', 'X'), operator).thenRefused('there is no task X');
    given(chain).when(depend('X', 'A'), operator).thenRefused('there is no task X');
  });

  it('can be added later, also to a task that is claimed, which stays claimed', () => {
    const { task } = given([...chain, [create('D'), operator], [claim('A'), worker]])
      .when(depend('A', 'D'), operator)
      .then([event('DependencyAdded', { task_id: 'A', after: 'D' })]);
    expect(task('A')).toMatchObject({ after: ['D'], claim: { sessionId: 's1' } });
    given(chain).when(depend('B', 'A'), operator).then([]);
  });

  it('form no cycle: the refusal shows the shortest one', () => {
    given([])
      .when(create('A', { after: ['A'] }), operator)
      .thenRefused('cycle: A → A');
    given(chain).when(depend('A', 'A'), operator).thenRefused('cycle: A → A');
    given(chain).when(depend('A', 'C'), operator).thenRefused('cycle: A → B → C → A');
    given([...chain, [depend('C', 'A'), operator]])
      .when(depend('A', 'C'), operator)
      .thenRefused('cycle: A → C → A');
  });

  it('are met by done tasks only', () => {
    given(chain).when(claim('B'), worker).thenRefused('task B waits for A');
    given([...chain, [operate('waive'), operator]])
      .when(claim('B'), worker)
      .thenTypes(['TaskClaimed']);
  });
});
