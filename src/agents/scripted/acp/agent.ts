import { randomUUID } from 'node:crypto';
import { isAbsolute } from 'node:path';
import { methodNotFound, RPC, RpcConnection, RpcError } from '../../../acp/connection.ts';
import { ACP_VERSION, readText, textBlock } from '../../../acp/messages.ts';
import { writeStdout } from '../../../api/stdio.ts';
import { VERSION } from '../../../api/version.ts';
import { type Fields, fieldsInJson, textOf } from '../../../protocol/shape/read-unknown.ts';
import { splitLines } from '../../../protocol/text/split-lines.ts';
import { ConversationFile } from '../conversation.ts';
import { ScriptPlayer } from '../player.ts';
import type { Script } from '../script.ts';
import { type AcpClient, clientOf, readCapabilities } from './client.ts';
import { acpFace } from './face.ts';
import { AcpSession } from './session.ts';
import { sessionState, setMode, setOption } from './session-options.ts';

/** Plays the script as an ACP agent on standard input and output, once for each session. Resolves to the exit code. */
export async function playForAcp(script: Script, keep: string | undefined): Promise<number> {
  const agent = new AcpAgent(script, keep);
  for await (const chunk of process.stdin) agent.push(chunk as Uint8Array); // oxlint-disable-line typescript/no-unsafe-type-assertion
  return agent.close();
}

interface OpenSession {
  readonly session: AcpSession;
  readonly client: AcpClient;
  readonly conversation: ConversationFile;
  /** Resolves to the exit code when the script has ended. */
  readonly isPlayed: Promise<number>;
}

class AcpAgent {
  readonly #script: Script;
  readonly #keep: string | undefined;
  readonly #sessions = new Map<string, OpenSession>();
  readonly #connection: RpcConnection;
  #capabilities = readCapabilities({});
  #promptId: unknown;
  readonly #notePromptId: (chunk: Uint8Array) => void;

  constructor(script: Script, keep: string | undefined) {
    this.#script = script;
    this.#keep = keep;
    this.#connection = new RpcConnection({
      write: writeStdout,
      onRequest: async (method, params, signal) => this.#answer(method, params, signal),
      onNotification: (method, { sessionId }) => {
        if (method === 'session/cancel') this.#sessions.get(textOf(sessionId))?.session.cancel();
      },
    });
    // The connection does not expose request ids, but a hostile script may need this one.
    this.#notePromptId = splitLines((line) => {
      const { method, id } = fieldsInJson(line);
      if (method === 'session/prompt') this.#promptId = id;
    });
  }

  push(chunk: Uint8Array): void {
    this.#notePromptId(chunk);
    this.#connection.push(chunk);
  }

  /** Called when the client has closed the connection. */
  async close(): Promise<number> {
    for (const { session } of this.#sessions.values()) session.close();
    this.#connection.close();
    return Math.max(0, ...(await Promise.all([...this.#sessions.values()].map(async ({ isPlayed }) => isPlayed))));
  }

  async #answer(method: string, params: Fields, signal: AbortSignal): Promise<object> {
    switch (method) {
      case 'initialize':
        this.#capabilities = readCapabilities(params);
        return INITIALIZED;
      case 'authenticate':
        return {};
      case 'session/new':
        return this.#create(params);
      case 'session/load':
        return this.#load(params);
      case 'session/prompt':
        return this.#require(params).session.prompt(readText(params['prompt']), signal);
      case 'session/set_mode':
        return setMode(this.#require(params).session, params);
      case 'session/set_config_option':
        return setOption(this.#require(params).session, params);
      default:
        throw methodNotFound(method);
    }
  }

  #create(params: Fields): object {
    const sessionId = randomUUID();
    const conversation = new ConversationFile(this.#keep, sessionId, false);
    // Written at once, so that a session without a prompt can be loaded too.
    conversation.begin(0);
    const { session } = this.#open(sessionId, params, conversation);
    return { sessionId, ...sessionState(session) };
  }

  /** Sends the session's messages so far, then continues the session. */
  #load(params: Fields): object {
    const id = textOf(params['sessionId']);
    const { session, client, conversation } = this.#sessions.get(id) ?? this.#reopen(id, params);
    for (const { from, text } of conversation.now.messages)
      client.update({ sessionUpdate: `${from}_message_chunk`, content: textBlock(text) });
    return sessionState(session);
  }

  #reopen(id: string, params: Fields): OpenSession {
    const conversation = SESSION_ID.test(id) ? new ConversationFile(this.#keep, id, true) : undefined;
    if (conversation?.isFound !== true) throw notFound(id);
    return this.#open(id, params, conversation);
  }

  #open(id: string, { cwd }: Fields, conversation: ConversationFile): OpenSession {
    if (typeof cwd !== 'string' || !isAbsolute(cwd)) throw new RpcError(RPC.invalidParams, 'cwd must be absolute');
    const script = this.#script;
    const session = new AcpSession(id, cwd);
    const client = clientOf(this.#connection, id, {
      capabilities: this.#capabilities,
      write: writeStdout,
      promptId: () => this.#promptId,
    });
    const face = acpFace({ session, client, script, conversation });
    const agentId = process.env['BATON_AGENT_ID'] ?? id;
    const isPlayed = new ScriptPlayer({ script, agentId, face, conversation, isPrompted: true }).play();
    const open = { session, client, conversation, isPlayed };
    this.#sessions.set(id, open);
    return open;
  }

  #require({ sessionId }: Fields): OpenSession {
    const open = this.#sessions.get(textOf(sessionId));
    if (open === undefined) throw notFound(textOf(sessionId));
    return open;
  }
}

/** Restricted, because the id becomes part of a file name. */
const SESSION_ID = /^[\w-]{1,100}$/;

const INITIALIZED = {
  protocolVersion: ACP_VERSION,
  agentInfo: { name: 'baton-scripted', title: 'Scripted agent', version: VERSION },
  agentCapabilities: {
    loadSession: true,
    promptCapabilities: { image: false, audio: false, embeddedContext: true },
    mcpCapabilities: { http: true, sse: false },
  },
  authMethods: [{ id: 'none', name: 'No login is needed' }],
};

function notFound(id: string): RpcError {
  return new RpcError(RPC.notFound, `unknown session: ${id.slice(0, 100)}`);
}
