import { readdirSync, readFileSync } from 'node:fs';
import { connect } from 'node:net';
import type { agentFiles, HookConfig } from '../contract.ts';

/** What the supervisor answers, as the client wants to read it; undefined where it does not answer. */
export async function askSupervisor(
  agentId: string,
  files: ReturnType<typeof agentFiles>,
  { start = newestStart(files.folder) }: HookConfig,
  input: Uint8Array,
): Promise<string | undefined> {
  const port = portOf(agentId) ?? numberIn(files.running(start), 'port');
  const token = process.env['BATON_TOKEN'] || textIn(files.launch(start), 'agent_token');
  if (port === undefined || token === undefined) return undefined;
  const answer = await post(port, token, input);
  return answer === undefined ? undefined : decisionIn(answer);
}

/** An agent's own hook has it in its environment. */
function portOf(agentId: string): number | undefined {
  const { BATON_AGENT_ID: own, BATON_URL: url } = process.env;
  const port = own === agentId ? /^http:\/\/127\.0\.0\.1:(\d+)$/.exec(url ?? '')?.[1] : undefined;
  return port === undefined ? undefined : Number(port);
}

/** For a folder whose config is lost. */
function newestStart(folder: string): number {
  try {
    const starts = readdirSync(folder).map((name) => Number(/^running-(\d+)\.json$/.exec(name)?.[1] ?? 0));
    return Math.max(0, ...starts);
  } catch {
    return 0;
  }
}

/** As much HTTP as this one exchange needs: the connection ends with the answer. */
async function post(port: number, token: string, input: Uint8Array): Promise<string | undefined> {
  return new Promise((resolve) => {
    const socket = connect({ port, host: '127.0.0.1' });
    const pieces: Buffer[] = [];
    socket.setTimeout(ANSWER_MS, () => socket.destroy());
    socket.on('data', (piece: Buffer) => pieces.push(piece));
    socket.on('error', () => {});
    socket.once('close', () => resolve(bodyIn(Buffer.concat(pieces).toString('utf8'))));
    socket.write(
      `POST /hook/stop HTTP/1.1\r\nhost: 127.0.0.1\r\nauthorization: Bearer ${token}\r\nconnection: close\r\ncontent-length: ${input.length}\r\n\r\n`,
    );
    socket.write(input);
  });
}

/** The supervisor itself waits for the daemon, twice at most, and for a stop before this one. */
const ANSWER_MS = 20_000;

function bodyIn(answer: string): string | undefined {
  const end = answer.indexOf('\r\n\r\n');
  return end > 0 && answer.startsWith('HTTP/1.1 200 ') ? answer.slice(end + 4) : undefined;
}

/** `{}` lets it stop, and so does an empty answer to the client. */
function decisionIn(body: string): string | undefined {
  try {
    const answer: unknown = JSON.parse(body);
    if (typeof answer !== 'object' || answer === null) return undefined;
    return 'decision' in answer ? body : '';
  } catch {
    return undefined;
  }
}

function numberIn(path: string, name: string): number | undefined {
  const value = fieldIn(path, name);
  return typeof value === 'number' ? value : undefined;
}

/** A client may keep its environment from its hooks. */
function textIn(path: string, name: string): string | undefined {
  const value = fieldIn(path, name);
  return typeof value === 'string' ? value : undefined;
}

function fieldIn(path: string, name: string): unknown {
  try {
    const fields: Record<string, unknown> = { ...JSON.parse(readFileSync(path, 'utf8')) };
    return fields[name];
  } catch {
    return undefined;
  }
}
