import type { Event, EventOf } from '../event.ts';
import type { Effect } from './effect.ts';
import type { Runs } from './runs.ts';

/** The keys under which things are owed: the same however often they are tried. */
export const effectKey = {
  start: (agentId: string, start: number) => `start:${agentId}:${start}`,
  message: (messageId: string) => `message:${messageId}`,
  kill: (agentId: string) => `kill:${agentId}`,
  stop: (agentId: string) => `stop:${agentId}`,
  command: (commandId: string) => `command:${commandId}`,
  workspace: (pipelineId: string, step: string) => `workspace:${pipelineId}:${step}`,
  timer: (timerId: string) => `timer:${timerId}`,
  notification: (id: string) => `notification:${id}`,
  checks: (id: string) => `checks:${id}`,
  merge: (id: string) => `merge:${id}`,
  publish: (id: string) => `publish:${id}`,
  close: (id: string) => `close:${id}`,
  clear: (taskId: string) => `clear:${taskId}`,
  watch: (taskId: string) => `watch:${taskId}`,
  seal: 'seal',
} as const;

/** What is owed after this entry, and what is no longer: the latter is returned. */
export function evolveEffects(
  { effects, agents }: Pick<Runs, 'effects' | 'agents'>,
  event: Event & { readonly seq: number },
): readonly Effect[] {
  const wanted = effectOf(event);
  // The run of an agent whose process has gone can be ended; there is nothing to kill.
  const ends = wanted?.kind === 'kill-agent' || wanted?.kind === 'stop-agent';
  const isMoot = ends && agents.get(wanted.agentId)?.process === 'gone';
  if (wanted !== undefined && !isMoot) effects.set(wanted.key, wanted);
  const settled: Effect[] = [];
  for (const key of keysSettledBy(effects, event)) {
    const effect = effects.get(key);
    if (effect === undefined) continue;
    effects.delete(key);
    settled.push(effect);
  }
  return settled;
}

function effectOf({ type, data, seq }: Event & { readonly seq: number }): Effect | undefined {
  switch (type) {
    case 'AgentRequested':
      return { kind: 'start-agent', key: effectKey.start(data.agent_id, 1), agentId: data.agent_id, start: 1 };
    case 'AgentResumeRequested': {
      const { agent_id: agentId, start } = data;
      return { kind: 'start-agent', key: effectKey.start(agentId, start), agentId, start };
    }
    case 'MessageRequested': {
      const { message_id: messageId, agent_id: agentId, text, wakes = false } = data;
      return { kind: 'send-message', key: effectKey.message(messageId), agentId, messageId, text, wakes };
    }
    case 'AgentKillRequested': {
      const { agent_id: agentId, reason } = data;
      return { kind: 'kill-agent', key: effectKey.kill(agentId), agentId, reason };
    }
    case 'AgentAttachRequested': {
      const { agent_id: agentId, start } = data;
      return { kind: 'stop-agent', key: effectKey.stop(agentId), agentId, start: start - 1 };
    }
    case 'AgentRestartRequested': {
      const { agent_id: agentId, start } = data;
      return { kind: 'stop-agent', key: effectKey.stop(agentId), agentId, start };
    }
    case 'CommandRequested': {
      const { command_id: commandId, subject, command, timeout_ms: timeoutMs } = data;
      return { kind: 'run-command', key: effectKey.command(commandId), commandId, subject, command, timeoutMs };
    }
    case 'WorkspaceRequested': {
      const { pipeline_id: pipelineId, step, branch, base } = data;
      return { kind: 'prepare-workspace', key: effectKey.workspace(pipelineId, step), pipelineId, step, branch, base };
    }
    case 'TimerSet': {
      const { timer_id: timerId, due, purpose } = data;
      return { kind: 'wait', key: effectKey.timer(timerId), timerId, due, purpose };
    }
    case 'NotificationRequested': {
      const { notification_id: notificationId, kind: about, title, message, decision_id: decisionId } = data;
      const key = effectKey.notification(notificationId);
      return { kind: 'notify', key, notificationId, about, title, message, decisionId };
    }
    case 'ChecksRequested': {
      const { checks_id: checksId, task_id: taskId, head, checks } = data;
      // What others run is only waited for.
      const own = checks.filter(({ run }) => run !== undefined);
      return own.length === 0
        ? undefined
        : { kind: 'run-checks', key: effectKey.checks(checksId), checksId, taskId, head, checks: own };
    }
    case 'MergeRequested': {
      const { merge_id: mergeId, task_id: taskId, handoff: _, ...rest } = data;
      return { kind: 'merge', key: effectKey.merge(mergeId), mergeId, taskId, ...rest };
    }
    case 'PullRequestRequested': {
      const { pull_id: pullId, task_id: taskId, repository, remote, ...rest } = data;
      return {
        kind: 'publish-pull',
        key: effectKey.publish(pullId),
        pullId,
        taskId,
        place: { repository, remote },
        ...rest,
      };
    }
    case 'PullRequestPublished': {
      const { task_id: taskId, head, watch: names } = data;
      return names.length === 0
        ? undefined
        : { kind: 'watch-checks', key: effectKey.watch(taskId), taskId, head, names };
    }
    case 'PullRequestCloseRequested': {
      const { pull_id: pullId, task_id: taskId, ...rest } = data;
      return { kind: 'close-pull', key: effectKey.close(pullId), pullId, taskId, ...rest };
    }
    case 'PlaceClearRequested': {
      const { task_id: taskId, branch } = data;
      return { kind: 'clear-place', key: effectKey.clear(taskId), taskId, branch };
    }
    case 'PhaseMoved':
      return isClosing(data) ? { kind: 'seal', key: effectKey.seal, seq } : undefined;
    default:
      return undefined;
  }
}

