import type { ListToolsResult, McpServer, Tool, ToolAnnotations } from '@modelcontextprotocol/server';
import type { Operation } from '../api/operations/operation.ts';
import { OPERATIONS } from '../api/operations/registry.ts';
import { type Backend, callOperation, type McpConnection } from './connection.ts';
import { listedSchema, withoutFields, withTokenArgument } from './tool-schema.ts';
import { type CallerView, usableTools, WORKER } from './tools-in-state.ts';

export interface ListOptions {
  readonly backend: Backend;
  readonly connection: McpConnection;
  readonly takesToken: boolean;
}

/**
 * The list of tools of one connection. It follows the caller's state, and the client is notified of changes. Many
 * clients read the list once and ignore the notification; such a client must still be able to claim a task and to
 * finish it. So a worker gets all tools until its client has proved that it follows changes, by reading the list right
 * after a notification.
 */
export class ListedTools {
  readonly #options: ListOptions;
  readonly #server: McpServer;
  #listed: string | undefined;
  #notifiedAtMs = -Infinity;
  #followsChanges = false;

  constructor(server: McpServer, options: ListOptions) {
    this.#server = server;
    this.#options = options;
  }

  async list(): Promise<ListToolsResult> {
    if (performance.now() - this.#notifiedAtMs < FOLLOWS_WITHIN_MS) this.#followsChanges = true;
    this.#notifiedAtMs = -Infinity;
    const { tools, takesToken } = await this.#select();
    this.#listed = nameAll(tools);
    return { tools: tools.map((operation) => describeTool(operation, takesToken)) };
  }

  /** Notifies the client if a call may have changed which tools the caller can use. */
  async notifyIfChanged(): Promise<void> {
    if (this.#listed === undefined) return;
    const now = nameAll((await this.#select()).tools);
    if (now === this.#listed) return;
    this.#listed = now;
    this.#notifiedAtMs = performance.now();
    this.#server.sendToolListChanged();
  }

  async #select(): Promise<{ readonly tools: readonly Operation[]; readonly takesToken: boolean }> {
    const all = toolOperations();
    const { connection, takesToken } = this.#options;
    const caller = await readCaller(this.#options, connection.token);
    if (caller === undefined) return { tools: all, takesToken };
    if (caller.kind !== 'worker') return { tools: pick(all, usableTools(caller)), takesToken: false };
    const { claimToken } = connection;
    const claim = claimToken === undefined ? undefined : await readCaller(this.#options, claimToken);
    if (claim?.session?.holds_claim === true)
      return { tools: pick(all, usableTools(caller).union(usableTools(claim))), takesToken };
    return { tools: this.#followsChanges ? pick(all, usableTools(caller)) : all, takesToken };
  }
}

/** A client that follows changes reads the list at once. */
const FOLLOWS_WITHIN_MS = 5_000;

/** Returns undefined if the daemon does not answer in time: clients give up on a server that lists its tools late. */
async function readCaller(
  { backend, connection }: ListOptions,
  token: string | undefined,
): Promise<CallerView | undefined> {
  if (token === undefined && connection.isWorker) return WORKER;
  const options = { ...(token === undefined ? {} : { token }), signal: AbortSignal.timeout(ASKING_MS) };
  const answer = await callOperation(backend, 'caller_get', {}, options).catch(() => undefined);
  return answer?.ok === true ? answer.result : undefined;
}

const ASKING_MS = 2_000;

export function toolOperations(): readonly Operation[] {
  return [...OPERATIONS.values()].filter(({ tool }) => tool);
}

function pick(all: readonly Operation[], names: ReadonlySet<string>): readonly Operation[] {
  return all.filter(({ name }) => names.has(name));
}

function nameAll(operations: readonly Operation[]): string {
  return operations.map(({ name }) => name).join(' ');
}

function describeTool(operation: Operation, takesToken: boolean): Tool {
  const { name, about, schema, unlistedFields = [] } = operation;
  const listed = listedSchema(withoutFields(schema, unlistedFields), !DESCRIBED_ELSEWHERE.has(name));
  const { description: _, ...own } = takesToken ? withTokenArgument(listed) : listed;
  return { name, description: about, inputSchema: { ...own, type: 'object' }, annotations: annotationsOf(operation) };
}

/** Tools whose fields another tool describes that is listed whenever they are. */
const DESCRIBED_ELSEWHERE: ReadonlySet<string> = new Set(['task_complete']);

const IDEMPOTENT: ReadonlySet<string> = new Set(['task_update', 'task_worktree', 'merkle_finalize', 'merge_request']);
/** Operations whose effect outside Baton cannot be undone. */
const DESTRUCTIVE: ReadonlySet<string> = new Set(['merge_request']);

/** Omitted annotations have the protocol's default, except that a read needs only `readOnlyHint`. */
function annotationsOf({ name, kind }: Operation): ToolAnnotations {
  if (kind === 'read') return { readOnlyHint: true };
  const idempotent = IDEMPOTENT.has(name) ? { idempotentHint: true } : {};
  return { destructiveHint: DESTRUCTIVE.has(name), ...idempotent, openWorldHint: false };
}
