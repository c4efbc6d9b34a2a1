import type { Answer } from '../../api/answer.ts';
import * as operations from '../../api/operations/workflow.ts';
import type { DecisionDetails, DecisionEvidence } from '../../api/run-views.ts';
import { addMs } from '../../engine/context.ts';
import { shellWord } from '../../protocol/text/quote-for-shell.ts';
import { renderCountOf } from '../../protocol/text/text-format.ts';
import type { AgentPlan } from '../../protocol/run-plan.ts';
import { withLibrary } from '../../runbook/library.ts';
import { planAgentRun } from '../../runbook/plan.ts';
import { actorOf } from '../../state/caller.ts';
import { type CommandOf, decide } from '../../state/decide.ts';
import { findEvidence } from '../../state/packet/evidence.ts';
import type { Rules } from '../../state/rules.ts';
import { type SectionName, SECTIONS, type Statement } from '../../state/packet/statement.ts';
import { costOfTask } from '../../state/runs/costs.ts';
import type { Decision } from '../../state/runs/decision.ts';
import type { Resolved } from '../../state/runs/resolve-decision.ts';
import { tokensIn } from '../../state/runs/spent.ts';
import type { State } from '../../state/state.ts';
import type { Task } from '../../state/tasks/task.ts';
import { runbookError } from '../rules/rulebook.ts';
import { findPinned } from '../rules/pinned-runbook.ts';
import { answerFor, type Call, handlerFor, inputErrorOf, keyOf, reads, refusalOf, steers, unchanged } from './call.ts';
import { decisionView } from '../views/run-views.ts';
import { findRunByPrefix } from './runs.ts';
import { CREDENTIAL_IN_PLAN, holdsCredential } from './start-run.ts';
import { readTaskDiff } from './task-diff.ts';
import { claimCommand, hasCommits, stagesOf } from '../views/task-view.ts';

const find = (state: State, { id }: { readonly id: string }) => findRunByPrefix(state.decisions, id, 'decision');

export const DECISION_HANDLERS = {
  decision_list: reads(operations.decisionList, ({ state }, { input }) => {
    const listed = [...state.decisions.values()].filter(({ result }) => input.all === true || result === null);
    return unchanged({ decisions: listed.map(decisionView) });
  }),

  decision_show: handlerFor(operations.decisionShow, async (call): Promise<Answer<DecisionDetails>> => {
    const read = await call.project.commandLoop.submit<Shown>({
      actor: 'system:reader',
      decide: ({ state, rules }) => {
        const found = find(state, call.input);
        return found.ok ? unchanged(select(state, found.run, rules, call.services.now().toISOString())) : found;
      },
    });
    if (!read.ok) return refusalOf(read);
    const { task, details } = read.answer;
    // A settled decision no longer has to be judged.
    const change =
      task === undefined || details.status !== 'open' ? undefined : await readTaskDiff(task, call, { stat: true });
    if (change?.ok !== true) return { ok: true, result: details };
    const { base, head, total } = change.value;
    const files = change.value.files.map(({ path, action, additions, deletions }) => ({
      path,
      action,
      additions,
      deletions,
    }));
    return { ok: true, result: { ...details, evidence: { ...details.evidence, diff: { base, head, files, total } } } };
  }),

  decision_resolve: handlerFor(operations.decisionResolve, async (call) => {
    const { input, project, caller } = call;
    const { agent, delay_ms = 0, ...answer } = input;
    const planned = agent === undefined ? undefined : await planHandOver(call, agent);
    if (planned?.ok === false) return planned;
    const given = planned === undefined ? {} : { handTo: planned.result };
    const settled = await project.commandLoop.submit<AnswerWithNext>({
      actor: actorOf(caller),
      ...keyOf(call),
      decide: ({ state, rules, here, at }) => {
        const found = find(state, input);
        if (!found.ok) return found;
        const later = delay_ms === 0 ? {} : { effectiveAt: addMs(at, delay_ms) };
        const command = { ...answer, id: found.run.id, ...given, ...later };
        const resolved = decide(state, { kind: 'resolve-decision', command }, caller, rules, here);
        if (!resolved.ok) return resolved;
        const next = nextCommand(state, found.run, resolved.answer.action);
        return { ...resolved, answer: { ...resolved.answer, next } };
      },
    });
    return answerFor(settled, ({ next, ...resolved }) => ({ ...resolvedView(resolved), next }));
  }),

  decisions_resolve: handlerFor(operations.decisionsResolve, async (call) => {
    const { input, project, caller } = call;
    const settled = await project.commandLoop.submit<readonly Resolved[]>({
      actor: actorOf(caller),
      ...keyOf(call),
      decide: ({ state, rules, here, at }) => {
        const answers: CommandOf<'answer-decisions'>['command']['answers'][number][] = [];
        for (const answer of input.answers) {
          const found = find(state, answer);
          if (!found.ok) return found;
          answers.push({ ...answer, id: found.run.id });
        }
        const command = { answers, effectiveAt: addMs(at, input.delay_ms) };
        return decide(state, { kind: 'answer-decisions', command }, caller, rules, here);
      },
    });
    return answerFor(settled, (answers) => ({ answers: answers.map(resolvedView) }));
  }),

  decision_undo: steers(
    operations.decisionUndo,
    find,
    () =>
      ({ id }) => ({ id }),
    (answer) => answer,
  ),
};

