import type { Phase } from '../phase.ts';
import type { Elements } from '../shape/shape.ts';

/** A path on which work can pass from one agent to the next. Edges are plain data, so a runbook can add some. */
export interface Edge {
  /** The agent's name on the wire; `*` is any agent. */
  readonly from: string;
  readonly to: string | null;
  readonly when: string;
  readonly phase: Phase;
  /** The role that works next; `same` is the sender's role, null is none. */
  readonly next: string | null;
  /** The delays before each retry by the same role, if the error is recoverable. */
  readonly retry_after_ms?: readonly number[];
  /** The elements of the handoff besides `from`, `to` and `COMMON_ELEMENTS`. */
  readonly elements: Elements;
}

export interface Role {
  readonly name: string;
  readonly agent: string;
}

/** With `success`, `skipped`, a status that an edge adds (`ready`) or no status, work continues with the next role. */
export const HANDOFF_STATUSES = ['success', 'failure', 'blocked', 'pending', 'skipped'] as const;

export const COMMON_ELEMENTS = {
  timestamp: { kind: 'text', format: 'timestamp', optional: true },
  issue_number: { kind: 'text', format: 'digits', optional: true },
  pr_number: { kind: 'text', format: 'digits', optional: true },
  status: { kind: 'choice', values: HANDOFF_STATUSES, optional: true },
  summary: { kind: 'text', optional: true },
  data: { kind: 'free', optional: true },
} as const satisfies Elements;

const ENDS = {
  from: { kind: 'text', format: 'agent' },
  to: { kind: 'text', format: 'agent' },
} as const satisfies Elements;

/** All elements that a handoff on this edge may have, in the order in which they are written. */
export function elementsOfEdge(edge: Pick<Edge, 'to' | 'elements'>): Elements {
  const { timestamp, data, ...common } = COMMON_ELEMENTS;
  const ends = edge.to === null ? {} : ENDS;
  return { ...ends, timestamp, ...withoutDeclared(common, edge.elements), ...edge.elements, data };
}

/** Without this, a common element that the edge declares again would be written at the common element's position. */
function withoutDeclared(common: Elements, declared: Elements): Elements {
  return Object.fromEntries(Object.entries(common).filter(([name]) => !Object.hasOwn(declared, name)));
}

export const ROLES = [
  { name: 'issue-manager', agent: 'issue-manager' },
  { name: 'prep', agent: 'prep-agent' },
  { name: 'implementer', agent: 'implementer-agent' },
  { name: 'ci-gate', agent: 'ci-gate' },
  { name: 'reviewer', agent: 'reviewer-agent' },
  { name: 'fixer', agent: 'fixer-agent' },
  { name: 'validator', agent: 'validator-agent' },
  { name: 'closer', agent: 'closer-agent' },
] as const satisfies readonly Role[];

const text = { kind: 'text' } as const;
const count = { kind: 'count' } as const;
const url = { kind: 'text', format: 'url' } as const;
const digits = { kind: 'text', format: 'digits' } as const;
const branch = { kind: 'text', format: 'branch' } as const;
const location = { kind: 'text', about: 'Path and line, such as src/auth/login.ts:42.' } as const;
const issue = { issue_url: url, issue_number: digits } as const satisfies Elements;
const pullRequest = { pr_url: url, pr_number: digits, issue_number: digits } as const satisfies Elements;

const validationFailed = {
  ...pullRequest,
  validation_status: { kind: 'choice', values: ['failed'] },
  failures: { kind: 'list', item: 'failure', attributes: { type: text }, min: 1 },
} as const satisfies Elements;

const countOf = <const S extends string>(value: S) =>
  ({ kind: 'count', optional: true, counts: { list: 'blocking_issues', attribute: 'severity', value } }) as const;

const noneWhenApproved = { kind: 'count', max: 0, because: '`approved` means no such finding is left' } as const;

/** Keeps the literal types of a row. */
function edge<const F extends string, const T extends string, const P extends Phase, const E extends Elements>(
  from: F,
  to: T,
  when: string,
  phase: P,
  next: string,
  elements: E,
) {
  return { from, to, when, phase, next, elements } as const;
}

