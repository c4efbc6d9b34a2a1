import type { Answer } from '../../../api/answer.ts';
import type { DecisionDetails, DecisionEvidence } from '../../../api/decision-evidence.ts';
import { shellWord } from '../../../protocol/text/quote-for-shell.ts';
import { renderCountOf } from '../../../protocol/text/text-format.ts';
import type { RecordedEvent } from '../../../state/event.ts';
import { nameHolder } from '../../../state/packet/author-of.ts';
import { listClaimedFacts } from '../../../state/packet/claimed-facts.ts';
import { findEvidence } from '../../../state/packet/evidence.ts';
import { listAccounts, type SessionAccount } from '../../../state/packet/session-account.ts';
import { SECTIONS, type Statement } from '../../../state/packet/statement.ts';
import type { Rules } from '../../../state/rules.ts';
import type { AgentRun } from '../../../state/runs/agent-run.ts';
import { findHighestUse } from '../../../state/runs/budget.ts';
import { costOfTask } from '../../../state/runs/costs.ts';
import type { Decision } from '../../../state/runs/decision.ts';
import { tokensIn } from '../../../state/runs/spent.ts';
import type { State } from '../../../state/state.ts';
import type { Task } from '../../../state/tasks/task.ts';
import { decisionView } from '../../views/run-views.ts';
import { checksView, hasCommits, stagesOf } from '../../views/task-view.ts';
import { type Call, type FoundRun, refusalOf, unchanged } from '../call.ts';
import { readChangeBetween, readTaskDiff, statOf } from '../task-diff.ts';
import { readTaskHistory } from './task-history.ts';

type FindDecision<I> = (state: State, input: I) => FoundRun<Decision>;

/** Reads a decision with its evidence: from the state, the ledger and git. */
export async function readDecision<I>(call: Call<I>, find: FindDecision<I>): Promise<Answer<DecisionDetails>> {
  const read = await call.project.commandLoop.submit<Shown>({
    actor: 'system:reader',
    decide: ({ state, rules }) => {
      const found = find(state, call.input);
      return found.ok ? unchanged(select(state, found.run, rules, call.services.now().toISOString())) : found;
    },
  });
  if (!read.ok) return refusalOf(read);
  const { task, details, sessionId } = read.answer;
  // A settled decision needs no evidence.
  if (task === undefined || details.status !== 'open') return { ok: true, result: details };
  const history = await readTaskHistory(call.project.ledger, { taskId: task.id });
  const account = chooseAccount(listAccounts(history), sessionId);
  const evidence: DecisionEvidence = {
    ...details.evidence,
    diff: await readDiff(task, call),
    since_passed: await readSincePassed(task, history, call),
    claims: account === undefined ? [] : listClaimedFacts(account),
    claims_by: account === undefined ? null : `${nameHolder(account)}, claim ${account.epoch}`,
  };
  return { ok: true, result: { ...details, evidence } };
}

interface Shown {
  readonly task: Task | undefined;
  readonly details: DecisionDetails;
  /** The session that the question is about, if any. */
  readonly sessionId: string | undefined;
}

function select(state: State, decision: Decision, rules: Rules, at: string): Shown {
  const agent = state.agents.get(decision.agentId ?? '');
  const found = findEvidence(state, decision, decision.taskId ?? agent?.task?.task_id ?? null);
  const task = found?.task;
  const evidence: DecisionEvidence = {
    goal: found?.goal ?? null,
    stage: task === undefined ? null : describeStage(task),
    stages: task === undefined || task.flow.mode === null ? [] : stagesOf(state, task, rules, at),
    items: (found?.items ?? []).map(toItem),
    output: agent?.exit?.output ?? null,
    diff: null,
    since_passed: null,
    mission: findMission(state, agent),
    budget: budgetView(state, decision, rules, at),
    checks: task === undefined ? [] : checksOf(task),
    findings: Object.entries(task?.flow.findings ?? {}).map(([text, rounds]) => ({ text, rounds })),
    claims: [],
    claims_by: null,
    waiting: waitingFor(state, decision),
    cost: task === undefined ? null : costView(state, task, at),
    commands: commandsFor(decision, task),
  };
  return { task, details: { ...decisionView(decision), evidence }, sessionId: agent?.task?.session_id };
}

function toItem({ section, seq, title, author, at, text }: Statement): DecisionEvidence['items'][number] {
  return { section, heading: SECTIONS[section].title, title, author, entry: seq, at, text };
}

function findMission({ sessions }: State, agent: AgentRun | undefined): string | null {
  const prepared = sessions.get(agent?.task?.session_id ?? '')?.prepared;
  return prepared?.mission.instruction ?? agent?.plan.prompt ?? null;
}

