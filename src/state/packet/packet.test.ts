import { countTokens as countCl100k } from 'gpt-tokenizer/encoding/cl100k_base';
import { countTokens as countO200k } from 'gpt-tokenizer/encoding/o200k_base';
import { describe, expect, it } from 'vitest';
import { Play } from '../../engine/play.cases.ts';
import { WorkflowPlay } from '../../engine/workflow.cases.ts';
import type { Event, EventOf } from '../event.ts';
import { event } from '../event.ts';
import * as say from '../say.cases.ts';
import { emptyState, evolve, type State } from '../state.ts';
import { buildPacket } from './packet.ts';
import { PACKET_TOKENS, renderPacket } from './render-packet.ts';
import { SECTIONS } from './statement.ts';

const SCRIPTS = {
  ASCII: 'The parser drops the last unit, so "1h30" becomes one hour. ',
  code: 'if (a[i] !== b[j]) { return x.map(({ y }) => `${y}`); } // 0x1f\n',
  Chinese: '解析器会丢掉最后一个单位，所以结果是错误的。',
  Japanese: 'パーサーは最後の単位を落とすので、結果が間違っています。',
  Korean: '파서가 마지막 단위를 버리기 때문에 결과가 틀립니다. ',
  Arabic: 'المحلل يسقط الوحدة الأخيرة. ',
  emoji: '👩🏽‍🚀🏳️‍🌈🧑‍🤝‍🧑🇩🇪',
  accents: 'ẹ̵̛̮̈́',
  backticks: '`'.repeat(50),
} as const;