/** The edges of the specification's table, row by row, with the elements of each row's example. */
export const EDGES = [
  edge('issue-manager', 'prep-agent', 'issue written', 'DRAFT', 'prep', {
    ...issue,
    issue_title: text,
    type: { kind: 'choice', values: ['feature', 'bug', 'enhancement', 'refactor', 'chore'] },
    priority: { kind: 'choice', values: ['critical', 'high', 'medium', 'low'] },
    summary: text,
    requirements: { kind: 'list', item: 'requirement' },
  }),
  edge('prep-agent', 'implementer-agent', 'workspace ready', 'IMPLEMENTATION', 'implementer', {
    ...issue,
    branch,
    workspace_path: text,
    workspace_type: { kind: 'choice', values: ['worktree', 'in-place', 'cloud'] },
    port: { kind: 'count', min: 1, max: 65_535, because: 'it is a TCP port', optional: true },
    status: { kind: 'choice', values: [...HANDOFF_STATUSES, 'ready'], optional: true },
    validation: { kind: 'group', elements: { dependencies: text, build: text, dev_server: text } },
  }),
  edge('implementer-agent', 'reviewer-agent', 'pull request open', 'CI_PENDING', 'reviewer', {
    ...issue,
    pr_url: url,
    pr_number: digits,
    branch,
    summary: text,
    files_changed: count,
    tests_added: count,
    coverage: text,
    commits: { kind: 'list', item: 'commit', attributes: { sha: { kind: 'text', format: 'sha' } } },
  }),
  edge('ci-gate', 'fixer-agent', 'a required check failed', 'IMPLEMENTATION', 'fixer', validationFailed),
  edge('reviewer-agent', 'fixer-agent', 'changes requested', 'IMPLEMENTATION', 'fixer', {
    ...pullRequest,
    review_status: { kind: 'choice', values: ['changes_requested'] },
    critical_count: countOf('critical'),
    important_count: countOf('important'),
    suggestion_count: countOf('suggestion'),
    blocking_issues: {
      kind: 'list',
      item: 'issue',
      attributes: { location, severity: { kind: 'choice', values: ['critical', 'important', 'suggestion'] } },
      min: 1,
    },
  }),
  edge('reviewer-agent', 'validator-agent', 'approved', 'READY_FOR_MERGE', 'validator', {
    ...pullRequest,
    review_status: { kind: 'choice', values: ['approved'] },
    critical_count: noneWhenApproved,
    important_count: noneWhenApproved,
    summary: text,
  }),
  edge('fixer-agent', 'reviewer-agent', 'fixes made', 'CI_PENDING', 'reviewer', {
    ...pullRequest,
    status: { kind: 'choice', values: [...HANDOFF_STATUSES, 'ready-for-re-review'], optional: true },
    fixes_applied: { kind: 'list', item: 'fix', attributes: { location } },
    commits_added: count,
  }),
  edge('validator-agent', 'fixer-agent', 'validation or merge failed', 'IMPLEMENTATION', 'fixer', validationFailed),
  edge('operator', 'fixer-agent', 'a person sends the work back', 'IMPLEMENTATION', 'fixer', validationFailed),
  edge('validator-agent', 'closer-agent', 'merged', 'COMPLETED', 'closer', {
    ...pullRequest,
    merge_status: { kind: 'choice', values: ['merged'], optional: true },
    merge_sha: { kind: 'text', format: 'sha', optional: true },
    merge_strategy: { kind: 'choice', values: ['squash', 'merge', 'rebase'], optional: true },
    validation_summary: {
      kind: 'group',
      elements: { tests: text, coverage: text, lint: text, type_check: text, security: text },
    },
  }),
  {
    ...edge('*', 'orchestrator', 'failure', 'BLOCKED', 'same', {
      status: { kind: 'choice', values: ['failure'] },
      error: {
        kind: 'group',
        elements: {
          type: text,
          message: text,
          details: { kind: 'text', may_be_empty: true },
          recoverable: { kind: 'flag' },
          suggested_action: text,
        },
      },
    }),
    retry_after_ms: [1_000, 2_000, 4_000],
  },
] as const satisfies readonly Edge[];

/** The last row: a message with its own root element, because it has no receiver. */
export const WORKFLOW_COMPLETE = {
  from: 'closer-agent',
  to: null,
  when: 'closed',
  phase: 'COMPLETED',
  next: null,
  elements: {
    issue_number: digits,
    issue_url: url,
    pr_number: digits,
    pr_url: url,
    status: { kind: 'choice', values: ['completed'], optional: true },
    cycle_time: text,
    summary: text,
    metrics: {
      kind: 'group',
      elements: { review_iterations: count, total_commits: count, tests_added: count, coverage: text },
    },
    actions_taken: { kind: 'list', item: 'action' },
  },
} as const satisfies Edge;

/** The base form, for agents without an edge between them: it parses, but it cannot be routed. */
export const BASE_ELEMENTS = {
  timestamp: { kind: 'text', format: 'timestamp' },
  issue_number: digits,
  pr_number: { ...digits, optional: true },
  status: { kind: 'choice', values: HANDOFF_STATUSES, optional: true },
  summary: text,
} as const satisfies Elements;
