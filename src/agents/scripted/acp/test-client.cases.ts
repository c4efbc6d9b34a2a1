import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { methodNotFound, RpcConnection } from '../../../acp/connection.ts';
import { readText } from '../../../acp/messages.ts';
import { type Fields, fieldsOf, textOf } from '../../../protocol/shape/read-unknown.ts';
import { findPrograms } from '../../../supervisor/programs.ts';
import { PROGRAMS } from '../../../supervisor/scene.cases.ts';

interface StartOptions {
  readonly keep?: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly capabilities?: object;
  /** Answers the agent's requests. Without it they are refused. */
  readonly onRequest?: (method: string, params: Fields) => object | Promise<object>;
}

/** A client of a scripted agent that runs in its own process. */
export interface TestClient {
  readonly cwd: string;
  readonly child: ChildProcess;
  /** Updates of all sessions, in the order of arrival. */
  readonly updates: Fields[];
  /** Lines that were not a message, or a response without a request. */
  readonly invalid: (string | null)[];
  readonly methods: string[];
  request(method: string, params?: object): Promise<Fields>;
  notify(method: string, params: object): void;
  open(): Promise<string>;
  prompt(sessionId: string, text: string): Promise<Fields>;
  /** Resolves when an update matches. */
  seen(fits: (update: Fields) => boolean): Promise<void>;
  /** The texts that the agent sent. */
  said(): string[];
  /** Closes the connection and resolves to the agent's exit code. */
  leave(): Promise<number | null>;
}

export async function startAgent(
  script: string,
  { keep, env = {}, capabilities = {}, onRequest }: StartOptions = {},
): Promise<TestClient> {
  const { scripted } = await findPrograms(PROGRAMS);
  const cwd = newFolder();
  const file = join(newFolder(), 'script.yaml');
  writeFileSync(file, script);
  const kept = keep === undefined ? [] : ['--keep', keep];
  const child = spawn(process.execPath, [scripted, '--acp', ...kept, file], {
    cwd,
    env: { PATH: process.env['PATH'] ?? '', ...env },
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  const updates: Fields[] = [];
  const invalid: (string | null)[] = [];
  const methods: string[] = [];
  let onUpdate = (): void => {};
  const connection = new RpcConnection({
    write: (line) => child.stdin.write(line),
    onRequest: async (method, params) => {
      methods.push(method);
      if (onRequest === undefined) throw methodNotFound(method);
      return onRequest(method, params);
    },
    onNotification: (method, params) => {
      methods.push(method);
      if (method === 'session/update') updates.push(fieldsOf(params['update']));
      onUpdate();
    },
    onInvalid: (line) => void invalid.push(line),
  });
  child.stdin.on('error', () => {});
  child.stdout.on('data', connection.push).once('end', () => connection.close());
  const request = async (method: string, params = {}): Promise<Fields> =>
    fieldsOf(await connection.request(method, params));
  await request('initialize', { protocolVersion: 1, clientCapabilities: capabilities });
  return {
    cwd,
    child,
    updates,
    invalid,
    methods,
    request,
    notify: (method, params) => connection.notify(method, params),
    open: async () => textOf((await request('session/new', { cwd, mcpServers: [] }))['sessionId']),
    prompt: async (sessionId, text) => request('session/prompt', { sessionId, prompt: [{ type: 'text', text }] }),
    seen: async (fits) => {
      while (!updates.some(fits)) {
        await new Promise<void>((resolve) => {
          onUpdate = resolve;
        });
      }
    },
    said: () =>
      updates
        .filter(({ sessionUpdate }) => sessionUpdate === 'agent_message_chunk')
        .map(({ content }) => readText(content)),
    leave: async () => {
      child.stdin.end();
      if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
      return child.exitCode;
    },
  };
}

export function newFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'baton-acp-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  return folder;
}
