import { isInteractive } from '../../agents/prepare-agent.ts';
import type { AgentView, DecisionView, PipelineView, StepView } from '../../api/run-views.ts';
import { renderSandbox } from '../../protocol/sandbox.ts';
import type { Decision } from '../../state/runs/decision.ts';
import { isAttached, isAttaching, agentStatus, type AgentRun } from '../../state/runs/agent-run.ts';
import { hostOf } from '../../state/fleet/fleet.ts';
import { findPipelinePlan, type PipelineRun } from '../../state/runs/pipeline-run.ts';
import { findPipelineDecision, overallPipelineStatus } from '../../state/runs/steer-pipeline.ts';
import type { State } from '../../state/state.ts';
import { agentFiles, commandFiles } from '../../supervisor/contract.ts';

export function pipelineView(state: State, run: PipelineRun, stateDir: string): PipelineView {
  return {
    id: run.id,
    name: run.name,
    ...hostField(run, state),
    status: overallPipelineStatus(state, run),
    step: run.step?.name ?? null,
    reason: run.reason ?? run.step?.reason ?? null,
    decision_id: findPipelineDecision(state, run)?.id ?? null,
    vars: run.vars,
    parent: run.parent === null ? null : { pipeline_id: run.parent.pipelineId, step: run.parent.step },
    task_id: run.task?.task_id ?? null,
    worker: run.worker,
    workspace: run.workspace === null ? null : { path: run.workspace.path, branch: run.workspace.branch },
    started_at: run.startedAt,
    ended_at: run.endedAt,
    steps: stepViews(state, run, stateDir),
  };
}

/** In the order of the runbook. A step that never started is pending. */
function stepViews({ agents }: State, run: PipelineRun, stateDir: string): readonly StepView[] {
  const plan = findPipelinePlan(run)?.steps ?? [];
  const own = [...agents.values()].filter(({ owner }) => owner?.pipelineId === run.id);
  const newest = new Map(own.map(({ owner, id }) => [owner?.step, id]));
  return plan.map(({ name, run: what }) => {
    const record = run.history[name];
    const current = run.step?.name === name ? run.step : null;
    const agentId = current === null ? newest.get(name) : current.agentId;
    const agent = agents.get(agentId ?? '');
    const commandId = record?.commandId ?? null;
    return {
      name,
      kind: what.kind,
      status: current?.status ?? record?.outcome ?? 'pending',
      visits: record?.visits ?? 0,
      reason: current?.reason ?? record?.reason ?? null,
      output: record?.output ?? null,
      exit_code: record?.exitCode ?? null,
      since: current?.since ?? null,
      agent_id: agentId ?? null,
      agent_status: agent === undefined ? null : agentStatus(agent),
      command_id: commandId,
      // A command that could not be started has no log.
      log: commandId === null ? null : commandFiles(stateDir, commandId).log,
      pipeline_id: current?.childId ?? null,
    };
  });
}

/** Names the host only if there are several. */
export function hostField(run: { readonly host: string | null }, state: State): { readonly host?: string } {
  const host = state.hosts.size < 2 ? undefined : hostOf(run, state);
  return host === undefined ? {} : { host };
}

export function agentView(state: State, run: AgentRun, stateDir: string): AgentView {
  const { folder, log } = agentFiles(stateDir, run.id);
  return {
    id: run.id,
    name: run.plan.name,
    ...hostField(run, state),
    status: agentStatus(run),
    run: run.plan.run,
    role: run.plan.role ?? null,
    pipeline_id: run.owner?.pipelineId ?? null,
    step: run.owner?.step ?? null,
    task_id: run.task?.task_id ?? null,
    worker: run.worker,
    on_stop: run.onStop,
    process: run.process,
    start: run.start,
    pid: run.process === 'running' ? Number(run.pid?.split('/')[1] ?? 0) || null : null,
    sandbox: sandboxView(run),
    attached: isAttached(run) || isAttaching(run) ? (run.attach?.by ?? null) : null,
    interactive: isInteractive(run.plan),
    signal: run.signal,
    decision_id: run.parked,
    outcome: run.outcome,
    reason: run.reason,
    exit: run.exit === null ? null : exitView(run.exit),
    usage: run.usage,
    requested_at: run.requestedAt,
    folder,
    log,
  };
}

/** The sandbox record of the newest process; null before its start. */
export function sandboxView({ sandbox: kind, access }: AgentRun): AgentView['sandbox'] {
  if (kind === undefined) return null;
  const { network = null, limits = null, notes = [] } = access ?? {};
  return { kind, network, limits, notes, summary: renderSandbox(kind, network) };
}

function exitView({ code, signal, timedOut, blocksUsed, output, at }: NonNullable<AgentRun['exit']>) {
  return { code, signal, timed_out: timedOut, blocks_used: blocksUsed, output, at };
}

export function decisionView(decision: Decision): DecisionView {
  const { result, answer, lapsed } = decision;
  const labelOf = (option: number): string => decision.options[option - 1]?.label ?? '';
  return {
    id: decision.id,
    status: result?.kind ?? 'open',
    source: decision.source,
    title: decision.title,
    context: decision.context,
    options: decision.options.map(({ label, action, recommended }, i) => ({ n: i + 1, label, action, recommended })),
    agent_id: decision.agentId,
    pipeline_id: decision.pipelineId,
    task_id: decision.taskId,
    opened_at: decision.openedAt,
    answer:
      answer === undefined
        ? null
        : {
            option: answer.option,
            action: answer.action,
            label: labelOf(answer.option),
            by: answer.by,
            at: answer.at,
            message: answer.message,
            agent: answer.handTo?.name ?? null,
            effective_at: answer.effectiveAt,
            seq: answer.seq,
          },
    lapsed: lapsed === undefined ? null : { ...lapsed, label: labelOf(lapsed.option) },
    result,
  };
}
