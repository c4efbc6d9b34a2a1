import { PHASES } from '../../protocol/phase.ts';
import type { ValueOf } from '../../protocol/shape/shape.ts';
import { taskId } from '../../protocol/shape/shared-fields.ts';
import { decisionDetails, decisionEvidence, decisionView } from '../run-views.ts';
import {
  choice,
  count,
  flag,
  list,
  nullable,
  object,
  optional,
  text,
  whole,
} from '../../protocol/shape/build-shape.ts';
import { operation } from './operation.ts';

const READERS = { access: ['operator', 'worker', 'session'], tool: false } as const;
const ofTask = object({ task_id: optional(taskId, 'The task; a session has its own.') });

export const mergeRequest = operation({
  name: 'merge_request',
  about:
    'Ask for the merge of a task that is READY_FOR_MERGE. Baton merges one at a time, and checks the outcome. Under a claim this ends your work: send your handoff to the closer first, and do not wait for the merge.',
  command: 'request-merge',
  input: ofTask,
  result: object({ task_id: text, merge_id: text }),
});

const checkOutcome = choice(['passed', 'failed', 'cancelled', 'pending']);

const workflowView = object({
  task_id: text,
  n: whole,
  title: text,
  phase: choice(PHASES),
  role: nullable(text),
  blocked_because: nullable(text),
  mode: nullable(text),
  started_at: nullable(text),
  addresses: object({ issue_url: text, issue_number: text, pr_url: text, pr_number: text }),
  workspace: nullable(text),
  branch: nullable(text),
  base: nullable(text),
  port: nullable(whole),
  head: nullable(text),
  rounds: { ...count, about: 'How often it went back to the fixer.' },
  reviews: count,
  commits: count,
  approval: nullable(object({ head: nullable(text), by: text, principal: optional(text) })),
  waits_for_person: nullable(object({ decision_id: text, stage: text })),
  checks: nullable(
    object({
      head: text,
      outcome: nullable(checkOutcome),
      checks: list(object({ name: text, outcome: checkOutcome })),
    }),
  ),
  pull_request: nullable(
    object({
      repository: text,
      number: nullable(whole),
      url: nullable(text),
      head: nullable(text),
      is_wanted: flag,
      is_closed: flag,
    }),
  ),
  protected_paths: list(text),
  is_merging: flag,
  merge_sha: nullable(text),
  handoff: nullable(object({ from: text, to: nullable(text), xml: text })),
  exit_protocol: { ...flag, about: 'Its sessions end with exit signals.' },
  commands: {
    ...object({
      install: optional(text),
      build: optional(text),
      smoke: optional(text),
      validate: list(object({ name: text, run: text, timeoutMs: optional(whole), envPass: optional(list(text)) })),
    }),
    about: 'What the built-in roles run.',
  },
});
export type WorkflowView = ValueOf<typeof workflowView>;

export const workflowGet = operation({
  ...READERS,
  name: 'workflow_get',
  about:
    'How a task stands in its workflow: place, head, checks, rounds, approval, merge, and what its built-in roles run.',
  input: ofTask,
  result: workflowView,
});

export const workflowClose = operation({
  name: 'workflow_close',
  about:
    'For the closer: removes the worktree and the branch of a merged task if nothing in them is unmerged, and returns what was done.',
  access: ['operator', 'session'],
  kind: 'write',
  tool: false,
  input: ofTask,
  result: object({
    merge_sha: nullable(text),
    cycle_ms: count,
    review_iterations: count,
    commits: count,
    tests_added: count,
    actions: list(text),
  }),
});

export const githubIssues = operation({
  name: 'github_issues',
  about: 'Read issues at GitHub through `gh` of the daemon, so that tasks can be made of them.',
  access: ['operator'],
  tool: false,
  input: object({
    issues: {
      kind: 'list',
      min: 1,
      max: 50,
      of: { kind: 'text', notEmpty: true },
      about: 'Each as 12, #12, owner/name#12 or https://github.com/owner/name/issues/12.',
    },
  }),
  result: object({
    issues: list(
      object({
        repository: text,
        number: whole,
        title: text,
        body: text,
        state: choice(['OPEN', 'CLOSED']),
        state_reason: nullable(text),
        labels: list(text),
        url: text,
      }),
    ),
  }),
});

