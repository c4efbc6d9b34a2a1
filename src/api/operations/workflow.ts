import { PHASES } from '../../protocol/phase.ts';
import type { ValueOf } from '../../protocol/shape/shape.ts';
import { taskId } from '../../protocol/shape/shared-fields.ts';
import { decisionDetails, decisionEvidence } from '../decision-evidence.ts';
import { decisionView } from '../run-views.ts';
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
  result: object({ task_id: text, merge_id: { ...text, about: 'The id of the requested merge.' } }),
});

const checkOutcome = choice(['passed', 'failed', 'cancelled', 'pending']);

const workflowView = object({
  task_id: text,
  n: whole,
  title: text,
  phase: choice(PHASES),
  role: { ...nullable(text), about: 'The role whose turn it is.' },
  blocked_because: nullable(text),
  mode: { ...nullable(text), about: 'The mode of the workflow; null if the task has none.' },
  started_at: nullable(text),
  addresses: {
    ...object({ issue_url: text, issue_number: text, pr_url: text, pr_number: text }),
    about: 'The addresses of the issue and the pull request, for handoffs; placeholders without GitHub.',
  },
  workspace: nullable(text),
  branch: nullable(text),
  base: { ...nullable(text), about: 'The commit at which the branch began.' },
  port: { ...nullable(whole), about: 'The port of its sessions (`BATON_PORT`).' },
  head: { ...nullable(text), about: 'The last commit of the branch that Baton measured.' },
  rounds: { ...count, about: 'How often the work went back to the fixer.' },
  reviews: { ...count, about: 'How many reviews have ended.' },
  commits: count,
  approval: {
    ...nullable(
      object({
        head: { ...nullable(text), about: 'The approved commit.' },
        by: { ...text, about: 'The holder that approved.' },
        principal: optional(text, 'The principal that approved.'),
        unproven: optional(
          choice(['accepted', 'confirmed']),
          "Set if it is not proven that the approver's own client sent it: why it counts.",
        ),
      }),
    ),
    about: 'The last approval.',
  },
  waits_for_person: {
    ...nullable(object({ decision_id: text, stage: { ...text, about: 'The name of the checkpoint.' } })),
    about: 'The checkpoint at which the workflow waits for a decision.',
  },
  checks: {
    ...nullable(
      object({
        head: { ...text, about: 'The checked commit.' },
        outcome: { ...nullable(checkOutcome), about: 'Null while they run.' },
        checks: list(object({ name: text, outcome: checkOutcome })),
      }),
    ),
    about: 'The newest required checks.',
  },
  pull_request: nullable(
    object({
      repository: text,
      number: nullable(whole),
      url: nullable(text),
      head: nullable(text),
      is_wanted: { ...flag, about: 'The task should have an open pull request.' },
      is_closed: flag,
    }),
  ),
  protected_paths: { ...list(text), about: 'The protected paths that the branch changes.' },
  is_merging: flag,
  merge_sha: { ...nullable(text), about: 'The merge commit; null before the merge.' },
  handoff: { ...nullable(object({ from: text, to: nullable(text), xml: text })), about: 'The last handoff.' },
  exit_protocol: { ...flag, about: 'Its sessions end with exit signals.' },
  commands: {
    ...object({
      install: optional(text),
      build: optional(text),
      smoke: optional(text),
      validate: list(object({ name: text, run: text, timeoutMs: optional(whole), envPass: optional(list(text)) })),
    }),
    about: 'The commands that the built-in roles run.',
  },
});
export type WorkflowView = ValueOf<typeof workflowView>;

export const workflowGet = operation({
  ...READERS,
  name: 'workflow_get',
  about:
    'Show the state of a task in its workflow: worktree, head, checks, rounds, approval, merge, and the commands of its built-in roles.',
  input: ofTask,
  result: workflowView,
});

export const workflowClose = operation({
  name: 'workflow_close',
  about:
    'For the closer: remove the worktree and the branch of a merged task if they hold no unmerged work, and return a summary of the workflow.',
  access: ['operator', 'session'],
  kind: 'write',
  tool: false,
  input: ofTask,
  result: object({
    merge_sha: nullable(text),
    cycle_ms: { ...count, about: 'Time since the start of the workflow.' },
    review_iterations: { ...count, about: 'How many reviews have ended.' },
    commits: count,
    tests_added: { ...count, about: 'How many tests the change adds.' },
    actions: { ...list(text), about: 'What was done, in sentences.' },
  }),
});

