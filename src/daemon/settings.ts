import type { ApiError } from '../api/answer.ts';
import type { LeaseTimes } from '../state/lease.ts';

export interface Settings {
  readonly leaseTimes: LeaseTimes;
  /** AGENT_EXIT_PROTOCOL_ENABLED, as it stands. */
  readonly exitFlag: string | undefined;
}

export type ReadSettings =
  | { readonly ok: true; readonly settings: Settings }
  | { readonly ok: false; readonly error: ApiError };

/** What the daemon's environment says. A value that is not understood is an error: a typo must not become a default. */
export function readSettings(env: Environment): ReadSettings {
  const expiryMs = readMs(env, 'BATON_CLAIM_EXPIRY_MS', 15 * 60_000);
  const renewalMs = readMs(env, 'BATON_RENEWAL_MS', 30_000);
  const tickMs = readMs(env, 'BATON_TICK_MS', 1000);
  if (typeof expiryMs !== 'number') return { ok: false, error: expiryMs };
  if (typeof renewalMs !== 'number') return { ok: false, error: renewalMs };
  if (typeof tickMs !== 'number') return { ok: false, error: tickMs };
  const leaseTimes = { expiryMs, renewalMs, tickMs };
  return { ok: true, settings: { leaseTimes, exitFlag: env['AGENT_EXIT_PROTOCOL_ENABLED'] } };
}

type Environment = Readonly<Record<string, string | undefined>>;

/** The longest that a timer can wait. */
const MAX_MS = 2 ** 31 - 1;

function readMs(env: Environment, name: string, unset: number): number | ApiError {
  const text = env[name];
  if (text === undefined || text === '') return unset;
  const value = Number(text);
  if (/^\d+$/.test(text) && value >= 1 && value <= MAX_MS) return value;
  return {
    code: 'bad-setting',
    message: `${name} must be a whole number of milliseconds from 1 to ${MAX_MS}, not '${text}'`,
    hint: `Unset ${name}, or correct it.`,
  };
}
