import type { Answer } from '../../api/answer.ts';
import * as operations from '../../api/operations/workflow.ts';
import { addMs } from '../../engine/context.ts';
import type { AgentPlan } from '../../protocol/run-plan.ts';
import { withLibrary } from '../../runbook/library.ts';
import { planAgentRun } from '../../runbook/plan.ts';
import { actorOf } from '../../state/caller.ts';
import { type CommandOf, decide } from '../../state/decide.ts';
import type { Decision } from '../../state/runs/decision.ts';
import type { Resolved } from '../../state/runs/resolve-decision.ts';
import type { State } from '../../state/state.ts';
import { findPinned } from '../rules/pinned-runbook.ts';
import { answerFor, type Call, handlerFor, inputErrorOf, keyOf, reads, steers, unchanged } from './call.ts';
import { decisionView } from '../views/run-views.ts';
import { findRunByPrefix } from './runs.ts';
import { CREDENTIAL_IN_PLAN, holdsCredential } from './start-run.ts';
import { readDecision } from './reads/decision-evidence.ts';
import { claimCommand } from '../views/task-view.ts';

const find = (state: State, { id }: { readonly id: string }) => findRunByPrefix(state.decisions, id, 'decision');

export const DECISION_HANDLERS = {
  decision_list: reads(operations.decisionList, ({ state }, { input }) => {
    const listed = [...state.decisions.values()].filter(({ result }) => input.all === true || result === null);
    return unchanged({ decisions: listed.map(decisionView) });
  }),

  decision_show: handlerFor(operations.decisionShow, async (call) => readDecision(call, find)),

  decision_evidence: handlerFor(operations.decisionEvidenceRead, async (call) => {
    const read = await readDecision(call, find);
    return read.ok ? { ok: true, result: { id: read.result.id, ...read.result.evidence } } : read;
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
    ({ answer: seq }) =>
      ({ id }) => ({ id, ...(seq === undefined ? {} : { seq }) }),
    (answer) => answer,
  ),
};

type AnswerWithNext = Resolved & { readonly next: string | null };

function resolvedView({ effectiveAt: effective_at, ...resolved }: Resolved) {
  return { ...resolved, effective_at };
}

/** The command with which a person starts the work that they took over. */
function nextCommand(state: State, { taskId, agentId }: Decision, action: string): string | null {
  if (action !== 'take_over') return null;
  const task = state.tasks.get(taskId ?? state.agents.get(agentId ?? '')?.task?.task_id ?? '');
  if (task === undefined) return null;
  return claimCommand(task);
}

/** Finds the agent in the runbook of the task: the one that its workflow was started with, else the one in force. */
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
  const runbook = pinned?.runbook ?? services.rulebook.runbookFor(null);
  const planned = planAgentRun(withLibrary(runbook), name);
  if (!planned.ok) return { ok: false, error: inputErrorOf(planned) };
  return holdsCredential(planned.value, project.ledger.secrets)
    ? { ok: false, error: CREDENTIAL_IN_PLAN }
    : { ok: true, result: planned.value };
}
