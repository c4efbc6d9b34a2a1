import { resolve } from 'node:path';
import { methodNotFound, RpcConnection } from '../../acp/connection.ts';
import { ACP_VERSION } from '../../acp/messages.ts';
import type { ApiError } from '../../api/answer.ts';
import type { SignedClient } from '../../api/client/signed-client.ts';
import { findStateDir } from '../../api/state-folder.ts';
import { VERSION } from '../../api/version.ts';
import { findRepository } from '../../git/repository.ts';
import { WORKFLOW_MODES } from '../../protocol/run-plan.ts';
import { type Fields, fieldsOf, textOf } from '../../protocol/shape/read-unknown.ts';
import { readRunbook } from '../../runbook/read/read-runbook.ts';
import { Editor } from './editor.ts';
import { editorNameOf, openKey, reachDaemon } from './editor-key.ts';
import { EditorSession } from './editor-session.ts';
import { modesOf } from './modes.ts';
import { AVAILABLE_COMMANDS } from './parse-prompt.ts';
import { toRpcError } from './rpc-errors.ts';
import { SessionFiles } from './session-file.ts';

export interface EditorAgentOptions {
  readonly env: Readonly<Record<string, string | undefined>>;
  /** The repository of every session. Replaces the folder that the editor names. */
  readonly project?: string | undefined;
  /** The name of the key. Replaces the editor's own name. */
  readonly name?: string | undefined;
  readonly write: (line: string) => void;
}

/** Baton as an agent of an editor. All its calls use one key, named after the editor. */
export class EditorAgent {
  readonly #options: EditorAgentOptions;
  readonly #connection: RpcConnection;
  readonly #files: SessionFiles;
  readonly #sessions = new Map<string, EditorSession>();
  readonly #closed = new AbortController();
  #editorName = 'editor';
  #client: Promise<SignedClient> | undefined;

