import { setTimeout as pause } from 'node:timers/promises';
import type { ApiError } from '../api/answer.ts';
import type { Operation } from '../api/operations/operation.ts';
import type { Caller } from '../state/caller.ts';
import type { IncomingCall } from './keep-call.ts';
import { SERVER_LIMITS } from './limits.ts';

/**
 * Limits how much each session sends, so that others are served while one floods. Every call of a session passes here
 * before anything else happens with it. A call over a limit changes nothing, and its error says when to repeat it.
 */
export class SessionLimits {
  readonly #accounts = new Map<string, Account>();
  readonly #nowMs: () => number;

  constructor(nowMs: () => number = () => performance.now()) {
    this.#nowMs = nowMs;
  }

  /**
   * Returns the error of a call that is over a limit. Refused callers wait for a moment, which slows a flood down. A call
   * from the outbox was accepted before, and the outbox has its own limits.
   */
  async check(
    { identity, body, keptAt }: Pick<IncomingCall, 'identity' | 'body' | 'keptAt'>,
    { name, kind }: Pick<Operation, 'name' | 'kind'>,
  ): Promise<ApiError | undefined> {
    if (keptAt !== undefined) return undefined;
    const refused = this.take(identity.caller, { name, kind, bytes: body.length });
    if (refused === undefined) return undefined;
    const { account, error } = refused;
    if (account.pausing < SERVER_LIMITS.sessionPauses) {
      account.pausing += 1;
      await pause(SERVER_LIMITS.sessionPauseMs);
      account.pausing -= 1;
    }
    return error;
  }

  take(
    caller: Caller,
    { name, kind, bytes }: LimitedCall,
  ): { readonly account: Account; readonly error: ApiError } | undefined {
    // People, workers and Baton's own supervisors are not limited.
    if (caller.kind !== 'session' && caller.kind !== 'agent') return undefined;
    const account = this.#accountOf(caller.kind === 'session' ? caller.sessionId : caller.agentId);
    const now = this.#nowMs();
    const costs: readonly (readonly [Budget, number])[] = ENDING.has(name)
      ? [['endings', 1]]
      : kind === 'write'
        ? [
            ['writes', 1],
            ['bytes', bytes],
          ]
        : [['reads', 1]];
    const waits = costs.map(([budget, cost]) => account.waitMs(budget, cost, now));
    const waitMs = Math.max(...waits);
    if (waitMs === 0) {
      for (const [budget, cost] of costs) account.spend(budget, cost);
      return undefined;
    }
    const what = costs[waits.indexOf(waitMs)]?.[0] ?? 'writes';
    const error = {
      code: 'rate-limited',
      message: `this session sends too many ${WORDS[what]}`,
      hint: `Nothing was recorded. Send this again in ${Math.ceil(waitMs / 1000)} s.`,
    };
    return { account, error };
  }

  get size(): number {
    return this.#accounts.size;
  }

  #accountOf(id: string): Account {
    const known = this.#accounts.get(id);
    if (known !== undefined) return known;
    if (this.#accounts.size >= MOST_ACCOUNTS) this.#dropIdle();
    const account = new Account(this.#nowMs());
    this.#accounts.set(id, account);
    return account;
  }

  #dropIdle(): void {
    const now = this.#nowMs();
    for (const [id, account] of this.#accounts) if (account.isFull(now)) this.#accounts.delete(id);
  }
}

interface LimitedCall {
  readonly name: string;
  readonly kind: Operation['kind'];
  readonly bytes: number;
}

const MOST_ACCOUNTS = 1000;

/** What ends a session or keeps it alive has a budget of its own, so that a session that floods can still end. */
const ENDING: ReadonlySet<string> = new Set([
  'exit_signal',
  'agent_signal',
  'agent_standing',
  'agent_idle',
  'agent_stop',
  'task_heartbeat',
  'task_release',
]);

const BUDGETS = {
  reads: { most: SERVER_LIMITS.sessionReads, perSecond: SERVER_LIMITS.sessionReadsPerSecond },
  writes: { most: SERVER_LIMITS.sessionWrites, perSecond: SERVER_LIMITS.sessionWritesPerSecond },
  bytes: { most: SERVER_LIMITS.sessionBytes, perSecond: SERVER_LIMITS.sessionBytesPerSecond },
  endings: { most: SERVER_LIMITS.sessionEndings, perSecond: SERVER_LIMITS.sessionEndingsPerSecond },
} as const;
type Budget = keyof typeof BUDGETS;

const WORDS: Readonly<Record<Budget, string>> = {
  reads: 'requests',
  writes: 'messages',
  bytes: 'bytes',
  endings: 'signals',
};

/** What a session may still send. Each budget fills up again with time. */
class Account {
  pausing = 0;
  readonly #left: Record<Budget, number> = { reads: 0, writes: 0, bytes: 0, endings: 0 };
  #atMs: number;

  constructor(nowMs: number) {
    this.#atMs = nowMs;
    for (const [name, { most }] of Object.entries(BUDGETS)) this.#left[name as Budget] = most; // oxlint-disable-line typescript/no-unsafe-type-assertion
  }

  /** How long until the budget covers the cost; 0 if it does now. A cost above the whole budget needs a full one. */
  waitMs(budget: Budget, cost: number, nowMs: number): number {
    this.#fill(nowMs);
    const { most, perSecond } = BUDGETS[budget];
    const missing = Math.min(cost, most) - this.#left[budget];
    return missing <= 0 ? 0 : (missing / perSecond) * 1000;
  }

  spend(budget: Budget, cost: number): void {
    this.#left[budget] -= cost;
  }

  isFull(nowMs: number): boolean {
    this.#fill(nowMs);
    return Object.entries(BUDGETS).every(([name, { most }]) => this.#left[name as Budget] >= most); // oxlint-disable-line typescript/no-unsafe-type-assertion
  }

  #fill(nowMs: number): void {
    const seconds = Math.max(0, nowMs - this.#atMs) / 1000;
    this.#atMs = nowMs;
    for (const [name, { most, perSecond }] of Object.entries(BUDGETS)) {
      const budget = name as Budget; // oxlint-disable-line typescript/no-unsafe-type-assertion
      this.#left[budget] = Math.min(most, this.#left[budget] + seconds * perSecond);
    }
  }
}
