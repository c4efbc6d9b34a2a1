import type { StoreHealth } from '../../protocol/resource-faults.ts';
import { PHASES } from '../../protocol/phase.ts';
import type { ValueOf } from '../../protocol/shape/shape.ts';
import {
  choice,
  count,
  flag,
  list,
  nothing,
  nullable,
  object,
  optional,
  text,
  typed,
  whole,
} from '../../protocol/shape/build-shape.ts';
import { operation } from './operation.ts';

const brief = object({
  claimable: {
    ...list(object({ id: text, title: text, phase: choice(PHASES) })),
    about: 'Ready tasks, the most urgent first.',
  },
  claimed: { ...list(object({ id: text, title: text, holder: text })), about: 'Tasks that a session has claimed.' },
  claimed_total: { ...count, about: 'How many tasks are claimed.' },
  decisions: { ...count, about: 'How many decisions wait for a person.' },
  last_session: {
    ...nullable(
      object({
        task_id: text,
        title: text,
        phase: choice(PHASES),
        how: { ...text, about: 'How the claim ended.' },
        holder: text,
        reason: { ...nullable(text), about: 'Why it ended.' },
        at: text,
        record: nullable(
          object({ summary: text, branch: text, commit_sha: text, blockers: typed<readonly object[]>() }),
        ),
      }),
    ),
    about: 'The claim that ended last, and the thought record of its session.',
  },
});
export type ProjectBrief = ValueOf<typeof brief>;

export const projectBrief = operation({
  name: 'project_brief',
  about:
    'Show the state of the work in this repository, for a new session: ready tasks, claimed tasks and their holders, and the record of the last session.',
  access: ['operator', 'worker', 'session', 'agent'],
  tool: false,
  input: nothing,
  result: brief,
});

export const COST_KINDS = ['agent', 'pipeline', 'task', 'day', 'model'] as const;

const spent = {
  input_tokens: count,
  output_tokens: count,
  cached_tokens: count,
  cost_millicents: { ...count, about: 'Thousandths of a cent.' },
  unpriced_tokens: { ...count, about: 'Tokens without a known price: the cost does not include them.' },
  turns: { ...count, about: 'How many turns have ended.' },
  waiting_tokens: { ...count, about: 'Tokens that were used without a prompt or message.' },
  work_ms: { ...count, about: 'The working time of processes.' },
  wait_ms: { ...count, about: 'The time that processes waited for a person or a limit.' },
  measured_tokens: {
    ...count,
    about: 'The tokens that Baton has measured; the others are as the client reports them.',
  },
  client_tokens: { ...count, about: 'What the clients report for the measured tokens.' },
} as const;

const costs = object({
  by: { ...choice(COST_KINDS), about: 'What a row stands for.' },
  at: text,
  rows: list(
    object({
      name: {
        ...nullable(text),
        about: 'The agent, pipeline, task, day or model; null for use that belongs to none.',
      },
      ...spent,
      budget: {
        ...nullable(object({ measure: choice(['tokens', 'cost', 'time']), used: count, limit: count, percent: whole })),
        about: 'The budget with the highest use; null without a budget.',
      },
    }),
  ),
  list_prices: {
    ...object({ as_of: { ...text, about: 'The date of the list.' }, models: list(text) }),
    about: "The models that were priced by Baton's own list, because the client reports no price.",
  },
  total: object(spent),
});
export type Costs = ValueOf<typeof costs>;

export const costsGet = operation({
  name: 'costs_get',
  about:
    'Show what was used by agent, pipeline, task, day or model: tokens, cost, working and waiting time, and the use of budgets.',
  access: ['operator'],
  tool: false,
  input: object({ by: optional(choice(COST_KINDS), 'What a row stands for; agent if left out.') }),
  result: costs,
});

const worktreeView = object({
  path: text,
  branch: nullable(text),
  task_id: { ...nullable(text), about: 'Null if it belongs to no task.' },
  port: { ...nullable(whole), about: 'The port of its sessions (`BATON_PORT`).' },
  needed: { ...nullable(text), about: 'Why Baton keeps it in any case: a session works in it, or will.' },
  holds: { ...list(text), about: 'What would be lost with it, such as uncommitted files.' },
});
export type WorktreeView = ValueOf<typeof worktreeView>;

export const worktreeList = operation({
  name: 'worktree_list',
  about:
    'List the worktrees of the project, each with its task, its branch, why it is needed, and what would be lost with it.',
  access: ['operator', 'worker'],
  tool: false,
  input: nothing,
  result: object({ worktrees: list(worktreeView) }),
});

export const worktreePrune = operation({
  name: 'worktree_prune',
  about:
    'Remove the worktrees of tasks that are done. A worktree with uncommitted, stashed, unpushed or unmerged work, or with its own configured files, is kept and listed.',
  access: ['operator'],
  kind: 'write',
  tool: false,
  input: object({ dry_run: optional(flag, 'List what would be removed, and remove nothing.') }),
  result: object({ removed: list(text), kept: list(worktreeView), dry_run: flag }),
});

const listedProject = object({
  id: text,
  name: { ...text, about: 'The name of its folder.' },
  path: text,
  is_open: { ...flag, about: 'False: the daemon could not open it, or has not opened it yet; `summary` says why.' },
  seq: { ...nullable(whole), about: 'Its newest entry; null if it is not open.' },
  needs: { ...count, about: 'How many things need a person.' },
  running: { ...count, about: 'How many agents and pipelines run.' },
  all_clear: { ...flag, about: 'Nothing needs a person, and the daemon has proof of it.' },
  summary: { ...text, about: 'The verdict as a text.' },
  store: {
    ...typed<StoreHealth>(),
    about: 'Whether the ledger can be written; if not, since when, why, and what to do.',
  },
});
export type ListedProjectView = ValueOf<typeof listedProject>;

export const projectsList = {
  ...operation({
    name: 'projects_list',
    about: 'List every project of the state folder, each with its verdict. The request needs no project.',
    access: ['operator'],
    tool: false,
    input: nothing,
    result: object({ projects: list(listedProject) }),
  }),
  scope: 'state-folder',
} as const;
