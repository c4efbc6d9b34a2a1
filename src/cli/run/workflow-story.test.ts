import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { Fields } from '../../protocol/shape/read-unknown.ts';
import { openDecision, taskOverview } from '../view/view.cases.ts';
import { WorkflowStory } from './story.ts';

function tell(entries: readonly (readonly [string, Fields])[]) {
  const story = new WorkflowStory('W-00001');
  const lines = entries.map(([type, data]) => story.describe(type, data)).filter((line) => line !== undefined);
  return { lines, standing: story.progress };
}

const moved = (to: string, cause: string, reason: string) =>
  ['PhaseMoved', { task_id: 'W-00001', from: 'IMPLEMENTATION', to, next_role: null, cause, reason }] as const;

describe('the story of a workflow', () => {
  it('is over when the workflow is cancelled', () => {
    expect(tell([moved('BLOCKED', 'cancelled', 'cancelled: not now')])).toEqual({
      lines: ['BLOCKED: cancelled: not now'],
      standing: { kind: 'over', outcome: 'cancelled' },
    });
  });

  it('continues while the task is blocked for another reason', () => {
    expect(tell([moved('BLOCKED', 'error', 'no disk')]).standing).toEqual({ kind: 'running' });
  });

  it('is over when the task is completed and no role closes it', () => {
    expect(tell([moved('COMPLETED', 'handoff', 'merged')]).standing).toEqual({ kind: 'over', outcome: 'done' });
  });

  it.each([
    ['running', { kind: 'running' }],
    ['blocked', { kind: 'running' }],
    ['done', { kind: 'over', outcome: 'done' }],
    ['cancelled', { kind: 'over', outcome: 'cancelled' }],
  ] as const)('starts with the state of the task: %s', (activity, progress) => {
    expect(new WorkflowStory('W-00001', taskOverview({ activity })).progress).toEqual(progress);
  });

  it('starts with the open question about the task', () => {
    const seen = taskOverview({ activity: 'waiting', decisions: [openDecision({ id: 'd1' })] });
    expect(new WorkflowStory('W-00001', seen).progress).toEqual({ kind: 'waiting', decisionId: 'd1' });
  });

  it('does not wait for a person while an answer is not in effect yet, but does again if it is withdrawn', () => {
    const opened = ['DecisionOpened', { task_id: 'W-00001', decision_id: 'd1', title: 'Ready?' }] as const;
    const answered = ['DecisionAnswered', { decision_id: 'd1', option: 1 }] as const;
    const withdrawn = ['DecisionAnswerWithdrawn', { decision_id: 'd1', reason: null }] as const;
    expect(tell([opened, answered]).standing).toEqual({ kind: 'running' });
    expect(tell([opened, answered, withdrawn]).standing).toEqual({ kind: 'waiting', decisionId: 'd1' });
    expect(tell([opened, answered, ['DecisionResolved', { decision_id: 'd1' }], withdrawn]).standing).toEqual({
      kind: 'running',
    });
  });

  it('shows what an agent reports in an error handoff, and what it suggests, once', () => {
    const xml = readFileSync(join(import.meta.dirname, '../../../test/fixtures/handoff/error.xml'), 'utf8');
    const sent = { task_id: 'W-00001', from: 'implementer-agent', to: 'orchestrator', xml };
    const error =
      'BuildError: TypeScript compilation failed; suggested action: Check import paths and module resolution';
    expect(tell([['HandoffDelivered', sent], moved('BLOCKED', 'handoff', error)]).lines).toEqual([
      `  handoff: implementer-agent → orchestrator: ${error}`,
      'BLOCKED',
    ]);
    expect(tell([['HandoffDelivered', sent], moved('BLOCKED', 'handoff', `${error}; max_files: 9 > 3`)]).lines).toEqual(
      [`  handoff: implementer-agent → orchestrator: ${error}`, 'BLOCKED: max_files: 9 > 3'],
    );
  });

  it('names an outcome once', () => {
    const requested = [
      'AgentRequested',
      { agent_id: 'a1', plan: { name: 'fixer' }, task: { task_id: 'W-00001' } },
    ] as const;
    const ended = (reason: string) => ['AgentEnded', { agent_id: 'a1', outcome: 'cancelled', reason }] as const;
    expect(tell([requested, ended('cancelled: not now')]).lines).toEqual(['    fixer: cancelled: not now']);
    expect(tell([requested, ended('not now')]).lines).toEqual(['    fixer: cancelled: not now']);
  });
});
