import { isAbsolute } from 'node:path';
import type { ApiError, OrError } from '../api/answer.ts';
import { LOCK_TIMES, scaleLockTimes, type LockTimes } from '../ledger/sqlite/lock-wait.ts';
import { findStoreUrlProblem } from '../protocol/store-url.ts';
import type { RunLimits } from '../runbook/runbook.ts';
import type { LeaseTimes } from '../state/tasks/lease.ts';

export interface DaemonSettings {
  /** Read from the environment. The runbook of each project sets the others. */
  readonly times: Partial<LeaseTimes>;
  readonly lockTimes: LockTimes;
  readonly loopLagMs: number;
  readonly exitFlag: string | undefined;
  /** The URL of the database for new projects whose runbook names none. */
  readonly store: string | undefined;
  /** The module that registers an OpenTelemetry SDK; undefined to export nothing. */
  readonly telemetry: string | undefined;
}

export type ReadSettings = OrError<{ readonly settings: DaemonSettings }>;

/** An invalid value is an error, because a typo must not become a default. */
export function readSettings(env: Environment): ReadSettings {
  const times: { -readonly [K in keyof LeaseTimes]?: number } = {};
  for (const [key, name] of NAMES) {
    const value = readMs(env, name);
    if (typeof value === 'object') return { ok: false, error: value };
    if (value !== undefined) times[key] = value;
  }
  const lockMs = readMs(env, 'BATON_LOCK_WAIT_MS');
  if (typeof lockMs === 'object') return { ok: false, error: lockMs };
  const loopLagMs = readMs(env, 'BATON_LOOP_LAG_MS') ?? 4000;
  if (typeof loopLagMs === 'object') return { ok: false, error: loopLagMs };
  const store = env['BATON_STORE'] || undefined;
  const wrong = store === undefined ? undefined : findStoreUrlProblem(store);
  if (wrong !== undefined) return { ok: false, error: { ...wrong, message: `BATON_STORE: ${wrong.message}` } };
  const telemetry = env['BATON_TELEMETRY'] || undefined;
  // The daemon's working folder differs from the one in which the variable was set.
  if (telemetry !== undefined && !isAbsolute(telemetry)) return { ok: false, error: NO_ABSOLUTE_PATH };
  const locks = lockMs === undefined ? LOCK_TIMES : scaleLockTimes(lockMs);
  return {
    ok: true,
    settings: { times, lockTimes: locks, loopLagMs, exitFlag: env['AGENT_EXIT_PROTOCOL_ENABLED'], store, telemetry },
  };
}

/** Uses the environment, else the runbook, else the defaults of the specification. */
export function leaseTimesOf(
  { times }: DaemonSettings,
  limits: Pick<RunLimits, 'claimExpiryMs' | 'renewalMs'> | undefined,
): LeaseTimes {
  return {
    expiryMs: times.expiryMs ?? limits?.claimExpiryMs ?? 15 * 60_000,
    renewalMs: times.renewalMs ?? limits?.renewalMs ?? 30_000,
    tickMs: times.tickMs ?? 1000,
  };
}

const NO_ABSOLUTE_PATH: ApiError = {
  code: 'bad-setting',
  message: 'BATON_TELEMETRY must be the absolute path of a module',
  hint: 'Unset BATON_TELEMETRY, or see: baton docs telemetry',
};

const NAMES = [
  ['expiryMs', 'BATON_CLAIM_EXPIRY_MS'],
  ['renewalMs', 'BATON_RENEWAL_MS'],
  ['tickMs', 'BATON_TICK_MS'],
] as const;

type Environment = Readonly<Record<string, string | undefined>>;
const MAX_MS = 2 ** 31 - 1;

function readMs(env: Environment, name: string): number | undefined | ApiError {
  const text = env[name];
  if (text === undefined || text === '') return undefined;
  const value = Number(text);
  if (/^\d+$/.test(text) && value >= 1 && value <= MAX_MS) return value;
  return {
    code: 'bad-setting',
    message: `${name} must be a whole number of milliseconds from 1 to ${MAX_MS}, not '${text}'`,
    hint: `Unset ${name}, or correct it.`,
  };
}
