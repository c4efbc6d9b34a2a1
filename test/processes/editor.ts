import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { Readable, Writable } from 'node:stream';
import {
  client,
  type ClientConnection,
  methods,
  ndJsonStream,
  PROTOCOL_VERSION,
  type RequestPermissionRequest,
  type RequestPermissionResponse,
  type SessionUpdate,
  type ToolCall,
} from '@agentclientprotocol/sdk';
import { BATON } from '../package/where.ts';
import { until } from './until.ts';

/** An editor without a screen: the official SDK's client, with `baton acp` as its agent. */
export class TestEditor {
  readonly child: ChildProcess;
  readonly connection: ClientConnection;
  readonly updates: SessionUpdate[] = [];
  readonly asked: RequestPermissionRequest[] = [];
  /** Chooses the option for each question; undefined leaves the question open. */
  onAsk: ((asked: RequestPermissionRequest) => string | undefined) | undefined;
  /** The number of questions that the agent withdrew. */
  withdrawn = 0;
  readonly #open: ((answer: RequestPermissionResponse) => void)[] = [];
  err = '';

  constructor(env: Readonly<Record<string, string | undefined>>, args: readonly string[] = []) {
    this.child = spawn(process.execPath, [BATON, 'acp', ...args], { env, stdio: ['pipe', 'pipe', 'pipe'] });
    const { stdin, stdout, stderr } = this.child;
    if (stdin === null || stdout === null || stderr === null) throw new Error('the pipes are missing');
    stderr.on('data', (text: Buffer) => (this.err += text.toString()));
    this.connection = client({ name: 'test-editor' })
      .onRequest(methods.client.session.requestPermission, async ({ params, signal }) => {
        const { promise, resolve } = Promise.withResolvers<RequestPermissionResponse>();
        this.asked.push(params);
        this.#open.push(resolve);
        const chosen = this.onAsk?.(params);
        if (chosen !== undefined) this.choose(chosen);
        signal.addEventListener('abort', () => {
          this.withdrawn += 1;
          resolve(CANCELLED);
        });
        return promise;
      })
      .onNotification(methods.client.session.update, ({ params }) => void this.updates.push(params.update))
      .connect(ndJsonStream(Writable.toWeb(stdin), Readable.toWeb(stdout)));
  }

  async initialize(name = 'Test Editor') {
    const clientInfo = { name, version: '1.0.0' };
    return this.connection.agent.request(methods.agent.initialize, { protocolVersion: PROTOCOL_VERSION, clientInfo });
  }

  async listSessions(cwd: string) {
    return this.connection.agent.request(methods.agent.session.list, { cwd });
  }

  async loadSession(sessionId: string, cwd: string) {
    return this.connection.agent.request(methods.agent.session.load, { sessionId, cwd, mcpServers: [] });
  }

  async newSession(cwd: string) {
    return this.connection.agent.request(methods.agent.session.new, { cwd, mcpServers: [] });
  }

  async setMode(sessionId: string, modeId: string): Promise<void> {
    await this.connection.agent.request(methods.agent.session.setMode, { sessionId, modeId });
  }

  async prompt(sessionId: string, text: string) {
    const prompt = [{ type: 'text' as const, text }];
    return this.connection.agent.request(methods.agent.session.prompt, { sessionId, prompt });
  }

  /** Answers the newest question. */
  choose(optionId: string): void {
    this.#open.pop()?.({ outcome: { outcome: 'selected', optionId } });
  }

  /** Cancels as the protocol requires: open questions are answered with `cancelled`. */
  async cancel(sessionId: string): Promise<void> {
    for (const answer of this.#open.splice(0)) answer(CANCELLED);
    await this.connection.agent.notify(methods.agent.session.cancel, { sessionId });
  }

  /** All text that the agent sent. */
  get said(): string {
    return this.updates
      .map((update) =>
        update.sessionUpdate === 'agent_message_chunk' && update.content.type === 'text' ? update.content.text : '',
      )
      .join('');
  }

  /** The newest plan, as `status content`. */
  get plan(): readonly string[] {
    const plan = this.updates.findLast(({ sessionUpdate }) => sessionUpdate === 'plan');
    return plan?.sessionUpdate === 'plan' ? plan.entries.map(({ status, content }) => `${status} ${content}`) : [];
  }

  /** The tool calls after all updates. */
  get calls(): readonly (Partial<ToolCall> & { readonly title: string })[] {
    const calls = new Map<string, Partial<ToolCall> & { readonly title: string }>();
    for (const update of this.updates) {
      if (update.sessionUpdate !== 'tool_call' && update.sessionUpdate !== 'tool_call_update') continue;
      const { sessionUpdate: _, ...parts } = update;
      const before = calls.get(parts.toolCallId) ?? { title: '' };
      calls.set(parts.toolCallId, Object.assign({}, before, parts));
    }
    return [...calls.values()];
  }

  async until(what: string, holds: () => boolean, timeoutMs = 30_000): Promise<void> {
    await until(what, holds, timeoutMs);
  }

  /** Closes the pipe, like an editor that quits. */
  async quit(): Promise<number | null> {
    const exited = this.child.exitCode === null ? once(this.child, 'exit') : undefined;
    this.connection.close();
    this.child.stdin?.end();
    await exited;
    return this.child.exitCode;
  }
}

const CANCELLED = { outcome: { outcome: 'cancelled' } } as const;