  constructor(options: EditorAgentOptions) {
    this.#options = options;
    this.#files = new SessionFiles(findStateDir(options.env));
    this.#connection = new RpcConnection({
      write: options.write,
      onRequest: async (method, params, signal) => this.#onRequest(method, params, signal),
      onNotification: (method, params) => {
        if (method === 'session/cancel') this.#sessions.get(textOf(params['sessionId']))?.cancel();
      },
    });
  }

  get push(): (chunk: Uint8Array) => void {
    return this.#connection.push;
  }

  /** Revokes the editor's key. Runs continue without the editor. */
  async close(): Promise<void> {
    this.#closed.abort();
    this.#connection.close();
    await this.#client?.then(
      async (client) => client.revoke(),
      () => undefined,
    );
  }

  async #onRequest(method: string, params: Fields, signal: AbortSignal): Promise<object | null> {
    switch (method) {
      case 'initialize':
        return this.#initialize(params);
      case 'authenticate':
        return {};
      case 'session/new':
        return this.#newSession(params);
      case 'session/load':
        return this.#loadSession(params);
      case 'session/list':
        return this.#listSessions(params);
      case 'session/set_mode':
        return this.#setMode(params);
      case 'session/prompt':
        return { stopReason: await this.#find(params).prompt(params['prompt'], signal) };
      default:
        throw methodNotFound(method);
    }
  }

  #initialize({ clientInfo }: Fields): object {
    this.#editorName = this.#options.name ?? editorNameOf(textOf(fieldsOf(clientInfo)['name']));
    return {
      protocolVersion: ACP_VERSION,
      agentInfo: { name: 'baton', title: 'Baton', version: VERSION },
      agentCapabilities: {
        loadSession: true,
        promptCapabilities: { image: false, audio: false, embeddedContext: true },
        mcpCapabilities: { http: false, sse: false },
        sessionCapabilities: { list: {} },
      },
      authMethods: [],
    };
  }

  async #newSession({ cwd }: Fields): Promise<object> {
    const id = crypto.randomUUID();
    const session = await this.#openSession(id, textOf(cwd));
    return { sessionId: id, modes: modesOf(session.mode) };
  }

  async #loadSession({ sessionId, cwd }: Fields): Promise<object> {
    const saved = this.#files.find(textOf(sessionId));
    // Another repository may have another task with the same id.
    const isHere = saved !== undefined && saved.cwd === (await this.#findRoot(textOf(cwd)));
    if (!isHere) throw toRpcError(noSuchSession(textOf(sessionId)));
    const session = await this.#openSession(saved.id, textOf(cwd));
    await session.load(saved);
    return { modes: modesOf(session.mode) };
  }

  async #listSessions({ cwd }: Fields): Promise<object> {
    const root = typeof cwd === 'string' ? await this.#findRoot(cwd) : undefined;
    const sessions = this.#files.list().filter((each) => root === undefined || each.cwd === root);
    return {
      sessions: sessions.map(({ id, cwd: at, title, updatedAt }) => ({ sessionId: id, cwd: at, title, updatedAt })),
    };
  }

  async #setMode(params: Fields): Promise<object> {
    const mode = WORKFLOW_MODES.find((each) => each === params['modeId']);
    if (mode === undefined) throw toRpcError(NO_SUCH_MODE);
    this.#find(params).mode = mode;
    return {};
  }

  #find({ sessionId }: Fields): EditorSession {
    const session = this.#sessions.get(textOf(sessionId));
    if (session === undefined) throw toRpcError(noSuchSession(textOf(sessionId)));
    return session;
  }

  async #openSession(id: string, cwd: string): Promise<EditorSession> {
    if (this.#sessions.size >= MAX_SESSIONS) throw toRpcError(TOO_MANY);
    const root = await this.#findRoot(cwd);
    const signed = await this.#signedClient();
    const client = signed.inProject(root);
    // Opens the project, so that a failure appears here and not at the first prompt.
    const status = await client.call('status_get', {});
    if (!status.ok) throw toRpcError(status.error);
    const editor = new Editor(this.#connection, id);
    const { checked } = await readRunbook(root);
    const mode = checked.ok ? checked.value.mode : 'autonomous';
    const { env } = this.#options;
    const session = new EditorSession(
      {
        id,
        root,
        client,
        editor,
        files: this.#files,
        stateDir: findStateDir(env),
        reach: async () => reachDaemon(env),
        closed: this.#closed.signal,
      },
      mode,
    );
    this.#sessions.set(id, session);
    // Sent later, because the editor must receive the session's id first.
    setImmediate(() =>
      editor.update({ sessionUpdate: 'available_commands_update', availableCommands: AVAILABLE_COMMANDS }),
    );
    return session;
  }

  async #findRoot(cwd: string): Promise<string> {
    const found = await findRepository(resolve(this.#options.project ?? cwd));
    if (!found.ok) throw toRpcError(found.problem);
    return found.value.top;
  }

  /** Does not replace a revoked key, because a person has revoked it. */
  async #signedClient(): Promise<SignedClient> {
    this.#client ??= openKey(this.#editorName, this.#options.env);
    try {
      return await this.#client;
    } catch (error) {
      this.#client = undefined;
      throw error;
    }
  }
}

function noSuchSession(id: string): ApiError {
  const hint = 'Start a new editor session. To see what runs: /status, or baton status in a terminal.';
  return { code: 'acp/no-such-session', message: `there is no editor session ${id.slice(0, 100)}`, hint };
}

const NO_SUCH_MODE: ApiError = {
  code: 'acp/usage',
  message: 'there is no such mode',
  hint: `Modes: ${WORKFLOW_MODES.join(', ')}.`,
};

const TOO_MANY: ApiError = {
  code: 'rate-limited',
  message: 'a process of baton acp serves at most 256 editor sessions',
  hint: 'Start the agent again in the editor.',
};

const MAX_SESSIONS = 256;
