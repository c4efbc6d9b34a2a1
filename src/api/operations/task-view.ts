import { missionShape } from '../../protocol/mission.ts';
import { ACTIVITIES } from '../../protocol/phase.ts';
import { PHASES } from '../../protocol/phase.ts';
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
import type { ValueOf } from '../../protocol/shape/shape.ts';
import { taskId } from '../../protocol/shape/shared-fields.ts';
import { agentView, claimedFact, decisionView } from '../run-views.ts';
import { stageView, times } from '../stage-views.ts';
import { operation } from './operation.ts';
import { taskDetails } from './tasks.ts';

const visitView = object({
  stage: text,
  role: nullable(text),
  phase: choice(PHASES),
  round: { ...count, about: 'How often the work had gone back to the fixer.' },
  holder: nullable(text),
  epoch: nullable(whole),
  from: text,
  to: { ...nullable(text), about: 'Null while it lasts.' },
  activity: choice(ACTIVITIES),
  outcome: nullable(text),
  ...times,
});
export type VisitView = ValueOf<typeof visitView>;

const checkView = object({
  name: text,
  outcome: choice(['passed', 'failed', 'cancelled', 'pending']),
  exit_code: nullable(whole),
  output: { ...nullable(text), about: 'The end of what it printed, if it did not pass.' },
  sandbox: { ...nullable(text), about: 'What it ran in; null if there is no record.' },
});

const sessionView = object({
  epoch: whole,
  session_id: text,
  agent_id: { ...nullable(text), about: 'Null for a claim by hand.' },
  agent: nullable(text),
  run: { ...nullable(text), about: 'What was started: `scripted`, `claude`, a command.' },
  status: nullable(agentView.fields.status),
  role: nullable(text),
  holder: text,
  host: { ...optional(text), about: 'The host of the agent; left out if the project has only one.' },
  principal: text,
  model: nullable(text),
  sandbox: {
    ...nullable(text),
    about: 'As in `bubblewrap, network full`, or `no sandbox`; null if there is no record.',
  },
  started_at: nullable(text),
  ended_at: nullable(text),
  how: { ...nullable(text), about: 'How the claim ended; null while it lasts.' },
  reason: nullable(text),
  processes: { ...count, about: 'How many processes the agent has had.' },
  blocks: { ...count, about: 'How many of its stops were blocked.' },
  resumes: count,
  tokens: { ...nullable(count), about: 'Input, output and cached; null if the client does not report usage.' },
  cost_millicents: nullable(count),
  turns: count,
});
export type SessionView = ValueOf<typeof sessionView>;

/** Everything about one task in one answer. `task show`, `run`, `status`, decisions and the page render parts of it. */
const taskOverview = object({
  ...taskDetails.fields,
  seq: { ...whole, about: 'The newest entry that it takes into account.' },
  at: text,
  mode: { ...nullable(text), about: 'Null if it is no workflow.' },
  activity: choice(ACTIVITIES),
  since: { ...text, about: 'When that began.' },
  times: object(times),
  stages: { ...list(stageView), about: 'In the order of the workflow, those ahead included.' },
  visits: { ...list(visitView), about: 'Every visit to a stage, oldest first.' },
  issue: nullable(
    object({ title: text, type: nullable(text), priority: nullable(text), summary: text, requirements: list(text) }),
  ),
  rounds: { ...count, about: 'How often it went back to the fixer.' },
  reviews: count,
  commits: count,
  findings: list(object({ text, rounds: { ...count, about: 'In how many rounds in a row it was found.' } })),
  checks: nullable(object({ head: text, outcome: nullable(checkView.fields.outcome), checks: list(checkView) })),
  sessions: { ...list(sessionView), about: 'One for each agent, and for each claim by hand; oldest first.' },
  decisions: {
    ...list(decisionView),
    about: 'About the task, oldest first: open, answered and withdrawn. Empty for sessions of other tasks.',
  },
  cost: object({
    input_tokens: count,
    output_tokens: count,
    cached_tokens: count,
    cost_millicents: count,
    unpriced_tokens: count,
    turns: count,
    work_ms: count,
    wait_ms: count,
  }),
  taken_by: { ...nullable(text), about: 'The person who took it over; null from their claim on.' },
  branch: nullable(text),
  workspace: nullable(text),
  head: nullable(text),
  approval: nullable(object({ head: nullable(text), by: text })),
  pull_request: nullable(object({ number: nullable(whole), url: nullable(text), is_closed: flag })),
  merge_sha: nullable(text),
  diff_command: { ...nullable(text), about: 'Shows the change; null if nothing was committed.' },
  log_command: { ...nullable(text), about: 'Shows what its agents did; null if it had none.' },
});
export type TaskOverview = ValueOf<typeof taskOverview>;

export const taskViewRead = operation({
  name: 'task_view',
  about:
    'Everything about one task: the issue, its stages with their times, rounds, findings, checks, sessions, decisions and cost.',
  access: ['operator', 'worker', 'session', 'agent'],
  tool: false,
  input: object({ task_id: taskId }),
  result: taskOverview,
});

const said = ['result', 'record', 'handoff', 'exit', 'evidence', 'progress', 'signal', 'question'] as const;

const sessionAccount = object({
  task_id: text,
  epoch: whole,
  session_id: text,
  holder: text,
  principal: text,
  role: nullable(text),
  agent_ids: { ...list(text), about: 'Empty for a claim by hand.' },
  started_at: text,
  ended_at: nullable(text),
  how: { ...nullable(text), about: 'How the claim ended; null while it lasts.' },
  reason: nullable(text),
  asked: {
    ...object({ mission: nullable(missionShape), prompt: nullable(text) }),
    about: 'What it was asked. Baton gives a mission to sessions that it starts in a workspace.',
  },
  said: {
    ...list(object({ what: choice(said), entry: whole, at: text, text })),
    about: 'Everything that it reported, oldest first.',
  },
  measured: {
    ...nullable(
      object({
        base: text,
        head: text,
        commits: count,
        file_count: count,
        files: list(object({ path: text, action: text })),
        new_dependencies: list(text),
        violations: list(text),
      }),
    ),
    about: 'Null before its end, and for a claim by hand.',
  },
  claims: { ...list(claimedFact), about: 'What it said beside what Baton measured.' },
  messages: {
    ...list(object({ entry: whole, at: text, actor: text, text, delivered: nullable(flag) })),
    about: 'Those to its agent, oldest first.',
  },
  blocks: {
    ...list(object({ entry: whole, at: text, owed: list(text) })),
    about: 'Its stops that were blocked, and what it owed then.',
  },
  checks: { ...list(checkView), about: "Baton's checks of the commit that was measured." },
});
export type SessionAccountView = ValueOf<typeof sessionAccount>;

export const sessionViewRead = operation({
  name: 'session_view',
  about:
    'One session of a task, from the ledger: what it was asked, what it said, what Baton measured and where they differ, messages to it, blocked stops, checks.',
  access: ['operator'],
  tool: false,
  input: object({ task_id: taskId, epoch: { ...whole, about: 'The number of its claim, as in task_view.' } }),
  result: sessionAccount,
});
