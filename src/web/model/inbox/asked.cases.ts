import type { DecisionView } from '../../../api/run-views.ts';

/** An open decision for tests, with defaults. */
export function asked(id: string, more: Partial<DecisionView> = {}): DecisionView {
  return {
    id,
    status: 'open',
    source: 'review',
    title: id,
    context: '',
    options: [
      { n: 1, label: 'Approve', action: 'approve', recommended: true },
      { n: 2, label: 'Send back with a note', action: 'send_back', recommended: false },
      { n: 3, label: 'Hand to another agent', action: 'hand_over', recommended: false },
    ],
    agent_id: null,
    pipeline_id: null,
    task_id: null,
    opened_at: '2026-01-01T00:00:00.000Z',
    answer: null,
    lapsed: null,
    result: null,
    ...more,
  };
}