/** The last word of a workflow: it was completed, and nobody has anything to do about it any more. */
function isClosing({ from, to, next_role }: EventOf<'PhaseMoved'>['data']): boolean {
  return from === 'COMPLETED' && to === 'COMPLETED' && next_role === null;
}

function keysSettledBy(effects: ReadonlyMap<string, Effect>, { type, data }: Event): readonly string[] {
  switch (type) {
    case 'AgentStarted':
      return [effectKey.start(data.agent_id, data.start)];
    case 'AgentStartFailed':
    case 'AgentExited':
      return [effectKey.start(data.agent_id, data.start), effectKey.kill(data.agent_id), effectKey.stop(data.agent_id)];
    case 'AgentKillRequested':
      // Whoever kills it makes sure that it is not started any more.
      return startsOf(effects, data.agent_id);
    case 'AgentEnded':
      return [...keysOfMessagesTo(effects, data.agent_id), effectKey.stop(data.agent_id)];
    case 'MessageDelivered':
      return [effectKey.message(data.message_id)];
    case 'CommandFinished':
    case 'CommandCancelled':
      return [effectKey.command(data.command_id)];
    case 'WorkspacePrepared':
      return workspacesOf(effects, data.pipeline_id);
    case 'WorkspaceFailed':
    case 'StepFinished':
      return [effectKey.workspace(data.pipeline_id, data.step)];
    case 'TimerFired':
    case 'TimerCancelled':
      return [effectKey.timer(data.timer_id)];
    case 'NotificationSent':
      return [effectKey.notification(data.notification_id)];
    case 'ChecksFinished':
      return [effectKey.checks(data.checks_id), effectKey.watch(data.task_id)];
    case 'ChecksRequested':
      return otherChecksOf(effects, data.task_id, data.checks_id);
    case 'MergeHeld':
      return [effectKey.merge(data.merge_id)];
    case 'MergeFinished':
      return [effectKey.merge(data.merge_id), ...(data.outcome === 'merged' ? [effectKey.watch(data.task_id)] : [])];
    case 'PullRequestRequested':
      return [effectKey.watch(data.task_id), ...otherPullsOf(effects, data.task_id, data.pull_id)];
    case 'PullRequestPublished':
    case 'PullRequestFailed':
      return [effectKey.publish(data.pull_id)];
    case 'PullRequestCloseRequested':
      // Of what was given up nobody wants to know the checks.
      return [effectKey.watch(data.task_id), ...otherPullsOf(effects, data.task_id, data.pull_id)];
    case 'PullRequestClosed':
      return [effectKey.close(data.pull_id)];
    case 'PlaceCleared':
    // The next session of the task works there.
    case 'TaskReinstated':
      return [effectKey.clear(data.task_id)];
    case 'LedgerSealed':
      return keysWhere(effects, (effect) => effect.kind === 'seal' && effect.seq <= data.size);
    default:
      return [];
  }
}

/** Only the newest head of a task is of interest. */
function otherChecksOf(effects: ReadonlyMap<string, Effect>, taskId: string, checksId: string): string[] {
  return keysWhere(
    effects,
    (effect) => effect.kind === 'run-checks' && effect.taskId === taskId && effect.checksId !== checksId,
  );
}

/** What was wanted of a pull request before is no longer: it is published anew, or closed. */
function otherPullsOf(effects: ReadonlyMap<string, Effect>, taskId: string, pullId: string): string[] {
  return keysWhere(
    effects,
    (effect) =>
      (effect.kind === 'publish-pull' || effect.kind === 'close-pull') &&
      effect.taskId === taskId &&
      effect.pullId !== pullId,
  );
}

function startsOf(effects: ReadonlyMap<string, Effect>, agentId: string): string[] {
  return keysWhere(effects, (effect) => effect.kind === 'start-agent' && effect.agentId === agentId);
}

/** An agent that nobody waits for is told nothing any more. */
function keysOfMessagesTo(effects: ReadonlyMap<string, Effect>, agentId: string): string[] {
  return keysWhere(effects, (effect) => effect.kind === 'send-message' && effect.agentId === agentId);
}

function workspacesOf(effects: ReadonlyMap<string, Effect>, pipelineId: string): string[] {
  return keysWhere(effects, (effect) => effect.kind === 'prepare-workspace' && effect.pipelineId === pipelineId);
}

function keysWhere(effects: ReadonlyMap<string, Effect>, fits: (effect: Effect) => boolean): string[] {
  return [...effects.values()].filter(fits).map(({ key }) => key);
}
