import type { SessionView, TaskOverview } from '../../api/operations/task-view.ts';
import type { TaskDetails } from '../../api/operations/tasks.ts';
import type { StageView, WorkflowBrief } from '../../api/stage-views.ts';
import { type Activity, isOver } from '../../protocol/phase.ts';
import { isHandoffOn, parseHandoff } from '../../protocol/handoff/index.ts';
import { renderSandbox } from '../../protocol/sandbox.ts';
import { shellWord } from '../../protocol/text/quote-for-shell.ts';
import { type Rules, rulesFor } from '../../state/rules.ts';
import { type AgentRun, agentStatus } from '../../state/runs/agent-run.ts';
import { costOfTask } from '../../state/runs/costs.ts';
import { tokensIn } from '../../state/runs/spent.ts';
import type { State } from '../../state/state.ts';
import type { Task } from '../../state/tasks/task.ts';
import { type Span, sumTimes, type Timeline } from '../../state/timeline/timeline.ts';
import { isBefore, listStages, listVisits, type Times, type Visit } from '../../state/timeline/visits.ts';
import { findTakenOverBy } from '../../state/workflow/flow.ts';
import { decisionView, hostField, sandboxView } from './run-views.ts';

interface ViewOptions {
  readonly at: string;
  readonly rules: Rules;
  readonly showsDecisions: boolean;
}

/** `details` is the task as returned by `task_get`. The task must be in the state. */
export function buildTaskView(state: State, details: TaskDetails, options: ViewOptions): TaskOverview {
  const { at, rules, showsDecisions } = options;
  const task = state.tasks.get(details.id);
  if (task === undefined) throw new Error(`task ${details.id} is not in the state`);
  const timeline = state.timelines.get(task.id) ?? { spans: [] };
  const { flow } = task;
  const last = timeline.spans.at(-1);
  const sessions = listSessions(state, task, timeline);
  const id = shellWord(task.id);
  return {
    ...details,
    seq: state.seq,
    at,
    mode: flow.mode,
    activity: last?.activity ?? 'queued',
    since: last?.from ?? at,
    times: timesView(sumTimes(timeline, at)),
    stages: stagesOf(state, task, rules, at),
    visits: visitsOf(task, timeline, at).map(({ ms, ...visit }) => ({ ...visit, ...timesView(ms) })),
    issue: issueView(task),
    rounds: flow.rounds,
    reviews: flow.reviews,
    commits: flow.commits,
    findings: Object.entries(flow.findings).map(([text, rounds]) => ({ text, rounds })),
    checks: checksView(task),
    sessions,
    decisions: showsDecisions ? listDecisions(state, task) : [],
    cost: costView(state, task, at),
    taken_by: findTakenOverBy(flow) ?? null,
    branch: flow.branch,
    workspace: flow.place?.workspace ?? null,
    head: flow.head,
    approval: approvalView(flow),
    pull_request:
      flow.pull === null ? null : { number: flow.pull.number, url: flow.pull.url, is_closed: flow.pull.isClosed },
    merge_sha: flow.mergeSha,
    diff_command: !hasCommits(task) ? null : `baton task diff ${id}`,
    log_command: sessions.some(({ agent_id }) => agent_id !== null) ? `baton task log ${id}` : null,
  };
}

function approvalView({ approval }: Task['flow']): TaskOverview['approval'] {
  if (approval === null) return null;
  const { head, by, unproven = null } = approval;
  return { head, by, unproven };
}

/** The commits of a manual claim are not measured, so its record names the head. */
export function hasCommits({ flow, latestRecord }: Task): boolean {
  return flow.head !== null && (flow.commits > 0 || latestRecord !== null);
}

/** The command with which a person starts work on a task. A workflow's work needs its own worktree. */
export function claimCommand({ id, claim, nextRole, flow }: Task): string {
  const role = claim?.role ?? nextRole;
  const options = `${role === null ? '' : ` --role ${shellWord(role)}`}${flow.mode === null ? '' : ' --worktree'}`;
  return `baton task claim ${shellWord(id)} --as NAME${options}`;
}

/** The stages of a task, including those ahead. */
export function stagesOf(state: State, task: Task, rules: Rules, at: string): readonly StageView[] {
  const visits = listVisits(state.timelines.get(task.id) ?? { spans: [] }, at);
  const hasChecks = rulesFor(task, rules).ciGate;
  const stages = listStages(visits, { isWorkflow: task.flow.mode !== null, hasChecks });
  return stages.map(({ ms, ...stage }) => ({ ...stage, ...timesView(ms) }));
}

function visitsOf({ flow }: Task, timeline: Timeline, at: string): readonly Visit[] {
  const visits = listVisits(timeline, at);
  return flow.mode === null ? visits : visits.filter((visit) => !isBefore(visit));
}

