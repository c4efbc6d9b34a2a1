import type { Caller } from '../caller.ts';
import { event, type Event, type Events } from '../event.ts';
import { decided, type Outcome, refusal } from '../outcome.ts';
import type { State } from '../state.ts';
import { effectKey, findEffect } from './effect.ts';
import { excerptEnd } from './excerpt.ts';

/**
 * Commands that record the outcome of an effect. An effect is settled once: a second report, or one after it was
 * cancelled, changes nothing.
 */
export type FinishCommand = Omit<Events['CommandFinished'], 'subject'>;

export function decideFinishCommand(state: State, command: FinishCommand, caller: Caller): Outcome<null> {
  const { command_id, output } = command;
  if (caller.kind === 'supervisor' && caller.agentId !== command_id)
    return refusal('forbidden', `command ${command_id} belongs to another supervisor`, 'Report your own.');
  const effect = findEffect(state, 'CommandRequested', effectKey.command(command_id));
  if (effect === undefined) return decided([], null);
  const { subject } = effect.data;
  const end = output === null ? null : excerptEnd(output);
  return decided([event('CommandFinished', { ...command, subject, output: end })], null);
}

export type FireTimer = Pick<Events['TimerFired'], 'timer_id'>;

export function decideFireTimer(state: State, { timer_id }: FireTimer): Outcome<null> {
  const effect = findEffect(state, 'TimerSet', effectKey.timer(timer_id));
  return decided(effect === undefined ? [] : [event('TimerFired', { timer_id, purpose: effect.data.purpose })], null);
}

export type DeliverMessage = Omit<Events['MessageDelivered'], 'agent_id'>;

export function decideDeliverMessage(state: State, command: DeliverMessage): Outcome<null> {
  const effect = findEffect(state, 'MessageRequested', effectKey.message(command.message_id));
  if (effect === undefined) return decided([], null);
  return decided([event('MessageDelivered', { ...command, agent_id: effect.data.agent_id })], null);
}

export type PrepareWorkspace = Events['WorkspacePrepared'] & { readonly step: string };

export function decidePrepareWorkspace(state: State, { step, ...prepared }: PrepareWorkspace): Outcome<null> {
  return decideIfOwed(state, effectKey.workspace(prepared.pipeline_id, step), event('WorkspacePrepared', prepared));
}

export type FailWorkspace = Events['WorkspaceFailed'];

export function decideFailWorkspace(state: State, { pipeline_id, step, reason }: FailWorkspace): Outcome<null> {
  const failed = event('WorkspaceFailed', { pipeline_id, step, reason: excerptEnd(reason) });
  return decideIfOwed(state, effectKey.workspace(pipeline_id, step), failed);
}

export type SendNotification = Events['NotificationSent'];

export function decideSendNotification(state: State, command: SendNotification): Outcome<null> {
  return decideIfOwed(state, effectKey.notification(command.notification_id), event('NotificationSent', command));
}

function decideIfOwed({ effects }: State, key: string, settled: Event): Outcome<null> {
  return decided(effects.has(key) ? [settled] : [], null);
}