const handoffView = object({
  handoff_id: text,
  task_id: text,
  from: text,
  to: { ...nullable(text), about: 'Null if it completes the workflow.' },
  seq: { ...whole, about: 'The entry with its status.' },
  at: text,
  status: choice(['held', 'delivered', 'dropped']),
  reason: nullable(text),
});

export const handoffList = operation({
  ...READERS,
  name: 'handoff_list',
  about: 'The handoffs of a task, oldest first: sender, receiver and status of each.',
  input: object({ task_id: optional(taskId, 'Only those of this task.') }),
  result: object({ handoffs: list(handoffView) }),
});

export const handoffShow = operation({
  ...READERS,
  name: 'handoff_show',
  about: 'One handoff, with its XML.',
  input: object({ id: { kind: 'text', notEmpty: true, about: 'Its id, or the beginning of it.' } }),
  result: object({ ...handoffView.fields, phase: nullable(choice(PHASES)), next_role: nullable(text), xml: text }),
});

const PEOPLE = { access: ['operator'], tool: false } as const;
const decisionId = { kind: 'text', notEmpty: true, about: 'The id of the decision, or the beginning of it.' } as const;

export const decisionList = operation({
  ...PEOPLE,
  name: 'decision_list',
  about: 'The decisions that wait for a person, oldest first, each with its numbered options.',
  input: object({ all: optional(flag, 'Also those that are settled.') }),
  result: object({ decisions: list(decisionView) }),
});

export const decisionShow = operation({
  ...PEOPLE,
  name: 'decision_show',
  about: 'One decision: what it is about, the evidence for it, its options, and who settled it.',
  input: object({ id: decisionId }),
  result: decisionDetails,
});

const optionNumber = { kind: 'number', min: 1, whole: true, about: 'The number of the option, from 1.' } as const;
const answerDelay = (min: number) => ({ kind: 'number', min, max: 60_000, whole: true }) as const;
const resolvedDecision = object({
  id: text,
  option: whole,
  action: text,
  effective_at: { ...nullable(text), about: 'Null if the answer is in effect.' },
});

export const decisionEvidenceRead = operation({
  ...PEOPLE,
  name: 'decision_evidence',
  about:
    'What a person needs to judge a decision: mission and budget, checks and their output, the change, findings, and what the session said beside what was measured. The same as in decision_show.',
  input: object({ id: decisionId }),
  result: object({ id: text, ...decisionEvidence.fields }),
});

export const decisionResolve = operation({
  tool: false,
  name: 'decision_resolve',
  about: 'Answer a decision, once: another answer is refused, the same answer again returns the first result.',
  command: 'resolve-decision',
  input: object({
    id: decisionId,
    option: optionNumber,
    message: optional(text, 'A note: it is recorded, and the next session on the work reads it.'),
    agent: optional(text, 'For hand_over: the agent of the runbook that gets the work.'),
    delay_ms: optional(
      answerDelay(0),
      'The answer takes effect after this time; until then `decision_undo` withdraws it.',
    ),
  }),
  result: object({ ...resolvedDecision.fields, next: nullable(text) }),
});

export const decisionsResolve = operation({
  tool: false,
  name: 'decisions_resolve',
  about: 'Answer several decisions at once: all of them or none. The answers take effect after the delay.',
  command: 'answer-decisions',
  input: object({
    answers: {
      kind: 'list',
      min: 1,
      max: 100,
      of: object({
        id: decisionId,
        option: optionNumber,
        message: optional(text, 'A note: it is recorded, and the next session on the work reads it.'),
      }),
    },
    delay_ms: answerDelay(1),
  }),
  result: object({ answers: list(resolvedDecision) }),
});

export const decisionUndo = operation({
  tool: false,
  name: 'decision_undo',
  about: 'Withdraw an answer that is not in effect yet: the decision waits for a person again.',
  command: 'undo-answer',
  input: object({
    id: decisionId,
    effective_at: optional(
      text,
      'The `effective_at` of the answer that is meant: another answer, given since, stays as it is.',
    ),
  }),
  result: object({ id: text, option: whole, action: text }),
});