function budgetView(state: State, { scope }: Decision, rules: Rules, at: string): DecisionEvidence['budget'] {
  const use = scope === null ? undefined : findHighestUse(state, scope, rules, at);
  if (scope === null || use === undefined) return null;
  const name = { agent: state.agents.get(scope.id)?.plan.name, pipeline: state.pipelines.get(scope.id)?.name };
  const label = scope.kind === 'agent' || scope.kind === 'pipeline' ? (name[scope.kind] ?? scope.id) : scope.id;
  return { scope: `${scope.kind} ${label}`, measure: use.measure, used: use.used, limit: use.limit };
}

function checksOf(task: Task): DecisionEvidence['checks'] {
  return (checksView(task)?.checks ?? []).map(({ name, outcome, exit_code, output }) => ({
    name,
    outcome,
    exit_code,
    output,
  }));
}

/** Several agents may wait for an answer about a budget. */
function waitingFor(state: State, { id, pipelineId, taskId }: Decision): DecisionEvidence['waiting'] {
  const agents = [...state.agents.values()].filter(({ parked }) => parked === id);
  const pipeline = state.pipelines.get(pipelineId ?? '');
  const task = state.tasks.get(taskId ?? '');
  return [
    ...agents.map((agent) => ({ kind: 'agent' as const, id: agent.id, name: agent.plan.name })),
    ...(pipeline === undefined ? [] : [{ kind: 'pipeline' as const, id: pipeline.id, name: pipeline.name }]),
    ...(task === undefined ? [] : [{ kind: 'task' as const, id: task.id, name: task.title }]),
  ];
}

function costView(state: State, { id }: Task, at: string): DecisionEvidence['cost'] {
  const spent = costOfTask(state, id, at);
  const { cost_millicents, unpriced_tokens, work_ms } = spent;
  return { tokens: tokensIn(spent), cost_millicents, unpriced_tokens, work_ms };
}

/** Returns the session in question if it has ended, else the newest one that changed something. */
function chooseAccount(accounts: readonly SessionAccount[], sessionId: string | undefined): SessionAccount | undefined {
  const asked = accounts.find((account) => account.sessionId === sessionId && account.measured !== null);
  const isWork = ({ measured }: SessionAccount): boolean =>
    measured !== null && measured.commits + measured.file_count > 0;
  return asked ?? accounts.findLast(isWork) ?? accounts.findLast(({ record }) => record !== null);
}

async function readDiff(task: Task, call: Call): Promise<DecisionEvidence['diff']> {
  // A question about protected paths is about these files only.
  const { heldMerge, protected: measured } = task.flow;
  const paths = heldMerge === null ? undefined : measured?.paths;
  const change = await readTaskDiff(task, call, { stat: true, ...(paths === undefined ? {} : { paths }) });
  if (!change.ok) return null;
  const { base, head, total, files } = change.value;
  return { base, head, files: files.map(statOf), total };
}

async function readSincePassed(
  { flow: { checks } }: Task,
  history: readonly RecordedEvent[],
  call: Call,
): Promise<DecisionEvidence['since_passed']> {
  if (checks?.outcome !== 'failed') return null;
  const passed = history.findLast(({ type, data }) => type === 'ChecksFinished' && data.outcome === 'passed');
  if (passed?.type !== 'ChecksFinished') return null;
  const change = await readChangeBetween(passed.data.head, checks.head, call);
  return change.ok ? change.value : null;
}

function describeStage({ phase, nextRole, flow, claim }: Task): string {
  const next = claim !== null ? `${claim.holder} has claimed it` : nextRole === null ? null : `next role ${nextRole}`;
  const rounds = flow.rounds === 0 ? null : `${renderCountOf(flow.rounds, 'round')} back to the fixer`;
  return [phase, next, rounds, describeChecks(flow)].filter((each) => each !== null).join(', ');
}

/** Describes only checks of the newest commit, because a check that failed before may pass now. */
function describeChecks({ head, checks }: Task['flow']): string | null {
  if (checks === null || checks.head !== head) return null;
  const outcomes = checks.plans.map(({ name }) => `check ${name}: ${checks.outcomes[name] ?? 'not run'}`);
  return outcomes.length === 0 ? null : `${outcomes.join(', ')} at ${head.slice(0, 12)}`;
}

function commandsFor({ agentId, pipelineId }: Decision, task: Task | undefined): string[] {
  const id = task === undefined ? '' : shellWord(task.id);
  return [
    ...(task === undefined ? [] : [`baton task show ${id}`]),
    ...(task === undefined || !hasCommits(task) ? [] : [`baton task diff ${id}`]),
    ...(task === undefined || task.endings.length === 0 ? [] : [`baton task log ${id}`]),
    ...(agentId === null ? [] : [`baton agent logs ${agentId.slice(0, 8)}`]),
    ...(pipelineId === null ? [] : [`baton pipeline show ${pipelineId.slice(0, 8)}`]),
  ];
}
