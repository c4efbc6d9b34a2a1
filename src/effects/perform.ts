import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Exit } from '../protocol/agent-report.ts';
import type { Command } from '../state/decide.ts';
import type { Events } from '../state/event.ts';
import { type Effect, processNumber } from '../state/runs/effect.ts';
import type { State } from '../state/state.ts';
import { killAgent } from './agents/control.ts';
import { fillMessage, sendMessage } from './agents/messages.ts';
import { startAgent } from './agents/start-agent.ts';
import type { EffectContext } from './context.ts';
import { runChecks, watchChecks } from './merges/checks.ts';
import { closeGithubIssue } from './merges/github-issues.ts';
import { mergeTask } from './merges/merge-task.ts';
import { closePull, publishPull } from './merges/pulls.ts';
import { notify } from './notify.ts';
import { runCommand } from './processes/command.ts';
import { clearPlace } from './sessions/session-place.ts';
import { makeWorkspace } from './sessions/workspace.ts';
import { agentContext } from './template-context.ts';
import { waitForAnswer, waitForTimer } from './wait.ts';

/**
 * Runs one effect and returns the commands that record its outcome. Empty if it was cancelled, or if another process
 * reports it.
 */
export async function performEffect(
  effect: Effect,
  context: EffectContext,
  signal: AbortSignal,
): Promise<readonly Command[]> {
  const { type, data } = effect;
  switch (type) {
    case 'AgentRequested':
    case 'AgentResumeRequested':
      return performStart(data.agent_id, processNumber(effect), context, signal);
    case 'MessageRequested':
      return sendMessage(data, context);
    case 'AgentKillRequested': {
      const start = await context.readState((state) => state.agents.get(data.agent_id)?.start);
      return start === undefined ? [] : performStop(data.agent_id, start, data.reason, context, signal);
    }
    case 'AgentAttachRequested':
    case 'AgentRestartRequested':
      return performStop(data.agent_id, processNumber(effect), 'the process of the agent is replaced', context, signal);
    case 'CommandRequested': {
      const end = await runCommand(data, context, signal);
      return end === undefined ? [] : [{ kind: 'finish-command', command: { command_id: data.command_id, ...end } }];
    }
    case 'WorkspaceRequested':
      return makeWorkspace(data, context);
    case 'ChecksRequested':
      return runChecks(data, context, signal);
    case 'MergeRequested':
      return mergeTask(data, context, signal);
    case 'PullRequestRequested':
      return publishPull(data, context, signal);
    case 'PullRequestCloseRequested':
      return closePull(data, context, signal);
    case 'GithubIssueCloseRequested':
      return closeGithubIssue(data, context, signal);
    case 'PlaceClearRequested':
      return clearPlace(data, context);
    case 'PullRequestPublished':
      return watchChecks(data, context, signal);
    case 'PhaseMoved':
      // The entry that the seal records settles the effect.
      await context.seal();
      return [];
    case 'TimerSet':
      return (await waitForTimer(data, context.now, signal))
        ? [{ kind: 'fire-timer', command: { timer_id: data.timer_id } }]
        : [];
    case 'DecisionAnswered':
      return (await waitForAnswer(data.effective_at, context.now, signal))
        ? [{ kind: 'apply-answer', command: { id: data.decision_id, seq: effect.seq } }]
        : [];
    case 'NotificationRequested':
      return performNotification(data, context);
  }
}

async function performStart(
  agentId: string,
  start: number,
  context: EffectContext,
  signal: AbortSignal,
): Promise<readonly Command[]> {
  const outcomes = await startAgent({ agentId, start }, context, signal);
  return outcomes.map((outcome): Command => {
    if (outcome.kind === 'exited') return reportExitCommand(agentId, outcome.exit);
    if (outcome.kind === 'failed')
      return { kind: 'report-start-failed', command: { agentId, start, reason: outcome.reason } };
    return { kind: 'report-agent', command: { agentId, report: { ...outcome, start } } };
  });
}

async function performStop(
  agentId: string,
  start: number,
  reason: string,
  context: EffectContext,
  signal: AbortSignal,
): Promise<readonly Command[]> {
  const exit = await killAgent({ agentId, start, reason }, context, signal);
  return exit === undefined ? [] : [reportExitCommand(agentId, exit)];
}

