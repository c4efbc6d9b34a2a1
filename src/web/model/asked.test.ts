import { expect, it } from 'vitest';
import { hasFirst, listAsked, type ReadEntry } from './asked.ts';

let seq = 0;
const entry = (type: string, data: ReadEntry['data'], agent = 'a'): ReadEntry => ({
  seq: (seq += 1),
  at: '2026-01-01T00:00:00Z',
  actor: 'operator:ann',
  type,
  data: { agent_id: agent, ...data },
});

it('lists prompt, mission, notes and messages, oldest first', () => {
  const entries = [
    entry('AgentRequested', { plan: { prompt: 'Build it', prompt_file: 'p.md' }, note: 'Mind the tests' }),
    entry('SessionPrepared', {
      mission: {
        instruction: 'Do T1',
        constraints: { max_files: 5, no_new_deps: true, no_git_commit: false },
        timeout: 60,
        context: { task_file: 't.md' },
      },
    }),
    entry('AgentResumeRequested', { start: 2, message: 'Go on', append: true }),
    entry('AgentResumeRequested', { start: 3, message: null, append: true }),
  ];
  expect(listAsked(entries.toReversed(), 'a').map(({ kind, text, facts }) => [kind, text, facts])).toEqual([
    ['prompt', 'Build it', [['prompt file', 'p.md']]],
    ['note', 'Mind the tests', []],
    [
      'mission',
      'Do T1',
      [
        ['max files', '5'],
        ['no new deps', 'yes'],
        ['timeout', '60'],
        ['task file', 't.md'],
      ],
    ],
    ['resumed', 'Go on', []],
  ]);
});

it('reports whether a message arrived', () => {
  const entries = [
    entry('MessageRequested', { message_id: '1', text: 'one' }),
    entry('MessageDelivered', { message_id: '1', ok: true, reason: null }),
    entry('MessageRequested', { message_id: '2', text: 'two' }),
    entry('MessageDelivered', { message_id: '2', ok: false, reason: 'gone' }),
    entry('MessageRequested', { message_id: '3', text: 'three' }),
  ];
  expect(listAsked(entries, 'a').map(({ text, delivery }) => [text, delivery?.state, delivery?.reason])).toEqual([
    ['one', 'delivered', null],
    ['two', 'failed', 'gone'],
    ['three', 'queued', null],
  ]);
});

it('leaves out other agents and a plan without a prompt', () => {
  const entries = [
    entry('AgentRequested', { plan: { run: 'sh' } }),
    entry('MessageRequested', { message_id: '9', text: 'x' }, 'b'),
  ];
  expect(listAsked(entries, 'a')).toEqual([]);
});

it('knows whether the first entry of the agent was read', () => {
  expect(hasFirst([entry('AgentRequested', { plan: {} })], 'a')).toBe(true);
  expect(hasFirst([entry('AgentRequested', { plan: {} }, 'b'), entry('MessageRequested', {})], 'a')).toBe(false);
});
