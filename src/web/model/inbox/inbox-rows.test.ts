import { describe, expect, it } from 'vitest';
import type { AttentionView } from '../../../api/run-views.ts';
import { attentionKey, listNeeds, listRunning } from './inbox-rows.ts';
import { asked } from './asked.cases.ts';

function item(kind: AttentionView['kind'], more: Partial<AttentionView> = {}): AttentionView {
  return { kind, count: 1, task_id: null, title: kind, context: '', next: `baton ${kind}`, ...more };
}

describe('needs', () => {
  it('lists decisions, budgets, and then the rest in the order of the status', () => {
    const rows = listNeeds({
      needs_you: [asked('old', { source: 'budget', opened_at: '1' }), asked('new', { opened_at: '3' })],
      answered: [],
      attention: [item('host'), item('runbook'), item('blocked')],
    });
    expect(rows.map(({ key }) => key)).toEqual([
      'new',
      'old',
      'host:baton host',
      'runbook:baton runbook',
      'blocked:baton blocked',
    ]);
  });

  it('keeps the place of a decision that is answered', () => {
    const [first, second] = [asked('a', { opened_at: '1' }), asked('b', { opened_at: '2' })];
    const answer = { option: 1, action: 'approve', label: 'Approve', by: 'ann', at: '', message: null, agent: null };
    const answered = { ...first, answer: { ...answer, effective_at: '', seq: 7 } };
    const rows = listNeeds({ needs_you: [second], answered: [answered], attention: [] });
    expect(rows.map(({ key }) => key)).toEqual(['a', 'b']);
  });

  it('gives an item the same address while its title counts', () => {
    const first = item('silent', { title: 'silent for 30 s' });
    expect(attentionKey({ ...first, title: 'silent for 31 s' })).toBe(attentionKey(first));
  });

  it('gives each of two alike items its own address', () => {
    const rows = listNeeds({ needs_you: [], answered: [], attention: [item('store'), item('store')] });
    expect(new Set(rows.map(({ key }) => key)).size).toBe(2);
  });
});

describe('running', () => {
  const none = { workflows: [], pipelines: [], agents: [] } as const;
  const workflow = (task_id: string, activity: string) => ({
    task_id,
    title: task_id,
    activity,
    since: '',
    rounds: 0,
    stages: [],
  });
  const list = (more: object): readonly string[] =>
    listRunning({ ...none, ...more }).map(({ kind, id }) => `${kind} ${id}`);

  it('leaves out workflows that wait for a person or are blocked', () => {
    const workflows = [workflow('T2', 'waiting'), workflow('T10', 'running'), workflow('T9', 'merging')];
    expect(list({ workflows })).toEqual(['workflow T9', 'workflow T10']);
  });

  it('shows an agent once: with its workflow, with its pipeline, or alone', () => {
    const agent = { name: 'x', status: 'running', pipeline_id: null, task_id: null, requested_at: '' };
    const agents = [
      { ...agent, id: 'a1', task_id: 'T1' },
      { ...agent, id: 'a2', pipeline_id: 'p1' },
      { ...agent, id: 'a3' },
      { ...agent, id: 'a4', status: 'escalated' },
    ];
    const pipelines = [{ id: 'p1', name: 'p', status: 'running', parent: null, task_id: null, started_at: '' }];
    expect(list({ workflows: [workflow('T1', 'running')], pipelines, agents })).toEqual([
      'workflow T1',
      'pipeline p1',
      'agent a3',
    ]);
  });
});
