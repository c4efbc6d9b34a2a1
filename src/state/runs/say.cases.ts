import type { AgentReport } from '../../protocol/agent-report.ts';
import type { AgentPlan, PipelinePlan, StepPlan, WorkerPlan } from '../../protocol/run-plan.ts';
import type { SandboxRecord } from '../../protocol/sandbox.ts';
import type { Caller } from '../caller.ts';
import type { Command } from '../decide.ts';
import type { AgentRun } from './agent-run.ts';
import type { RaisedFinding } from './resolve-decision.ts';
import type { SignalAgent } from './steer-agent.ts';
import type { PipelineRunPlan } from './steer-pipeline.ts';

/** Short forms of runs' commands and callers for tests. */
export const agent = (agentId = 'a1'): Caller => ({ kind: 'agent', agentId });
export const supervisor = (agentId = 'a1'): Caller => ({ kind: 'supervisor', agentId });

export function agentPlan(more: Partial<AgentPlan> = {}): AgentPlan {
  return { name: 'coder', run: 'scripted', prompt: 'work', ...more };
}

export function shellStep(name: string, more: Partial<StepPlan> = {}): StepPlan {
  return { name, run: { kind: 'shell', command: `do ${name}` }, ...more };
}

export function agentStep(name: string, more: Partial<StepPlan> = {}, of = 'coder'): StepPlan {
  return { name, run: { kind: 'agent', agent: of }, ...more };
}

/** The plan of a pipeline `main` with these steps, of agents and of pipelines inside it. */
export function pipelinePlan(
  steps: readonly StepPlan[],
  { agents = [agentPlan()], inside = [], ...main }: PlanParts = {},
): PipelineRunPlan {
  const pipelines: readonly PipelinePlan[] = [{ name: 'main', vars: {}, steps, ...main }, ...inside];
  return {
    kind: 'pipeline',
    pipeline: 'main',
    pipelines: Object.fromEntries(pipelines.map((each) => [each.name, each])),
    agents: Object.fromEntries(agents.map((each) => [each.name, each])),
  };
}

interface PlanParts extends Partial<Pick<PipelinePlan, 'vars' | 'notify' | 'budget'>> {
  readonly agents?: readonly AgentPlan[];
  readonly inside?: readonly PipelinePlan[];
}

export function startPipeline(plan = pipelinePlan([agentStep('code')]), vars = {}, id = 'p1'): Command {
  return { kind: 'start-pipeline', command: { id, name: plan.pipeline, plan, vars } };
}

export function startAgent(plan = agentPlan(), id = 'a1'): Command {
  return { kind: 'start-agent', command: { id, plan, vars: {} } };
}

export function configure(workers: readonly WorkerPlan[]): Command {
  return { kind: 'configure-workers', command: { workers } };
}

export function signal(kind: SignalAgent['signal'], agentId?: string, message?: string, exitProtocol = false): Command {
  const named = agentId === undefined ? {} : { agentId };
  const said = message === undefined ? {} : { message };
  const command = { ...named, signal: kind, ...said, exitProtocol, eventId: 'e1', at: '2026-01-01T00:00:00.000Z' };
  return { kind: 'signal-agent', command };
}

export function report(seen: AgentReport, agentId?: string): Command {
  return { kind: 'report-agent', command: { ...(agentId === undefined ? {} : { agentId }), report: seen } };
}

/** A usage report with this many tokens more than before. */
export function used(
  { id, usage }: { readonly id: string; readonly usage: AgentRun['usage'] },
  tokens: number,
  more: Partial<Extract<AgentReport, { kind: 'used' }>> = {},
): Command {
  const counted = {
    conversation_id: 'c1',
    model: 'known-1',
    input_tokens: (usage?.input_tokens ?? 0) + tokens,
    output_tokens: usage?.output_tokens ?? 0,
    cached_tokens: usage?.cached_tokens ?? 0,
    cost_millicents: null,
    turns: usage?.turns ?? 0,
    waiting_tokens: 0,
    open_input_tokens: 0,
    open_output_tokens: 0,
    open_cached_tokens: 0,
    unpriced_tokens: 0,
  };
  return report({ kind: 'used', ...counted, ...more }, id);
}

