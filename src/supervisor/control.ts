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
export function createControlHandler({
  setStanding: stand,
  send,
  kill,
  deliveredIds = [],
}: ControlActions): (body: Buffer) => Promise<ControlResponse> {
  const sent = new Map<string, Promise<ControlResponse>>(deliveredIds.map((id) => [id, Promise.resolve(OK)]));
  const deliver = async ({ message_id: id, text, permission, wakes }: Message): Promise<ControlResponse> =>
    (await send({ id, text }, permission, wakes === true))
      ? OK
      : { ok: false, error: 'the agent accepts no more messages' };
  return async (body) => {
    const control = parseControl(body);
    switch (control?.kind) {
      case undefined:
        return { ok: false, error: 'unknown control message' };
      case 'standing':
        stand(control.standing);
        return OK;
      case 'kill':
        await kill(control.reason);
        return OK;
      case 'send': {
        const first = sent.get(control.message_id);
        if (first !== undefined) return first;
        const now = deliver(control);
        sent.set(control.message_id, now);
        return now;
      }
    }
  };
}

type Message = Extract<Control, { kind: 'send' }>;

const OK: ControlResponse = { ok: true };

function parseControl(body: Buffer): Control | undefined {
  try {
    const value: unknown = JSON.parse(body.toString('utf8'));
    if (typeof value !== 'object' || value === null || !('kind' in value)) return undefined;
    if (value.kind === 'kill') return { kind: 'kill', reason: 'reason' in value ? String(value.reason) : '' };
    if (value.kind === 'standing' && 'standing' in value && isStanding(value.standing))
      return { kind: 'standing', standing: value.standing };
    const isMessage = value.kind === 'send' && 'message_id' in value && 'text' in value;
    if (!isMessage || typeof value.text !== 'string') return undefined;
    const permission = 'permission' in value ? value.permission : undefined;
    const decided = permission === 'allow' || permission === 'deny' ? ({ permission } as const) : {};
    const wakes = 'wakes' in value && value.wakes === true ? ({ wakes: true } as const) : {};
    return { kind: 'send', message_id: String(value.message_id), text: value.text, ...decided, ...wakes };
  } catch {
    return undefined;
  }
}

export function isStanding(value: unknown): value is Standing {
  if (typeof value !== 'object' || value === null) return false;
  const { has_signalled, is_owned, is_parked, missing }: Partial<Record<keyof Standing, unknown>> = value;
  return [has_signalled, is_owned, is_parked].every((flag) => typeof flag === 'boolean') && Array.isArray(missing);
}