/** The workflows that are not over, for `status_get`: those that wait for a person, then the most recently changed. */
export function listWorkflows(state: State, rules: Rules, at: string): readonly WorkflowBrief[] {
  const open: { readonly task: Task; readonly last: Span }[] = [];
  for (const task of state.tasks.values()) {
    if (task.flow.mode === null) continue;
    const last = state.timelines.get(task.id)?.spans.at(-1);
    if (last !== undefined && !isOver(last.activity)) open.push({ task, last });
  }
  const isAsked = ({ last }: { readonly last: Span }): number => (last.activity === 'waiting' ? 0 : 1);
  open.sort((a, b) => isAsked(a) - isAsked(b) || compareTimes(b.last.from, a.last.from));
  return open.slice(0, MOST_WORKFLOWS).map(({ task, last }) => ({
    task_id: task.id,
    title: task.title,
    activity: last.activity,
    since: last.from,
    rounds: task.flow.rounds,
    stages: stagesOf(state, task, rules, at),
  }));
}

const MOST_WORKFLOWS = 50;

function compareTimes(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

function timesView(ms: Times): TaskOverview['times'] {
  const of = (activity: Activity): number => ms[activity] ?? 0;
  return {
    pending_ms: of('pending'),
    queued_ms: of('queued'),
    running_ms: of('running'),
    checks_ms: of('checks'),
    merging_ms: of('merging'),
    waiting_ms: of('waiting'),
    blocked_ms: of('blocked'),
  };
}

/** A runbook may define another form of the handoff. Then only its summary is known. */
function issueView({ title, flow: { issue } }: Task): TaskOverview['issue'] {
  const parsed = issue === null ? undefined : parseHandoff(issue.xml);
  if (parsed?.ok !== true || parsed.value.kind !== 'handoff') return null;
  const message = parsed.value;
  if (!isHandoffOn(message, 'issue-manager', 'prep-agent'))
    return { title, type: null, priority: null, summary: message.summary ?? '', requirements: [] };
  const { issue_title, type, priority, summary, requirements } = message;
  return { title: issue_title, type, priority, summary, requirements };
}

export function checksView({ flow: { checks } }: Task): TaskOverview['checks'] {
  if (checks === null) return null;
  return {
    head: checks.head,
    outcome: checks.outcome,
    checks: checks.plans.map(({ name }) => {
      const outcome = checks.outcomes[name] ?? 'pending';
      const failure = checks.failures?.[name];
      const exit_code = outcome === 'passed' ? 0 : (failure?.exitCode ?? null);
      const kind = checks.sandboxes?.[name];
      const sandbox = kind === undefined ? null : renderSandbox(kind);
      return { name, outcome, exit_code, output: failure?.output ?? null, sandbox };
    }),
  };
}

function listDecisions({ decisions }: State, { id }: Task): TaskOverview['decisions'] {
  return [...decisions.values()]
    .filter(({ taskId }) => taskId === id)
    .toSorted((a, b) => compareTimes(a.openedAt, b.openedAt))
    .map(decisionView);
}

function costView(state: State, { id }: Task, at: string): TaskOverview['cost'] {
  const { waiting_tokens: _w, measured_tokens: _m, client_tokens: _c, ...spent } = costOfTask(state, id, at);
  return spent;
}

/** The claims recorded for the task, with their agents. For agents that ended long ago only the claim is known. */
function listSessions(state: State, task: Task, { spans }: Timeline): readonly SessionView[] {
  const agents = Map.groupBy(
    [...state.agents.values()].filter((agent) => agent.task?.task_id === task.id),
    (agent) => agent.task?.session_id,
  );
  const live = task.claim === null ? [] : [{ ...task.claim, how: null, reason: null, at: null }];
  return [...task.endings, ...live].flatMap((claim): readonly SessionView[] => {
    const { epoch, sessionId: session_id, holder, principal, how, reason, at: ended_at } = claim;
    const { role = null, from = null } = spans.find((span) => span.epoch === epoch) ?? {};
    const byHand = { epoch, session_id, holder, principal, how, reason, role, started_at: from, ended_at };
    const those = agents.get(session_id) ?? [];
    return those.length === 0
      ? [{ ...NO_AGENT, ...byHand }]
      : those.map((agent) => ({ ...byHand, ...agentPart(agent), ...hostField(agent, state) }));
  });
}

const NO_AGENT = {
  agent_id: null,
  agent: null,
  run: null,
  status: null,
  model: null,
  sandbox: null,
  processes: 0,
  blocks: 0,
  resumes: 0,
  tokens: null,
  cost_millicents: null,
  turns: 0,
} as const;

function agentPart(agent: AgentRun) {
  const { id, plan, start, blocks, resumes, usage, requestedAt, outcome, exit } = agent;
  return {
    agent_id: id,
    agent: plan.name,
    run: plan.run,
    status: agentStatus(agent),
    ...(plan.role === undefined ? {} : { role: plan.role }),
    model: usage?.model ?? plan.model ?? null,
    sandbox: sandboxView(agent)?.summary ?? null,
    started_at: requestedAt,
    ...(outcome === null ? { ended_at: null } : exit === null ? {} : { ended_at: exit.at }),
    processes: start,
    blocks,
    resumes,
    tokens: usage === null ? null : tokensIn(usage),
    cost_millicents: usage?.cost_millicents ?? null,
    turns: usage?.turns ?? 0,
  };
}
