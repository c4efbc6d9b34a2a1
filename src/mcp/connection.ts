import { createHash, randomUUID } from 'node:crypto';
import type { Answer } from '../api/answer.ts';
import type { Operation } from '../api/operations/operation.ts';
import type { InputOf, OperationName, ResultOf } from '../api/operations/registry.ts';
import type { Claim } from '../api/operations/tasks.ts';
import { fieldOf, fieldsOf, findText } from '../protocol/shape/read-unknown.ts';

/**
 * The tokens of one connection: its own, and one per claim. Models never handle them: a call acts for its task, or the
 * newest live claim.
 */
export class McpConnection {
  readonly id = randomUUID();
  readonly token: string | undefined;
  /** Claims by task id, newest last. Ended claims stay, so that the daemon can report how they ended. */
  readonly #claims = new Map<string, HeldClaim>();
  /** Claims not used yet, by the id of the request that made them. */
  readonly #fresh = new Map<string | number, GrantedClaim>();

  /** Whether the backend's default token is certainly a worker's. */
  readonly isWorker: boolean;

  constructor(token?: string, { isWorker = false }: { readonly isWorker?: boolean } = {}) {
    this.token = token;
    this.isWorker = isWorker;
  }

  /** The token of the newest live claim that was made over this connection. */
  get claimToken(): string | undefined {
    return this.#newestLive()?.token;
  }

  tokenFor(operation: Operation, input: unknown, requestId: string | number = ''): { readonly token?: string } {
    const held = operation.access.includes('session') ? this.#claimFor(requestId, operation, input) : undefined;
    const token = held?.token ?? this.token;
    if (token === undefined) return {};
    for (const [requestId, fresh] of this.#fresh) if (fresh.token === token) this.#fresh.delete(requestId);
    return { token };
  }

  /** Records a claim: from now on this connection acts for its task. */
  noteClaim(requestId: string | number, { task_id: taskId, token }: Pick<Claim, 'task_id' | 'token'>): void {
    this.#claims.delete(taskId);
    this.#claims.set(taskId, { taskId, token });
    this.#fresh.set(requestId, { taskId, token });
  }

  /** Records whether the call ended its claim. Returns the task that the connection acts for now. */
  noteAnswer(
    requestId: string | number,
    operation: Operation,
    input: unknown,
    token: string | undefined,
    answer: Answer,
  ): string | undefined {
    const held = [...this.#claims.values()].find((each) => each.token === token);
    const isLast = answer.ok ? mayEndClaim(operation.name, input) : isClaimOver(answer);
    if (held !== undefined && isLast) held.endedBy ??= this.keyFor(requestId, operation.name, input);
    return this.#newestLive()?.taskId;
  }

  /** Removes and returns the claim of a cancelled request. The claim is undefined if it was used since. */
  takeFreshClaim(requestId: string | number): GrantedClaim | undefined {
    const fresh = this.#fresh.get(requestId);
    this.#fresh.delete(requestId);
    if (fresh !== undefined && this.#claims.get(fresh.taskId)?.token === fresh.token) this.#claims.delete(fresh.taskId);
    return fresh;
  }

  /**
   * The idempotency key; equal for a repeat. It covers the arguments, because clients reuse ids and a wrong answer is
   * worse than a repeated write.
   */
  keyFor(requestId: string | number, operation: string, input: unknown): string {
    const request = JSON.stringify([requestId, operation, input]);
    return `mcp:${this.id}:${createHash('sha256').update(request).digest('base64url')}`;
  }

  #claimFor(requestId: string | number, { name, access }: Operation, input: unknown): HeldClaim | undefined {
    const taskId = findText(fieldOf(input, 'task_id'));
    const key = this.keyFor(requestId, name, input);
    if (taskId !== undefined) {
      const held = this.#claims.get(taskId);
      // A former holder reinstates the task like any other caller.
      if (held?.endedBy !== undefined && held.endedBy !== key && reinstates(name, input)) return undefined;
      // For a task without a claim here: an operation open to workers is called without a claim, any other under the
      // newest live claim.
      return held ?? (access.includes('worker') ? undefined : this.#newestLive());
    }
    // A repeat of the request that ended a claim belongs to that claim.
    const ended = [...this.#claims.values()].find(({ endedBy }) => endedBy === key);
    // With no live claim, an operation open to workers is called as the worker: an ended session may read little.
    const last = access.includes('worker') ? undefined : [...this.#claims.values()].at(-1);
    return ended ?? this.#newestLive() ?? last;
  }

  #newestLive(): HeldClaim | undefined {
    return [...this.#claims.values()].findLast(({ endedBy }) => endedBy === undefined);
  }
}

export interface GrantedClaim {
  readonly taskId: string;
  readonly token: string;
}

interface HeldClaim extends GrantedClaim {
  /** Key of the request that ended the claim or reported that it had ended. */
  endedBy?: string;
}

export function mayEndClaim(operation: string, input: unknown): boolean {
  const { status, kind } = fieldsOf(input);
  switch (operation) {
    case 'task_release':
    case 'task_complete':
    case 'exit_signal':
    case 'merge_request':
      return true;
    case 'task_update':
      return status !== 'in_progress';
    case 'thought_record':
      return reinstates(operation, input);
    case 'agent_signal':
      return kind !== 'continue';
    default:
      return false;
  }
}

function reinstates(operation: string, input: unknown): boolean {
  return operation === 'thought_record' && fieldOf(input, 'status') === 'todo';
}

export function isClaimOver(answer: Answer): boolean {
  return !answer.ok && CLAIM_OVER_CODES.has(answer.error.code);
}

const CLAIM_OVER_CODES: ReadonlySet<string> = new Set(['claim-ended', 'stale-claim', 'no-active-phase']);

export function addClaimEndHint(answer: Answer, speaksFor: string | undefined): Answer {
  if (answer.ok || !isClaimOver(answer)) return answer;
  const now =
    speaksFor === undefined
      ? 'Find other work with task_next_actions, and claim it with task_claim.'
      : `Calls that name no task now act for ${speaksFor}, which you also claimed.`;
  return { ok: false, error: { ...answer.error, hint: `Stop working on this task. ${now}` } };
}

export const CANCELLED_REASON = 'the caller disconnected before the claim was granted';

/** Runs operations: the daemon, or a client of it. Never throws for a caller's mistake. */
export interface Backend {
  readonly call: (operation: string, input: unknown, options: BackendCall) => Promise<Answer>;
}

/**
 * Calls an operation that the MCP server needs itself. The backend is the daemon or a client of the same version, so
 * the result has the declared type.
 */
export async function callOperation<N extends OperationName>(
  backend: Backend,
  operation: N,
  input: InputOf<N>,
  options: BackendCall,
): Promise<Answer<ResultOf<N>>> {
  return (await backend.call(operation, input, options)) as Answer<ResultOf<N>>; // oxlint-disable-line typescript/no-unsafe-type-assertion
}

export interface BackendCall {
  /** The caller's token; by default the worker token of the backend. */
  readonly token?: string;
  readonly key?: string;
  /** The client's name for the conversation, if it sends one. */
  readonly conversation?: string;
  readonly signal?: AbortSignal;
  /** The agent whose supervisor has found the call in its client's output. */
  readonly matched?: string;
}
