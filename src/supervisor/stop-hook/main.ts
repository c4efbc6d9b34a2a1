import { readSync, writeSync } from 'node:fs';
import { askSupervisor } from './ask-supervisor.ts';

/** Twice what a client may tell its hook. */
const MAX_INPUT_BYTES = 8 * 1024 * 1024;

/**
 * `baton agent hook stop AGENT_ID`, and the hook before a tool (`--before-tool AGENT_ID`), for clients that can only run commands at their
 * hooks. The supervisor decides; if it does not answer, this decides by itself. Only the modules of the usual case are loaded: clients wait
 * for this at every stop.
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
    // Whatever went wrong here, letting the agent go would be worse. A tool only waits for budgets, and those need a supervisor.
    async () => leave(kind === 'stop' ? (await import('./ask-others.ts')).blockByConfig(agentId) : ''),
  );

/** Always with exit code 0: to some clients any other means that the agent may go. */
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

/** What cannot be read says nothing, and that counts as no flag at all. */
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
