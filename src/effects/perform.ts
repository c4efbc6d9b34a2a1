import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Exit } from '../protocol/agent-report.ts';
import type { Command } from '../state/decide.ts';
import type { Effect } from '../state/runs/effect.ts';
import type { State } from '../state/state.ts';
import { killAgent } from './agents/control.ts';
import { fillMessage, sendMessage } from './agents/messages.ts';
import { startAgent } from './agents/start-agent.ts';
import type { EffectContext } from './context.ts';
import { runChecks, watchChecks } from './merges/checks.ts';
import { mergeTask } from './merges/merge-task.ts';
import { closePull, publishPull } from './merges/pulls.ts';
import { notify } from './notify.ts';
import { runCommand } from './processes/command.ts';
import { clearPlace } from './sessions/session-place.ts';
import { makeWorkspace } from './sessions/workspace.ts';
import { agentContext } from './template-context.ts';
import { waitForTimer } from './wait.ts';

/** Does one thing, and gives back what is to be said about it; nothing where it was called off, or somebody else says it. */
export async function performEffect(
  effect: Effect,
  world: EffectContext,
  signal: AbortSignal,
): Promise<readonly Command[]> {
  switch (effect.kind) {
    case 'start-agent':
      return startCommands(effect, world, signal);
    case 'send-message':
      return sendMessage(effect, world);
    case 'kill-agent': {
      const { agentId, reason } = effect;
      const start = await world.readState((state) => state.agents.get(agentId)?.start);
      const exit = start === undefined ? undefined : await killAgent({ agentId, start, reason }, world, signal);
      return exit === undefined ? [] : [reportExitCommand(agentId, exit)];
    }
    case 'stop-agent': {
      const { agentId, start } = effect;
      const exit = await killAgent({ agentId, start, reason: 'its process is replaced' }, world, signal);
      return exit === undefined ? [] : [reportExitCommand(agentId, exit)];
    }
    case 'run-command': {
      const end = await runCommand(effect, world, signal);
      return end === undefined ? [] : [{ kind: 'finish-command', command: { commandId: effect.commandId, ...end } }];
    }
    case 'prepare-workspace':
      return makeWorkspace(effect, world);
    case 'run-checks':
      return runChecks(effect, world, signal);
    case 'merge':
      return mergeTask(effect, world, signal);
    case 'publish-pull':
      return publishPull(effect, world, signal);
    case 'close-pull':
      return closePull(effect, world, signal);
    case 'clear-place':
      return clearPlace(effect, world);
    case 'watch-checks':
      return watchChecks(effect, world, signal);
    case 'seal':
      // The entry that it leaves settles it.
      await world.seal();
      return [];
    case 'wait':
      return (await waitForTimer(effect, world.now, signal))
        ? [{ kind: 'fire-timer', command: { timerId: effect.timerId } }]
        : [];
    case 'notify': {
      const { notificationId } = effect;
      const found = await world.readState((state) => ({
        calledOff: findMootReason(effect, state),
        message: messageOf(effect, state, world),
      }));
      if (found === undefined) return [];
      const { calledOff, message } = found;
      if (calledOff !== undefined)
        return [{ kind: 'notification-sent', command: { notificationId, sent: [], failed: [], calledOff } }];
      const told = await notify(
        { ...effect, message },
        { stateDir: world.stateDir, channels: world.channels(effect.about) },
      );
      return [{ kind: 'notification-sent', command: { notificationId, ...told } }];
    }
  }
}

/** What a handler of the runbook wants a person to be told may hold templates. */
function messageOf(
  { decisionId, message }: Extract<Effect, { kind: 'notify' }>,
  state: State,
  { sessions }: EffectContext,
): string {
  const run = state.agents.get(state.decisions.get(decisionId ?? '')?.agentId ?? '');
  return run === undefined
    ? message
    : fillMessage(run.plan, message, agentContext(state, run, { env: undefined, sessions }));
}

