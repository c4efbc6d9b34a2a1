import { readSync, writeSync } from 'node:fs';
import { askSupervisor } from './ask-supervisor.ts';

/** Twice the largest input of a hook. */
const MAX_INPUT_BYTES = 8 * 1024 * 1024;

/**
 * `baton agent hook stop AGENT_ID`, and the hook before a tool (`--before-tool AGENT_ID`), for clients that have only
 * command hooks. The supervisor decides; if it does not answer, this program does. Clients wait for it at every stop,
 * so only the modules of the usual case are loaded.
 */
const agentId = process.argv.at(-1) ?? '';
const kind = process.argv.includes('--before-tool') ? 'pre-tool-use' : 'stop';
const input = readInput();
const { BATON_AGENT_ID: own, BATON_URL: url, BATON_TOKEN: token } = process.env;
const port = own === agentId ? /^http:\/\/127\.0\.0\.1:(\d+)$/.exec(url ?? '')?.[1] : undefined;
const asked =
  port === undefined || !token ? Promise.resolve(undefined) : askSupervisor(Number(port), token, input, kind);

asked
  .then(async (answer) => answer ?? (await import('./ask-others.ts')).askWithoutSupervisor(agentId, input, kind))
  .then(
    (answer) => leave(answer),
    // After an error, letting the agent stop would be worse than blocking it. A tool is held only for budgets, which
    // need a supervisor.
    async () => leave(kind === 'stop' ? (await import('./ask-others.ts')).blockByConfig(agentId) : ''),
  );

/** The exit code is always 0: some clients take any other as permission to stop. */
function leave(answer: string): never {
  for (let bytes = Buffer.from(answer); bytes.length > 0;) bytes = bytes.subarray(write(bytes));
  process.exit(0);
}

function write(bytes: Buffer): number {
  try {
    return writeSync(1, bytes);
  } catch (error) {
    return isAgain(error) ? 0 : bytes.length;
  }
}

/** Input that cannot be read counts as empty. */
function readInput(): Buffer {
  const pieces: Buffer[] = [];
  for (let bytes = 0; bytes <= MAX_INPUT_BYTES;) {
    const piece = Buffer.allocUnsafe(65_536);
    let read: number;
    try {
      read = readSync(0, piece);
    } catch (error) {
      if (!isAgain(error)) break;
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 2);
      continue;
    }
    if (read === 0) break;
    pieces.push(piece.subarray(0, read));
    bytes += read;
  }
  return Buffer.concat(pieces);
}

function isAgain(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'EAGAIN';
}
