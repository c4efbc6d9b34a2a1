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
import { claimedFact } from '../decision-evidence.ts';
import { agentView, decisionView } from '../run-views.ts';
import { stageView, times } from '../stage-views.ts';
import { operation } from './operation.ts';
import { taskDetails } from './tasks.ts';

const visitView = object({
  stage: { ...text, about: 'The name of the stage.' },
  role: nullable(text),
  phase: choice(PHASES),
  round: { ...count, about: 'How often the work had gone back to the fixer.' },
  holder: { ...nullable(text), about: 'The holder of its claim.' },
  epoch: { ...nullable(whole), about: 'The number of its claim.' },
  from: text,
  to: { ...nullable(text), about: 'Null while the visit lasts.' },
  activity: { ...choice(ACTIVITIES), about: 'What the task did last in this visit.' },
  outcome: { ...nullable(text), about: 'How its claim, checks or merge ended.' },
  ...times,
});
export type VisitView = ValueOf<typeof visitView>;

const checkView = object({
  name: text,
  outcome: choice(['passed', 'failed', 'cancelled', 'pending']),
  exit_code: nullable(whole),
  output: { ...nullable(text), about: 'The end of its output, if it did not pass.' },
  sandbox: { ...nullable(text), about: 'Its sandbox; null if there is no record.' },
});

const sessionView = object({
  epoch: whole,
  session_id: text,
  agent_id: { ...nullable(text), about: 'Null for a claim by hand.' },
  agent: { ...nullable(text), about: "The agent's name in the runbook." },
  run: { ...nullable(text), about: 'The program: `scripted`, `claude`, a command.' },
  status: nullable(agentView.fields.status),
  role: nullable(text),
  holder: { ...text, about: 'The name under which the session claimed the task.' },
  host: { ...optional(text), about: 'The host of the agent; left out if the project has only one.' },
  principal: { ...text, about: 'The name that is responsible for the claim.' },
  model: nullable(text),
  sandbox: {
    ...nullable(text),
    about: 'As in `bubblewrap, network full`, or `no sandbox`; null if there is no record.',
  },
  started_at: nullable(text),
  ended_at: nullable(text),
  how: { ...nullable(text), about: 'How the claim ended; null while it lasts.' },
  reason: { ...nullable(text), about: 'Why the claim ended.' },
  processes: { ...count, about: 'How many processes the agent has had.' },
  blocks: { ...count, about: 'How many of its stops were blocked.' },
  resumes: { ...count, about: 'How often its handlers resumed it.' },
  tokens: { ...nullable(count), about: 'Input, output and cached; null if the client does not report usage.' },
  cost_millicents: { ...nullable(count), about: 'In thousandths of a cent.' },
  turns: { ...count, about: 'How many turns have ended.' },
});
export type SessionView = ValueOf<typeof sessionView>;

/** Everything about one task in one answer. `task show`, `run`, `status`, decisions and the page render parts of it. */
const taskOverview = object({
  ...taskDetails.fields,
  seq: { ...whole, about: 'The newest entry that the answer includes.' },
  at: text,
  mode: { ...nullable(text), about: 'The mode of its workflow; null if it is in no workflow.' },
  activity: { ...choice(ACTIVITIES), about: 'What the task does now.' },
  since: { ...text, about: 'When this activity began.' },
  times: { ...object(times), about: 'The time that the task has spent in each activity.' },
  stages: {
    ...list(stageView),
    about: 'The stages of its workflow in order, including those that it has not reached.',
  },
  visits: { ...list(visitView), about: 'Every visit to a stage, oldest first.' },
  issue: {
    ...nullable(
      object({ title: text, type: nullable(text), priority: nullable(text), summary: text, requirements: list(text) }),
    ),
    about: 'The issue, as the issue manager wrote it; null before.',
  },
  rounds: { ...count, about: 'How often the work went back to the fixer.' },
  reviews: { ...count, about: 'How many reviews have ended.' },
  commits: count,
  findings: {
    ...list(object({ text, rounds: { ...count, about: 'In how many rounds of review in a row it was found.' } })),
    about: 'The last findings of reviews.',
  },
  checks: {
    ...nullable(
      object({
        head: { ...text, about: 'The checked commit.' },
        outcome: { ...nullable(checkView.fields.outcome), about: 'Null while they run.' },
        checks: list(checkView),
      }),
    ),
    about: 'The newest required checks.',
  },
  sessions: { ...list(sessionView), about: 'One for each agent, and one for each claim by hand; oldest first.' },
  decisions: {
    ...list(decisionView),
    about:
      'The decisions about the task, oldest first: open, answered and withdrawn. Empty for sessions of other tasks.',
  },
  cost: object({
    input_tokens: count,
    output_tokens: count,
    cached_tokens: count,
    cost_millicents: { ...count, about: 'In thousandths of a cent.' },
    unpriced_tokens: { ...count, about: 'Tokens without a known price: the cost does not include them.' },
    turns: count,
    work_ms: { ...count, about: 'The working time of processes.' },
    wait_ms: { ...count, about: 'The time that processes waited for a person or a limit.' },
  }),
  taken_by: { ...nullable(text), about: 'The person who takes the task over; null after they have claimed it.' },
  branch: nullable(text),
  workspace: { ...nullable(text), about: 'The worktree.' },
  head: { ...nullable(text), about: 'The last commit of the branch that Baton measured.' },
  approval: {
    ...nullable(
      object({
        head: nullable(text),
        by: text,
        unproven: {
          ...nullable(choice(['accepted', 'confirmed'])),
          about:
            "Null if the approver's own client sent it. If that is not proven, why it counts: `review.unseparated` accepted it, or a person confirmed it.",
        },
      }),
    ),
    about: 'The last approval.',
  },
  pull_request: nullable(object({ number: nullable(whole), url: nullable(text), is_closed: flag })),
  merge_sha: { ...nullable(text), about: 'The merge commit; null before the merge.' },
  diff_command: { ...nullable(text), about: 'The command that shows the change; null if nothing was committed.' },
  log_command: { ...nullable(text), about: 'The command that shows the log of its agents; null if it had none.' },
});
export type TaskOverview = ValueOf<typeof taskOverview>;

