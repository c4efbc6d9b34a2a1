import { fieldsInJson } from '../protocol/shape/read-unknown.ts';
import type { Standing } from '../protocol/standing.ts';
import type { Control, Launch } from './contract.ts';
import type { MessageQueue } from './message-queue.ts';

export type ControlResponse = { readonly ok: true } | { readonly ok: false; readonly error: string };

interface ControlledAgent {
  readonly launch: Launch;
  readonly messages: Pick<MessageQueue, 'deliver' | 'isLeaving'>;
  readonly guard: { setStanding(standing: Standing): void };
  readonly budgetHold: { update(): void; continuesWithoutMessage(isLeaving: boolean): boolean };
  readonly beforeMessage?: () => Promise<void>;
  end(): Promise<void>;
}

/** Carries out the daemon's control messages. A repeated message id gets the first result. */
export function createControlHandler(agent: ControlledAgent) {
  // The prompt contains the messages with these ids.
  const deliveredIds = agent.launch.held ?? [];
  const sent = new Map<string, Promise<ControlResponse>>(deliveredIds.map((id) => [id, Promise.resolve(OK)]));
  const deliver = async ({ message_id: id, text, permission, wakes }: Message): Promise<ControlResponse> => {
    await agent.beforeMessage?.();
    const isUnneeded = wakes === true && agent.budgetHold.continuesWithoutMessage(agent.messages.isLeaving);
    return isUnneeded || (await agent.messages.deliver({ id, text }, permission)) ? OK : LEAVING;
  };
  return async (body: Buffer): Promise<ControlResponse> => {
    const control = parseControl(body);
    switch (control?.kind) {
      case undefined:
        return { ok: false, error: 'unknown control message' };
      case 'standing':
        agent.guard.setStanding(control.standing);
        agent.budgetHold.update();
        return OK;
      case 'kill':
        await agent.end();
        return OK;
      case 'send': {
        const delivered = sent.get(control.message_id) ?? deliver(control);
        sent.set(control.message_id, delivered);
        return delivered;
      }
    }
  };
}

type Message = Extract<Control, { kind: 'send' }>;
const OK: ControlResponse = { ok: true };
const LEAVING: ControlResponse = { ok: false, error: 'the agent accepts no more messages' };

function parseControl(body: Buffer): Control | undefined {
  const fields = fieldsInJson(body.toString('utf8'));
  const { kind, reason = '', standing, message_id, text, permission, wakes } = fields;
  if (kind === 'kill') return { kind, reason: String(reason) };
  if (kind === 'standing' && isStanding(standing)) return { kind, standing };
  if (kind !== 'send' || typeof message_id !== 'string' || typeof text !== 'string') return undefined;
  const decided = permission === 'allow' || permission === 'deny' ? ({ permission } as const) : {};
  return { kind, message_id, text, ...decided, ...(wakes === true ? { wakes } : {}) };
}

export function isStanding(value: unknown): value is Standing {
  if (typeof value !== 'object' || value === null) return false;
  const { has_signalled, is_owned, is_parked, missing }: Partial<Record<keyof Standing, unknown>> = value;
  return [has_signalled, is_owned, is_parked].every((flag) => typeof flag === 'boolean') && Array.isArray(missing);
}