export function exited(agentId: string, more: Partial<Extract<AgentReport, { kind: 'exited' }>> = {}): Command {
  const exit = { code: 0, signal: null, timed_out: false, blocks_used: false, output: null };
  return report({ kind: 'exited', start: 1, ...exit, ...more }, agentId);
}

export function started(agentId: string, start = 1, sandbox?: SandboxRecord): Command {
  const process = `process ${agentId} ${start}`;
  const command = { agentId, start, supervisor: `supervisor of ${process}`, process, ...(sandbox && { sandbox }) };
  return { kind: 'report-started', command };
}

/** The record of a session in a sandbox of this kind. */
export function boxed(kind: SandboxRecord['kind'], more: Partial<SandboxRecord> = {}): SandboxRecord {
  return { kind, network: 'full', limits: 'rlimits', notes: [], ...more };
}

export function startFailed(agentId: string, start = 1, reason = 'no such program'): Command {
  return { kind: 'report-start-failed', command: { agentId, start, reason } };
}

export function finish(command_id: string, exit_code: number | null = 0, more = {}): Command {
  return { kind: 'finish-command', command: { command_id, exit_code, timed_out: false, output: null, ...more } };
}

export function fire(timer_id: string): Command {
  return { kind: 'fire-timer', command: { timer_id } };
}

export function deliver(message_id: string, ok = true, reason: string | null = null): Command {
  return { kind: 'deliver-message', command: { message_id, ok, reason } };
}

export function prepared(pipeline_id: string, step: string): Command {
  return { kind: 'prepare-workspace', command: { pipeline_id, step, path: '/tree', branch: 'feature/x' } };
}

export function unprepared(pipeline_id: string, step: string, reason = 'the branch exists'): Command {
  return { kind: 'workspace-failed', command: { pipeline_id, step, reason } };
}

export function notified(notification_id: string): Command {
  return { kind: 'notification-sent', command: { notification_id, sent: ['terminal'], failed: [] } };
}

export function raise(findings: readonly RaisedFinding[]): Command {
  return { kind: 'raise-findings', command: { findings } };
}

export function resolve(id: string, option: number, message?: string): Command {
  return { kind: 'resolve-decision', command: { id, option, ...(message === undefined ? {} : { message }) } };
}

/** An answer that takes effect at `effectiveAt`. */
export function answer(id: string, option: number, effectiveAt: string, message?: string): Command {
  const given = message === undefined ? {} : { message };
  return { kind: 'resolve-decision', command: { id, option, effectiveAt, ...given } };
}

export function applyAnswer(id: string, seq: number): Command {
  return { kind: 'apply-answer', command: { id, seq } };
}

export function undo(id: string, seq?: number): Command {
  return { kind: 'undo-answer', command: { id, ...(seq === undefined ? {} : { seq }) } };
}

export function acknowledge(id: string): Command {
  return { kind: 'acknowledge-run', command: { id } };
}

export function cancel(id: string, reason?: string): Command {
  return { kind: 'cancel-pipeline', command: { id, ...(reason === undefined ? {} : { reason }) } };
}

export function retry(id: string, newId = 'p9'): Command {
  return { kind: 'retry-pipeline', command: { id, newId } };
}

export function resume(id: string, message?: string): Command {
  return { kind: 'resume-pipeline', command: { id, ...(message === undefined ? {} : { message }) } };
}

export function send(agentId: string, text: string, messageId = 'm9'): Command {
  return { kind: 'send-message', command: { agentId, messageId, text } };
}

export function kill(agentId: string, reason?: string): Command {
  return { kind: 'kill-agent', command: { agentId, ...(reason === undefined ? {} : { reason }) } };
}

export function attach(agentId: string, by = 'ada (/dev/pts/3)'): Command {
  return { kind: 'attach-agent', command: { agentId, by } };
}

export function attached(agentId: string, start: number, by = 'ada (/dev/pts/3)'): Command {
  return report({ kind: 'attached', start, by }, agentId);
}

export function detached(agentId: string, start: number, talked: boolean, how: 'left' | 'absent' = 'left'): Command {
  return report({ kind: 'detached', start, how, talked }, agentId);
}
