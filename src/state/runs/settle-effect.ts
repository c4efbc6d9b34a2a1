import type { Caller } from '../caller.ts';
import { event, type Event } from '../event.ts';
import { decided, refusal, type Outcome } from '../outcome.ts';
import type { State } from '../state.ts';
import { effectKey } from './evolve-effects.ts';
import { excerptEnd } from './excerpt.ts';

/**
 * How something that was owed to the outside went. Each is settled once: whoever tells it again, or after it was called off, is
 * heard and nothing happens.
 */
export interface FinishCommand {
  readonly commandId: string;
  readonly exitCode: number | null;
  readonly timedOut: boolean;
  readonly output: string | null;
}

export function decideFinishCommand(state: State, command: FinishCommand, caller: Caller): Outcome<null> {
  const { commandId, exitCode: exit_code, timedOut: timed_out, output } = command;
  if (caller.kind === 'supervisor' && caller.agentId !== commandId)
    return refusal('forbidden', `this supervisor does not watch over command ${commandId}`, 'Report your own.');
  const effect = state.effects.get(effectKey.command(commandId));
  if (effect?.kind !== 'run-command') return decided([], null);
  const said = output === null ? null : excerptEnd(output);
  const { subject } = effect;
  return decided(
    [event('CommandFinished', { command_id: commandId, subject, exit_code, timed_out, output: said })],
    null,
  );
}

export interface FireTimer {
  readonly timerId: string;
}

export function decideFireTimer(state: State, { timerId }: FireTimer): Outcome<null> {
  const effect = state.effects.get(effectKey.timer(timerId));
  if (effect?.kind !== 'wait') return decided([], null);
  return decided([event('TimerFired', { timer_id: timerId, purpose: effect.purpose })], null);
}

export interface DeliverMessage {
  readonly messageId: string;
  readonly ok: boolean;
  readonly reason: string | null;
}

export function decideDeliverMessage(state: State, { messageId, ok, reason }: DeliverMessage): Outcome<null> {
  const effect = state.effects.get(effectKey.message(messageId));
  if (effect?.kind !== 'send-message') return decided([], null);
  const { agentId: agent_id } = effect;
  return decided([event('MessageDelivered', { message_id: messageId, agent_id, ok, reason })], null);
}

export interface PrepareWorkspace {
  readonly pipelineId: string;
  readonly step: string;
  readonly path: string;
  readonly branch: string;
}

export function decidePrepareWorkspace(state: State, command: PrepareWorkspace): Outcome<null> {
  const { pipelineId: pipeline_id, path, branch } = command;
  return decideIfOwed(state, effectKey.workspace(pipeline_id, command.step), () =>
    event('WorkspacePrepared', { pipeline_id, path, branch }),
  );
}

export interface FailWorkspace {
  readonly pipelineId: string;
  readonly step: string;
  readonly reason: string;
}

export function decideFailWorkspace(
  state: State,
  { pipelineId: pipeline_id, step, reason }: FailWorkspace,
): Outcome<null> {
  return decideIfOwed(state, effectKey.workspace(pipeline_id, step), () =>
    event('WorkspaceFailed', { pipeline_id, step, reason: excerptEnd(reason) }),
  );
}

export interface SendNotification {
  readonly notificationId: string;
  readonly sent: readonly string[];
  readonly failed: readonly { readonly channel: string; readonly reason: string }[];
  /** Why it was not sent at all. */
  readonly calledOff?: string;
}

export function decideSendNotification(state: State, command: SendNotification): Outcome<null> {
  const { notificationId: notification_id, sent, failed, calledOff } = command;
  return decideIfOwed(state, effectKey.notification(notification_id), () =>
    event('NotificationSent', {
      notification_id,
      sent,
      failed,
      ...(calledOff === undefined ? {} : { called_off: calledOff }),
    }),
  );
}

function decideIfOwed({ effects }: State, key: string, told: () => Event): Outcome<null> {
  return decided(effects.has(key) ? [told()] : [], null);
}
