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
  claimable: list(object({ id: text, title: text, phase: choice(PHASES) })),
  claimed: list(object({ id: text, title: text, holder: text })),
  claimed_total: count,
  decisions: { ...count, about: 'How many decisions wait for a person.' },
  last_session: {
    ...nullable(
      object({
        task_id: text,
        title: text,
        phase: choice(PHASES),
        how: text,
        holder: text,
        reason: nullable(text),
        at: text,
        record: nullable(
          object({ summary: text, branch: text, commit_sha: text, blockers: typed<readonly object[]>() }),
        ),
      }),
    ),
    about: 'The claim that ended last, and what was recorded under it.',
  },
});
export type ProjectBrief = ValueOf<typeof brief>;

export const projectBrief = operation({
  name: 'project_brief',
  about:
    'Where the work in this repository stands, for a session that begins: what can be claimed, who works on what, and what the last session left.',
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
  unpriced_tokens: { ...count, about: 'Tokens without a known price: they are missing from the cost.' },
  turns: count,
  waiting_tokens: { ...count, about: 'Tokens that were used while there was nothing to do but wait.' },
  work_ms: count,
  wait_ms: { ...count, about: 'Time spent waiting for a person or a limit.' },
} as const;

const costs = object({
  by: choice(COST_KINDS),
  at: text,
  rows: list(
    object({
      name: nullable(text),
      ...spent,
      budget: nullable(
        object({ measure: choice(['tokens', 'cost', 'time']), used: count, limit: count, percent: whole }),
      ),
    }),
  ),
  list_prices: {
    ...object({ as_of: text, models: list(text) }),
    about: "The models that Baton's own list prices, if the client names no price.",
  },
  total: object(spent),
});
export type Costs = ValueOf<typeof costs>;

export const costsGet = operation({
  name: 'costs_get',
  about:
    'What was used: tokens, money, time at work and time waiting, by agent, pipeline, task, day or model, with the budget of each and how much of it is used.',
  access: ['operator'],
  tool: false,
  input: object({ by: optional(choice(COST_KINDS), 'What the rows stand for; agent if left out.') }),
  result: costs,
});

const worktreeView = object({
  path: text,
  branch: nullable(text),
  task_id: nullable(text),
  port: nullable(whole),
  needed: { ...nullable(text), about: 'Why it stays, whatever it holds: a session works there, or will.' },
  holds: { ...list(text), about: 'What would be lost with it.' },
});
export type WorktreeView = ValueOf<typeof worktreeView>;

export const worktreeList = operation({
  name: 'worktree_list',
  about:
    'List the worktrees of the project: the task and the branch of each, who works there, and what would be lost with it.',
  access: ['operator', 'worker'],
  tool: false,
  input: nothing,
  result: object({ worktrees: list(worktreeView) }),
});

export const worktreePrune = operation({
  name: 'worktree_prune',
  about:
    'Remove the worktrees of tasks that are done. One that holds anything uncommitted, stashed, unpushed or unmerged, or configured files of its own, is kept, and listed.',
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
  running: count,
  all_clear: flag,
  summary: text,
  store: typed<StoreHealth>(),
});
export type ListedProjectView = ValueOf<typeof listedProject>;

export const projectsList = {
  ...operation({
    name: 'projects_list',
    about: 'Every project of the state folder, with what needs a person in it. Needs no project in the request.',
    access: ['operator'],
    tool: false,
    input: nothing,
    result: object({ projects: list(listedProject) }),
  }),
  scope: 'state-folder',
} as const;
