import type { Answer, ApiError } from '../api/answer.ts';
import { isKeepable, keepCall, keptAnswer, notKeptAnswer } from '../api/outbox.ts';
import { awaySinceOf } from '../protocol/resource-faults.ts';
import type { Caller } from '../state/caller.ts';
import type { Project } from './project/project.ts';
import type { CallerIdentity } from './tokens.ts';

export interface IncomingCall {
  readonly operation: string;
  readonly identity: CallerIdentity;
  readonly token: string;
  readonly projectPath: string | undefined;
  readonly body: Uint8Array;
  readonly key: string | undefined;
  readonly signal?: AbortSignal;
  /** When the call was put in the outbox. Absent if the call was never kept. */
  readonly keptAt?: string;
}

export interface Outbox {
  readonly outbox: string;
  readonly onKept?: () => void;
}

/** Adds since when the database is unavailable, because the result of a read is from before. */
export function addAge(answer: Answer & { readonly ok: true }, { ledger }: Project): Answer {
  const away_since = awaySinceOf(ledger.health);
  return away_since === undefined ? answer : { ...answer, store: { away_since } };
}

/** Whether a call is a current message of a session, an agent or its supervisor that can be delivered later. */
export function isOfAgent({ operation, identity: { caller, project }, keptAt, body }: IncomingCall): boolean {
  // A matched call is known to be its judge's own only while it arrives.
  if (caller.kind === 'session' && caller.matched !== undefined) return false;
  return keptAt === undefined && project !== undefined && isKeepable(operation, new TextDecoder().decode(body));
}

/**
 * On a single machine the ledger and the outbox fail with the same disk, so the callers keep their calls themselves.
 */
export function canKeep(call: IncomingCall, { ledger }: Project): boolean {
  return ledger.store.kind === 'postgres' && isOfAgent(call);
}

/** Writes the call to disk before answering, in order with the session's other messages. */
export function keepWhileAway(call: IncomingCall, { outbox, onKept }: Outbox): Answer {
  const { operation, token, key = crypto.randomUUID(), projectPath = null } = call;
  const input = new TextDecoder().decode(call.body);
  const kept = { v: 1, operation, input, key, token, projectPath, keptAt: new Date().toISOString() } as const;
  if (!keepCall(outbox, kept)) return notKeptAnswer(outbox, kept, EARLIER_CALLS_WAIT);
  onKept?.();
  return keptAnswer(operation, 'database');
}

/** Keeps a record that the store refuses, and delivers it later. The work would be lost otherwise. */
export function keepInOutbox(call: IncomingCall, error: ApiError, { outbox, onKept }: Outbox): Answer {
  const { operation, token, key, projectPath = null } = call;
  // A page has no token with which the call could be delivered later.
  if (key === undefined || token === '' || call.keptAt !== undefined) return { ok: false, error };
  const input = new TextDecoder().decode(call.body);
  const kept = keepCall(outbox, { v: 1, operation, input, key, token, projectPath, keptAt: new Date().toISOString() });
  if (kept) onKept?.();
  const hint = kept
    ? 'The call is kept, and will be delivered once when the store is back. The task stays in progress.'
    : error.hint;
  return { ok: false, error: { ...error, hint } };
}

export const EARLIER_CALLS_WAIT: ApiError = {
  code: 'store-unavailable',
  message: 'earlier messages of this project wait for its store',
  hint: 'The messages are kept. Send the call again in a moment.',
};

/** A kept call is judged by the claim that was live when it was kept. */
export function callerOf({ identity: { caller }, keptAt }: IncomingCall, now: Date): Caller {
  if (caller.kind !== 'session' || keptAt === undefined) return caller;
  // The outbox uses this host's clock. In a fleet, entries have the database's time.
  const offsetMs = now.getTime() - Date.now();
  const isOff = Math.abs(offsetMs) > CLOCK_MS;
  return { ...caller, keptAt: isOff ? new Date(Date.parse(keptAt) + offsetMs).toISOString() : keptAt };
}

/** Two readings of one clock differ by less than this. */
const CLOCK_MS = 50;