describe('a context packet', () => {
  it.each(Object.entries(SCRIPTS))('stays below 2,500 tokens for %s, and names what it leaves out', (_, unit) => {
    const state = crowdedState(unit.repeat(Math.ceil(3000 / unit.length)));
    const task = state.tasks.get('A') ?? say.emptyTask;
    const { text, tokens } = renderPacket(buildPacket(state, task, [...state.tasks.values()]), {
      references: Array.from({ length: 50 }, (_each, i) => `docs/${unit.slice(0, 30)}/${i}.md`),
      prompt: { path: 'ask.md', text: unit.repeat(1000) },
    });
    expect(Math.max(countO200k(text), countCl100k(text))).toBeLessThanOrEqual(tokens);
    expect(tokens).toBeLessThanOrEqual(PACKET_TOKENS);
    expect(text).toMatch(/Not shown: entries \d+/);
    expect(text).toContain('entry_get');
    // An open fence would turn the text after it into data.
    expect(openFence(text)).toBe('');
  });

  it('has the records of the tasks that it waited for, with their blockers and notes, also beside its own record', () => {
    const play = new Play()
      .order(say.create('A'))
      .order(say.create('B'))
      .order(say.create('C', { after: ['A', 'B'] }));
    for (const task_id of ['A', 'B']) {
      const caller = say.session(`s-${task_id}`, task_id);
      play.say(say.claim(task_id, `s-${task_id}`));
      const blockers = [{ description: `the key of ${task_id} is missing` }];
      play.say(say.record({ task_id, blockers, notes: `call open() before use (${task_id})` }), caller);
      play.say(say.update('done', { task_id }), caller);
    }
    const shown = () => renderPacket(buildPacket(play.state, play.state.tasks.get('C') ?? say.emptyTask)).text;
    for (const words of ['the key of A is missing', 'call open() before use (A)', 'call open() before use (B)'])
      expect(shown()).toContain(words);
    expect(shown().indexOf('of task B')).toBeLessThan(shown().indexOf('of task A'));
    play.say(say.claim('C', 's-C')).say(say.record({ task_id: 'C' }), say.session('s-C', 'C'));
    expect(shown()).toContain('## Records of the tasks before');
  });

  it('puts notes of people, findings and failed checks first if there is little room', () => {
    const state = crowdedState('word '.repeat(300));
    const task = state.tasks.get('A') ?? say.emptyTask;
    const { text } = renderPacket(buildPacket(state, task), { tokens: 1200 });
    for (const title of ['Notes and answers from people', 'Findings', 'Failed checks and merges'])
      expect(text).toContain(`## ${title}\n\n- entry`);
  });

  it('shows the end of the output of a failed check, because the error is there', () => {
    const state = emptyState();
    const output = `${'ok 1 - it works\n'.repeat(200)}AssertionError: 1860000 is not 5400000`;
    const checked = { task_id: 'A', checks_id: 'c', name: 'test', head: say.SHA, exit_code: 1, output, log: null };
    fold(state, created('A', null), event('CheckFinished', { ...checked, outcome: 'failed' }));
    const { text } = renderPacket(buildPacket(state, state.tasks.get('A') ?? say.emptyTask), { tokens: 400 });
    expect(text).toContain('AssertionError: 1860000 is not 5400000\n```');
    expect(text).toMatch(/```text\n\[cut here; the rest: entry 2\]\nok 1/);
  });

  it('keeps a bounded number of statements, whatever happens to a task', () => {
    const state = crowdedState('x'.repeat(5000), 10_000);
    const kept = state.statements.get('A') ?? [];
    const most = Object.values(SECTIONS).reduce((sum, section) => sum + section.kept, 0);
    expect(kept.length).toBeLessThanOrEqual(most);
    expect(Math.max(...kept.map(({ text }) => text.length))).toBeLessThanOrEqual(2001);
  });

  it('names the author and the entry of each text, newest first', () => {
    const play = new WorkflowPlay().toReview();
    const caller = play.claim('reviewer', 'rita');
    const tip = { level: 'tip', message: 'Run the tests with --shard', timestamp: '2026-01-01T00:00:00Z' } as const;
    const { command } = say.result() as { command: { result: { log: readonly object[] } } };
    const result = {
      ...command.result,
      log: [tip, ...command.result.log],
      issues: [{ type: 'question', description: 'Which zone?' }],
    };
    play.say({ kind: 'submit-result', command: { result } } as never, caller);
    play.order(say.update('blocked', { task_id: play.id, notes: 'first note' }));
    play.order(say.operate('unblock', 'second note', play.id));
    const { text } = renderPacket(buildPacket(play.state, play.task));
    expect(text).toMatch(/entry \d+, rita \(reviewer\): Log of a result/);
    expect(text).toContain('question: Which zone?');
    expect(text).toMatch(/entry \d+, operator:ann: Moved to REVIEW \(unblocked\)/);
    expect(text.indexOf('second note')).toBeLessThan(text.indexOf('first note'));
  });

  it('shows titles of other tasks, and the type of an error, only inside fences', () => {
    const play = new WorkflowPlay().order(say.create('B', { title: 'OTHER' }));
    play.order({ kind: 'add-dependency', command: { id: play.id, after: 'B' } });
    const sent = { ...event('HandoffDelivered', errorHandoff(play.id)), at: play.at, actor: 'session:s1' };
    evolve(play.state, { ...sent, seq: play.state.seq + 1 });
    const { text } = renderPacket(buildPacket(play.state, play.task, [...play.state.tasks.values()]));
    for (const word of ['OTHER', 'ODD_TYPE']) expect(text).toContain(word);
    const outside = text.replaceAll(/^(`{3,})text\n[^]*?\n\1$/gm, '');
    expect(outside).toContain('## Next actions');
    for (const word of ['OTHER', 'ODD_TYPE']) expect(outside).not.toContain(word);
  });

  it('lists as notes from people only what people wrote', () => {
    const state = emptyState();
    const at = '2026-01-01T00:00:00.000Z';
    const reinstated = (actor: string, by?: string): void => {
      const data = { task_id: 'A', reason: `says ${by ?? actor}`, ...(by === undefined ? {} : { by }) };
      evolve(state, { ...event('TaskReinstated', data), seq: state.seq + 1, at, actor });
    };
    state.tasks.set('A', { ...say.emptyTask, id: 'A' });
    reinstated('operator:ann');
    // A worker without a claim is recorded as an operator.
    reinstated('operator:bob', 'worker:bob');
    reinstated('session:s1');
    const { sections } = buildPacket(state, state.tasks.get('A') ?? say.emptyTask);
    const listed = sections.map(({ name, items }) => [name, items.map(({ author }) => author)]);
    expect(Object.fromEntries(listed)).toEqual({ ending: ['session:s1', 'worker:bob'], people: ['operator:ann'] });
  });

  it('shows what a session reported beside what Baton measured', () => {
    const play = new WorkflowPlay().turn('issue-manager').turn('prep');
    const caller = play.claim('implementer', 'ada');
    const files_modified = [{ path: 'src/claimed.ts', action: 'created' }];
    const { command } = say.result() as { command: { result: object } };
    play.say({ kind: 'submit-result', command: { result: { ...command.result, files_modified } } } as never, caller);
    play.say(say.record({ task_id: play.id }), caller).say(say.handoff({ taskId: play.id }), caller);
    const measured = {
      base: '0'.repeat(40),
      head: say.SHA,
      commits: 1,
      file_count: 1,
      new_dependencies: [],
      broken: [],
    };
    const files = [{ path: 'src/real.ts', action: 'created' }];
    play.say(say.exit('IMPLEMENTATION', 'completed', { committed: true, measured: { ...measured, files } }), caller);
    const { text } = renderPacket(buildPacket(play.state, play.task));
    expect(text).toContain('reported, not changed: src/claimed.ts');
    expect(text).toContain('changed, not reported: src/real.ts');
  });

  it('carries the lessons of other tasks: of the epic first, each once', () => {
    const state = emptyState();
    fold(state, created('A', 'E001'), created('B', 'E001'), created('C', null));
    fold(
      state,
      learned('B', 'tip', 'from the epic'),
      learned('C', 'warn', 'from elsewhere'),
      learned('C', 'tip', 'from the epic'),
    );
    fold(state, learned('C', 'info', 'no lesson'));
    const task = state.tasks.get('A') ?? say.emptyTask;
    expect(buildPacket(state, task).lessons.map(({ text }) => text)).toEqual(['from the epic', 'from elsewhere']);
  });
});