type AnswerWithNext = Resolved & { readonly next: string | null };

function resolvedView({ effectiveAt: effective_at, ...resolved }: Resolved) {
  return { ...resolved, effective_at };
}

interface Shown {
  readonly task: Task | undefined;
  readonly details: DecisionDetails;
}

function select(state: State, decision: Decision, rules: Rules, at: string): Shown {
  const agent = state.agents.get(decision.agentId ?? '');
  const found = findEvidence(state, decision, decision.taskId ?? agent?.task?.task_id ?? null);
  const spent = found === undefined ? undefined : costOfTask(state, found.task.id, at);
  const cost =
    spent === undefined
      ? null
      : {
          tokens: tokensIn(spent),
          cost_millicents: spent.cost_millicents,
          unpriced_tokens: spent.unpriced_tokens,
          work_ms: spent.work_ms,
        };
  const evidence: DecisionEvidence = {
    goal: found?.goal ?? null,
    stage: found === undefined ? null : describeStage(found.task),
    stages: found === undefined || found.task.flow.mode === null ? [] : stagesOf(state, found.task, rules, at),
    items: (found?.items ?? []).map(({ section, seq, ...said }) => toItem(section, seq, said)),
    output: agent?.exit?.output ?? null,
    diff: null,
    cost,
    commands: commandsFor(decision, found?.task),
  };
  return { task: found?.task, details: { ...decisionView(decision), evidence } };
}

function toItem(
  section: SectionName,
  entry: number,
  { title, author, at, text }: Pick<Statement, 'title' | 'author' | 'at' | 'text'>,
): DecisionEvidence['items'][number] {
  return { section, heading: SECTIONS[section].title, title, author, entry, at, text };
}

function describeStage({ phase, nextRole, flow, claim }: Task): string {
  const next = claim !== null ? `${claim.holder} holds it` : nextRole === null ? null : `next is ${nextRole}`;
  const rounds = flow.rounds === 0 ? null : `${renderCountOf(flow.rounds, 'round')} back to the fixer`;
  return [phase, next, rounds, describeChecks(flow)].filter((each) => each !== null).join(', ');
}

/** Of the newest commit: a check that failed before it may pass now. */
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

/** The command with which a person begins the work that they took over. */
function nextCommand(state: State, { taskId, agentId }: Decision, action: string): string | null {
  if (action !== 'take_over') return null;
  const task = state.tasks.get(taskId ?? state.agents.get(agentId ?? '')?.task?.task_id ?? '');
  if (task === undefined) return null;
  return claimCommand(task);
}

/** The agent as the runbook of the task defines it: the pinned one of a workflow, else the working one. */
async function planHandOver(call: Call<{ readonly id: string }>, name: string): Promise<Answer<AgentPlan>> {
  const { project, services, input } = call;
  const read = await project.commandLoop.read(({ state }) => {
    const found = find(state, input);
    const taskId = found.ok
      ? (found.run.taskId ?? state.agents.get(found.run.agentId ?? '')?.task?.task_id)
      : undefined;
    return state.tasks.get(taskId ?? '')?.flow.runbook ?? null;
  });
  const pinned = read.ok && read.answer !== null ? await findPinned(read.answer, project.ledger) : undefined;
  const checked = pinned === undefined ? services.runbook.read().checked : { ok: true as const, value: pinned.runbook };
  if (!checked.ok) return { ok: false, error: runbookError(checked.problems) };
  const planned = planAgentRun(withLibrary(checked.value), name);
  if (!planned.ok) return { ok: false, error: inputErrorOf(planned) };
  return holdsCredential(planned.value, project.ledger.secrets)
    ? { ok: false, error: CREDENTIAL_IN_PLAN }
    : { ok: true, result: planned.value };
}