/** What is to be said where doing it failed in a way that nobody foresaw. */
export function failureCommands(effect: Effect, reason: string): readonly Command[] {
  switch (effect.kind) {
    case 'start-agent': {
      const { agentId, start } = effect;
      return [{ kind: 'report-start-failed', command: { agentId, start, reason } }];
    }
    case 'send-message':
      return [{ kind: 'deliver-message', command: { messageId: effect.messageId, ok: false, reason } }];
    case 'run-command': {
      const command = { commandId: effect.commandId, exitCode: null, timedOut: false, output: reason };
      return [{ kind: 'finish-command', command }];
    }
    case 'prepare-workspace': {
      const { pipelineId, step } = effect;
      return [{ kind: 'workspace-failed', command: { pipelineId, step, reason } }];
    }
    case 'notify': {
      const failed = [{ channel: 'all', reason }];
      return [{ kind: 'notification-sent', command: { notificationId: effect.notificationId, sent: [], failed } }];
    }
    case 'merge': {
      const { mergeId, method } = effect;
      const about = { merge_sha: null, base: null, reason, files: [], output: null, newId: randomUUID() };
      return [{ kind: 'finish-merge', command: { mergeId, method, outcome: 'refused', ...about } }];
    }
    case 'publish-pull':
      return [{ kind: 'fail-pull', command: { pullId: effect.pullId, reason } }];
    case 'clear-place':
      return [{ kind: 'clear-place', command: { taskId: effect.taskId, outcome: 'kept', reason } }];
    case 'close-pull':
    case 'watch-checks':
    case 'seal':
    case 'kill-agent':
    case 'stop-agent':
    case 'run-checks':
    case 'wait':
      // They stay owed: the next daemon tries again, and so do we at the next chance.
      return [];
  }
}

export function reportExitCommand(agentId: string, exit: Exit): Command {
  return { kind: 'report-agent', command: { agentId, report: { kind: 'exited', ...exit } } };
}

async function startCommands(
  effect: Extract<Effect, { kind: 'start-agent' }>,
  world: EffectContext,
  signal: AbortSignal,
): Promise<readonly Command[]> {
  const { agentId, start } = effect;
  const outcomes = await startAgent(effect, world, signal);
  return outcomes.map((outcome): Command => {
    if (outcome.kind === 'exited') return reportExitCommand(agentId, outcome.exit);
    if (outcome.kind === 'failed')
      return { kind: 'report-start-failed', command: { agentId, start, reason: outcome.reason } };
    return { kind: 'report-agent', command: { agentId, report: { ...outcome, start } } };
  });
}

/**
 * Says how something went, one after the other. A store that does not answer is asked again until it does: what was done outside
 * must not be forgotten. What is refused has been overtaken by something else.
 */
export async function submitAll(
  commands: readonly Command[],
  { submit: tell, log }: EffectContext,
  signal: AbortSignal,
): Promise<void> {
  for (const command of commands) {
    for (let waitMs = FIRST_MS; !signal.aborted; waitMs = Math.min(waitMs * 2, LAST_MS)) {
      const told = await tell(command);
      if (told?.refused !== undefined)
        log.error('an outcome was refused', { command: command.kind, reason: told.refused });
      if (told !== undefined) break;
      await sleep(waitMs, undefined, { signal, ref: false }).catch(() => undefined);
    }
  }
}

const FIRST_MS = 100;
const LAST_MS = 5000;

/** Why nobody is to be notified any more; undefined if the notification still holds. One without a decision always does. */
export function findMootReason({ decisionId }: Extract<Effect, { kind: 'notify' }>, state: State): string | undefined {
  const result = decisionId === null ? null : (state.decisions.get(decisionId)?.result ?? null);
  if (result === null) return undefined;
  return result.kind === 'withdrawn' ? 'its decision was withdrawn' : 'its decision was answered';
}