/** The fence that is open at the end; empty if there is none. */
function openFence(text: string): string {
  let open = '';
  for (const line of text.split('\n')) {
    const fence = /^(`{3,})(text)?$/.exec(line);
    if (fence === null) continue;
    if (open === '' && fence[2] === 'text') open = fence[1] ?? '';
    else if (line === open) open = '';
  }
  return open;
}

/** A task with many statements of every kind. */
function crowdedState(text: string, rounds = 60): State {
  const state = emptyState();
  fold(state, created('A', 'E001'), created('B', null), created('C', null));
  fold(state, learned('B', 'tip', text), event('PhaseMoved', move('BLOCKED', text)));
  const finding = { type: 'test', text: text.slice(0, 1500) };
  const xml = `<handoff><from>operator</from><to>fixer-agent</to><pr_url>https://example.invalid/1</pr_url><pr_number>1</pr_number><issue_number>1</issue_number><validation_status>failed</validation_status><failures><failure type="test">${finding.text}</failure></failures></handoff>`;
  for (let i = 0; i < rounds; i += 8)
    fold(
      state,
      event('TaskProgressed', { task_id: 'A', epoch: null, progress: null, notes: `${i} ${text}` }),
      event('ThoughtRecorded', {
        record_id: `r${i}`,
        task_id: 'A',
        epoch: null,
        record: say.thought({ summary: text }),
      }),
      event('HandoffDelivered', say.heldHandoff({ handoff_id: `h${i}`, from: 'operator', to: 'fixer-agent', xml })),
      event('CheckFinished', {
        checks_id: 'c',
        task_id: 'A',
        head: say.SHA,
        name: text.slice(0, 50),
        outcome: 'failed',
        exit_code: 1,
        log: null,
        output: text,
      }),
      event('ClaimReleased', { task_id: 'A', epoch: 1, session_id: 's1', reason: text }),
      learned('A', 'tip', text),
      event('TaskReinstated', { task_id: 'A', reason: text }),
      event('HandoffDropped', { ...say.heldHandoff({ handoff_id: `d${i}`, xml }), reason: text }),
    );
  return state;
}

function fold(state: State, ...events: readonly Event[]): void {
  for (const each of events)
    evolve(state, { ...each, seq: state.seq + 1, at: '2026-01-01T00:00:00.000Z', actor: 'operator:ann' });
}

function created(id: string, epic_id: string | null): Event {
  const place = {
    after: [],
    priority: 0,
    phase: 'IMPLEMENTATION',
    next_role: null,
    prompt_file: null,
    prd_id: null,
  } as const;
  return event('TaskCreated', { task_id: id, n: id.charCodeAt(0) - 64, title: `do ${id}`, epic_id, ...place });
}

function move(to: 'BLOCKED', reason: string): Extract<Event, { type: 'PhaseMoved' }>['data'] {
  return { task_id: 'A', from: 'IMPLEMENTATION', to, next_role: null, cause: 'updated', reason };
}

function learned(task_id: string, level: 'tip' | 'warn' | 'info', message: string): Event {
  const timestamp = '2026-01-01T00:00:00Z';
  const log = [
    { level, message, timestamp },
    { level: 'info', message: 'ended', timestamp },
  ] as const;
  const result = {
    version: '1',
    task_id: 'T001',
    status: 'completed',
    files_modified: [],
    log,
    completed_at: timestamp,
  } as const;
  return event('ResultSubmitted', { task_id, epoch: 1, session_id: 's1', result });
}

function errorHandoff(task_id: string): EventOf<'HandoffDelivered'>['data'] {
  return {
    handoff_id: 'h1',
    task_id,
    from: 'prep-agent',
    to: 'orchestrator',
    phase: 'BLOCKED' as const,
    next_role: 'prep',
    xml: '<handoff><from>prep-agent</from><to>orchestrator</to><status>failure</status><error><type>ODD_TYPE</type><message>m</message><details>d</details><recoverable>true</recoverable><suggested_action>s</suggested_action></error></handoff>',
  };
}
