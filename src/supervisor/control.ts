import { fieldsInJson } from '../protocol/shape/read-unknown.ts';
import type { Standing } from '../protocol/standing.ts';
import type { Control } from './contract.ts';
import type { HeldMessage, Permission } from './held-messages.ts';

export interface ControlActions {
  readonly setStanding: (standing: Standing) => void;
  readonly send: (message: HeldMessage, permission: Permission | undefined, wakes: boolean) => Promise<boolean>;
  /** Ids of the messages in the process's prompt. */
  readonly deliveredIds?: readonly string[];
  readonly kill: (reason: string) => Promise<void>;
}

export type ControlResponse = { readonly ok: true } | { readonly ok: false; readonly error: string };

/**
 * Carries out the daemon's control messages. A repeated message id gets the first result and is not delivered again.
 */
export function createControlHandler({ setStanding, send, kill, deliveredIds = [] }: ControlActions) {
  const sent = new Map<string, Promise<ControlResponse>>(deliveredIds.map((id) => [id, Promise.resolve(OK)]));
  const deliver = async ({ message_id: id, text, permission, wakes }: Message): Promise<ControlResponse> =>
    (await send({ id, text }, permission, wakes === true)) ? OK : LEAVING;
  return async (body: Buffer): Promise<ControlResponse> => {
    const control = parseControl(body);
    switch (control?.kind) {
      case undefined:
        return { ok: false, error: 'unknown control message' };
      case 'standing':
        setStanding(control.standing);
        return OK;
      case 'kill':
        await kill(control.reason);
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