export const githubIssues = operation({
  name: 'github_issues',
  about: "Read issues at GitHub with the daemon's `gh`, to make tasks of them.",
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
  from: { ...text, about: 'The agent name of the sending role.' },
  to: { ...nullable(text), about: 'The agent name of the receiving role; null if the handoff completes the workflow.' },
  seq: { ...whole, about: 'The number of the entry with its status.' },
  at: text,
  status: { ...choice(['held', 'delivered', 'dropped']), about: '`held`: it waits for the exit signal of its sender.' },
  reason: { ...nullable(text), about: 'Why it was dropped.' },
});

export const handoffList = operation({
  ...READERS,
  name: 'handoff_list',
  about: 'List the handoffs of a task, oldest first: sender, receiver and status of each.',
  input: object({ task_id: optional(taskId, 'Only handoffs of this task.') }),
  result: object({ handoffs: list(handoffView) }),
});

export const handoffShow = operation({
  ...READERS,
  name: 'handoff_show',
  about: 'Show one handoff, with its XML.',
  input: object({ id: { kind: 'text', notEmpty: true, about: 'Its id, or the beginning of it.' } }),
  result: object({
    ...handoffView.fields,
    phase: { ...nullable(choice(PHASES)), about: 'The phase to which it moves the task.' },
    next_role: { ...nullable(text), about: 'The role whose turn it is then.' },
    xml: text,
  }),
});

const PEOPLE = { access: ['operator'], tool: false } as const;
const decisionId = { kind: 'text', notEmpty: true, about: 'The id of the decision, or the beginning of it.' } as const;

export const decisionList = operation({
  ...PEOPLE,
  name: 'decision_list',
  about: 'List the open decisions, oldest first, each with its numbered options.',
  input: object({ all: optional(flag, 'Also the decisions that are resolved or withdrawn.') }),
  result: object({ decisions: list(decisionView) }),
});

export const decisionShow = operation({
  ...PEOPLE,
  name: 'decision_show',
  about: 'Show one decision: its subject, the evidence, its options, and the answer.',
  input: object({ id: decisionId }),
  result: decisionDetails,
});

const optionNumber = { kind: 'number', min: 1, whole: true, about: 'The number of the option, from 1.' } as const;
const answerDelay = (min: number) =>
  ({
    kind: 'number',
    min,
    max: 60_000,
    whole: true,
    about: 'The answers take effect after this time, in milliseconds.',
  }) as const;
const resolvedDecision = object({
  id: text,
  option: whole,
  action: text,
  effective_at: { ...nullable(text), about: 'When the answer takes effect; null if it is in effect.' },
});

export const decisionEvidenceRead = operation({
  ...PEOPLE,
  name: 'decision_evidence',
  about:
    'Show what a person needs to decide: mission and budget, checks and their output, the change, findings, and the reports of the session beside the measurements. decision_show returns the same.',
  input: object({ id: decisionId }),
  result: object({ id: text, ...decisionEvidence.fields }),
});

export const decisionResolve = operation({
  tool: false,
  name: 'decision_resolve',
  about: 'Answer a decision, once. Another answer is refused; the same answer again returns the first result.',
  command: 'resolve-decision',
  input: object({
    id: decisionId,
    option: optionNumber,
    message: optional(text, 'A note: it is recorded, and the next session on the work reads it.'),
    agent: optional(text, 'For hand_over: the agent of the runbook that gets the work.'),
    delay_ms: optional(
      answerDelay(0),
      'The answer takes effect after this time, in milliseconds; until then `decision_undo` withdraws it.',
    ),
  }),
  result: object({
    ...resolvedDecision.fields,
    next: { ...nullable(text), about: 'After `take_over`: the command that claims the task.' },
  }),
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
  about: 'Withdraw an answer that is not in effect yet. The decision is then open again.',
  command: 'undo-answer',
  input: object({
    id: decisionId,
    answer: optional(whole, 'The `seq` of the answer to withdraw. Without it, only your own answer is withdrawn.'),
  }),
  result: object({ id: text, option: whole, action: text }),
});
