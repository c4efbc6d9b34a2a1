import { type ChildProcessByStdio, spawn } from 'node:child_process';
import type { Readable } from 'node:stream';
import { RPC, RpcError } from '../../../acp/connection.ts';
import { type Fields, listOf, objectsOf, textOf } from '../../../protocol/shape/read-unknown.ts';

interface ExitStatus {
  readonly exitCode: number | null;
  readonly signal: string | null;
}

interface Terminal {
  readonly child: ChildProcessByStdio<null, Readable, Readable>;
  readonly limit: number;
  output: string;
  isTruncated: boolean;
  exit: ExitStatus | null;
  readonly ended: Promise<ExitStatus>;
}

/** The `terminal/…` methods: commands that the agent lets its client run. They end with the session at the latest. */
export class ClientTerminals {
  readonly #terminals = new Map<string, Terminal>();
  readonly #cwd: string;
  #count = 0;

  constructor(cwd: string) {
    this.#cwd = cwd;
  }

  create({ command, args, env, cwd, outputByteLimit }: Fields): { readonly terminalId: string } {
    if (typeof command !== 'string' || command === '') throw new RpcError(RPC.invalidParams, 'command must be a text');
    if (this.#terminals.size >= MAX_TERMINALS)
      throw new RpcError(RPC.internalError, `more than ${MAX_TERMINALS} terminals: release those that have ended`);
    const limit = typeof outputByteLimit === 'number' ? Math.min(outputByteLimit, MAX_OUTPUT_BYTES) : MAX_OUTPUT_BYTES;
    const terminal = start(command, listOf(args).map(textOf), variablesIn(env), textOf(cwd) || this.#cwd, limit);
    const terminalId = `terminal-${(this.#count += 1)}`;
    this.#terminals.set(terminalId, terminal);
    return { terminalId };
  }

  output(params: Fields): object {
    const terminal = this.#require(params);
    cut(terminal);
    const { output, isTruncated, exit } = terminal;
    return { output, truncated: isTruncated, ...(exit === null ? {} : { exitStatus: exit }) };
  }

  async waitForExit(params: Fields): Promise<ExitStatus> {
    return this.#require(params).ended;
  }

  kill(params: Fields): object {
    killGroup(this.#require(params));
    return {};
  }

  release(params: Fields): object {
    const terminal = this.#require(params);
    killGroup(terminal);
    // A process that the command left behind may hold the pipes open.
    terminal.child.stdout.destroy();
    terminal.child.stderr.destroy();
    this.#terminals.delete(textOf(params['terminalId']));
    return {};
  }

  endAll(): void {
    for (const terminal of this.#terminals.values()) killGroup(terminal);
    this.#terminals.clear();
  }

  #require({ terminalId }: Fields): Terminal {
    const found = this.#terminals.get(textOf(terminalId));
    if (found === undefined)
      throw new RpcError(RPC.notFound, `there is no terminal ${textOf(terminalId).slice(0, 100)}`);
    return found;
  }
}

function start(
  command: string,
  args: readonly string[],
  env: Readonly<Record<string, string>>,
  cwd: string,
  limit: number,
): Terminal {
  // A command without arguments is a command line, because agents pass on what their model wrote.
  const [program, rest] = args.length === 0 ? ['/bin/sh', ['-c', command]] : [command, args];
  const child = spawn(program, rest, {
    cwd,
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
  });
  const terminal: Terminal = { child, limit, output: '', isTruncated: false, exit: null, ended: endOf(child) };
  void terminal.ended.then((exit) => {
    terminal.exit = exit;
  });
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (piece: string) => append(terminal, piece));
  return terminal;
}

async function endOf(child: Terminal['child']): Promise<ExitStatus> {
  return new Promise((resolve) => {
    child.once('error', () => resolve({ exitCode: 127, signal: null }));
    // The output is complete then, unless a leftover process holds the pipe open.
    child.once('exit', (exitCode, signal) => setImmediate(() => resolve({ exitCode, signal })));
  });
}

/** Cuts only at twice the limit, because each cut copies all kept output. */
function append(terminal: Terminal, piece: string): void {
  terminal.output += piece;
  if (terminal.output.length > 2 * MAX_OUTPUT_BYTES) cut(terminal);
}

/** Keeps the end of the output, cut at a character boundary. */
function cut(terminal: Terminal): void {
  const bytes = Buffer.from(terminal.output);
  if (bytes.length <= terminal.limit) return;
  terminal.isTruncated = true;
  let from = bytes.length - terminal.limit;
  while (from < bytes.length && ((bytes[from] ?? 0) & 0xc0) === 0x80) from += 1;
  terminal.output = bytes.subarray(from).toString('utf8');
}

function killGroup({ child, exit }: Terminal): void {
  if (child.pid === undefined || exit !== null) return;
  try {
    process.kill(-child.pid, 'SIGKILL');
  } catch {
    // The process has exited.
  }
}

function variablesIn(value: unknown): Readonly<Record<string, string>> {
  const pairs = objectsOf(value).map(({ name, value: text }) => [textOf(name), textOf(text)] as const);
  return Object.fromEntries(pairs.filter(([name]) => /^[A-Za-z_][A-Za-z0-9_]*$/.test(name)));
}

const MAX_TERMINALS = 32;
const MAX_OUTPUT_BYTES = 1024 * 1024;
