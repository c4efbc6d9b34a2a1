import { taskId } from '../../protocol/shape/shared-fields.ts';
import { operation } from './operation.ts';

const HOLDER = ['operator', 'session'] as const;
const own = { ...taskId, optional: true, about: 'The task; a session has its own.' } as const;

export const mergeRequest = operation({
  name: 'merge_request',
  about:
    'Ask for the merge of a task that is READY_FOR_MERGE. Baton merges one at a time, onto the main branch as it is then, and runs the checks on what comes of it. Under a claim this ends your work on the task: send your handoff to the closer first. Do not wait for the merge.',
  access: HOLDER,
  kind: 'write',
  shape: { kind: 'object', fields: { task_id: own } },
});

export const workflowGet = operation({
  name: 'workflow_get',
  about:
    'How a task stands in its workflow: place, head, checks, rounds, approval, merge, and what its built-in roles run.',
  access: ['operator', 'worker', 'session'],
  kind: 'read',
  tool: false,
  shape: { kind: 'object', fields: { task_id: own } },
});

export const workflowClose = operation({
  name: 'workflow_close',
  about:
    'For the closer: removes the worktree and the branch of a merged task, where nothing in them is unmerged, and says what was done.',
  access: HOLDER,
  kind: 'write',
  tool: false,
  shape: { kind: 'object', fields: { task_id: own } },
});

export const handoffList = operation({
  name: 'handoff_list',
  about: 'The handoffs of a task, oldest first: from, to, and what became of each.',
  access: ['operator', 'worker', 'session'],
  kind: 'read',
  tool: false,
  shape: { kind: 'object', fields: { task_id: { ...taskId, optional: true, about: 'Only those of this task.' } } },
});

export const handoffShow = operation({
  name: 'handoff_show',
  about: 'One handoff, with its XML.',
  access: ['operator', 'worker', 'session'],
  kind: 'read',
  tool: false,
  shape: { kind: 'object', fields: { id: { kind: 'text', notEmpty: true, about: 'Its id, or the beginning of it.' } } },
});

const PEOPLE = ['operator'] as const;
const decisionId = { kind: 'text', notEmpty: true, about: 'Of the decision, or the beginning of it.' } as const;

export const decisionList = operation({
  name: 'decision_list',
  about: 'What waits for a person, oldest first, each with its numbered options.',
  access: PEOPLE,
  kind: 'read',
  tool: false,
  shape: {
    kind: 'object',
    fields: { all: { kind: 'flag', optional: true, about: 'Also those that are settled.' } },
  },
});

export const decisionShow = operation({
  name: 'decision_show',
  about: 'One decision: what it is about, its options, and who settled it.',
  access: PEOPLE,
  kind: 'read',
  tool: false,
  shape: { kind: 'object', fields: { id: decisionId } },
});

export const decisionResolve = operation({
  name: 'decision_resolve',
  about: 'Answer a decision, once: another answer is refused, the same answer again returns the first result.',
  access: PEOPLE,
  kind: 'write',
  tool: false,
  shape: {
    kind: 'object',
    fields: {
      id: decisionId,
      option: { kind: 'number', min: 1, whole: true, about: 'The number of the option, from 1.' },
      message: { kind: 'text', optional: true, about: 'The reason, recorded and sent to the agent if it continues.' },
    },
  },
});