export const taskViewRead = operation({
  name: 'task_view',
  about:
    'Show everything about one task: the issue, its stages with their times, rounds, findings, checks, sessions, decisions and cost.',
  access: ['operator', 'worker', 'session', 'agent'],
  tool: false,
  input: object({ task_id: taskId }),
  result: taskOverview,
});

const said = ['result', 'record', 'handoff', 'exit', 'evidence', 'progress', 'signal', 'question'] as const;

const sessionAccount = object({
  task_id: text,
  epoch: { ...whole, about: 'The number of its claim.' },
  session_id: text,
  holder: { ...text, about: 'The name under which it claimed the task.' },
  principal: { ...text, about: 'The name that is responsible for the claim.' },
  role: nullable(text),
  agent_ids: { ...list(text), about: 'Its agents; empty for a claim by hand.' },
  started_at: text,
  ended_at: nullable(text),
  how: { ...nullable(text), about: 'How the claim ended; null while it lasts.' },
  reason: { ...nullable(text), about: 'Why the claim ended.' },
  asked: {
    ...object({ mission: nullable(missionShape), prompt: nullable(text) }),
    about: 'Its mission and prompt. Baton gives a mission to sessions that it starts in a workspace.',
  },
  said: {
    ...list(
      object({
        what: { ...choice(said), about: 'The kind of report.' },
        entry: { ...whole, about: 'The number of the entry.' },
        at: text,
        text,
      }),
    ),
    about: 'Its reports, oldest first.',
  },
  measured: {
    ...nullable(
      object({
        base: { ...text, about: 'The commit at which it began.' },
        head: { ...text, about: 'Its last commit.' },
        commits: count,
        file_count: count,
        files: list(object({ path: text, action: text })),
        new_dependencies: list(text),
        violations: { ...list(text), about: 'The constraints that it broke, in words.' },
      }),
    ),
    about: 'What Baton measured; null before its end, and for a claim by hand.',
  },
  claims: { ...list(claimedFact), about: 'Its reports beside what Baton measured.' },
  messages: {
    ...list(
      object({
        entry: { ...whole, about: 'The number of the entry.' },
        at: text,
        actor: { ...text, about: 'The sender.' },
        text,
        delivered: { ...nullable(flag), about: 'Null if that is not known yet.' },
      }),
    ),
    about: 'The messages to its agent, oldest first.',
  },
  blocks: {
    ...list(
      object({
        entry: { ...whole, about: 'The number of the entry.' },
        at: text,
        owed: { ...list(text), about: 'What it still had to send, in words.' },
      }),
    ),
    about: 'Its blocked stops.',
  },
  checks: { ...list(checkView), about: "Baton's checks of the measured commit." },
});
export type SessionAccountView = ValueOf<typeof sessionAccount>;

export const sessionViewRead = operation({
  name: 'session_view',
  about:
    'Show one session of a task, from the ledger: its mission, its reports, what Baton measured and where they differ, messages to it, blocked stops, checks.',
  access: ['operator'],
  tool: false,
  input: object({ task_id: taskId, epoch: { ...whole, about: 'The number of its claim, as in task_view.' } }),
  result: sessionAccount,
});