export function reportExitCommand(agentId: string, exit: Exit): Command {
  return { kind: 'report-agent', command: { agentId, report: { kind: 'exited', ...exit } } };
}

async function performNotification(
  request: Events['NotificationRequested'],
  context: EffectContext,
): Promise<readonly Command[]> {
  const { notification_id, kind } = request;
  const found = await context.readState((state) => ({
    called_off: findMootReason(request, state),
    message: renderNotification(request, state, context),
  }));
  if (found === undefined) return [];
  const { called_off, message } = found;
  if (called_off !== undefined)
    return [{ kind: 'notification-sent', command: { notification_id, sent: [], failed: [], called_off } }];
  const channels = context.channels(kind);
  const result = await notify({ ...request, message }, { stateDir: context.stateDir, channels });
  return [{ kind: 'notification-sent', command: { notification_id, ...result } }];
}

function renderNotification(
  { decision_id, message }: Events['NotificationRequested'],
  state: State,
  { sessions }: EffectContext,
): string {
  const run = state.agents.get(state.decisions.get(decision_id ?? '')?.agentId ?? '');
  if (run === undefined) return message;
  return fillMessage(run.plan, message, agentContext(state, run, { env: undefined, sessions }));
}

/** The commands that record an unexpected failure of an effect. Empty if the effect stays owed and is tried again. */
export function failureCommands(effect: Effect, reason: string): readonly Command[] {
  const { type, data } = effect;
  switch (type) {
    case 'AgentRequested':
    case 'AgentResumeRequested': {
      const command = { agentId: data.agent_id, start: processNumber(effect), reason };
      return [{ kind: 'report-start-failed', command }];
    }
    case 'MessageRequested':
      return [{ kind: 'deliver-message', command: { message_id: data.message_id, ok: false, reason } }];
    case 'CommandRequested': {
      const command = { command_id: data.command_id, exit_code: null, timed_out: false, output: reason };
      return [{ kind: 'finish-command', command }];
    }
    case 'WorkspaceRequested': {
      const { pipeline_id, step } = data;
      return [{ kind: 'workspace-failed', command: { pipeline_id, step, reason } }];
    }
    case 'NotificationRequested': {
      const { notification_id } = data;
      const failed = [{ channel: 'all', reason }];
      return [{ kind: 'notification-sent', command: { notification_id, sent: [], failed } }];
    }
    case 'MergeRequested': {
      const { merge_id, method } = data;
      const about = { merge_sha: null, base: null, reason, files: [], output: null, newId: randomUUID() };
      return [{ kind: 'finish-merge', command: { merge_id, method, outcome: 'refused', ...about } }];
    }
    case 'PullRequestRequested':
      return [{ kind: 'fail-pull', command: { pull_id: data.pull_id, reason } }];
    case 'GithubIssueCloseRequested':
      return [{ kind: 'close-github-issue', command: { close_id: data.close_id, outcome: 'failed', reason } }];
    case 'PlaceClearRequested':
      return [{ kind: 'clear-place', command: { task_id: data.task_id, outcome: 'kept', reason } }];
    default:
      return [];
  }
}

/**
 * Records outcomes one after the other. Retries until the store responds, because what was done outside the ledger must
 * not be lost.
 */
export async function submitAll(
  commands: readonly Command[],
  { submit, log }: EffectContext,
  signal: AbortSignal,
): Promise<void> {
  for (const command of commands) {
    for (let waitMs = 100; !signal.aborted; waitMs = Math.min(waitMs * 2, 5000)) {
      const recorded = await submit(command);
      // A refusal means that the run or the task has changed in the meantime.
      if (recorded?.refused !== undefined)
        log.error('an outcome was refused', { command: command.kind, reason: recorded.refused });
      if (recorded !== undefined) break;
      await sleep(waitMs, undefined, { signal, ref: false }).catch(() => undefined);
    }
  }
}

/**
 * Returns why a notification is no longer needed, because its decision is answered or settled. Undefined if it is still
 * needed.
 */
export function findMootReason(
  { decision_id }: Pick<Events['NotificationRequested'], 'decision_id'>,
  state: State,
): string | undefined {
  const { result = null, answer } = state.decisions.get(decision_id ?? '') ?? {};
  if (result === null && answer === undefined) return undefined;
  return result?.kind === 'withdrawn' ? 'its decision was withdrawn' : 'its decision was answered';
}
