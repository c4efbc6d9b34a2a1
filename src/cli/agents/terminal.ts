import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { type ClientRequest, type IncomingMessage, request } from 'node:http';
import { createInterface } from 'node:readline';
import { readProcStat } from '../../api/processes.ts';
import { type Fields, fieldsInJson, fieldsOf, numberOf, textOf } from '../../protocol/shape/read-unknown.ts';
import { filesIn } from '../../supervisor/contract.ts';
import { processesInside } from '../../sandbox/bubblewrap/processes-inside.ts';
import type { TerminalLaunch } from '../../supervisor/process/terminal.ts';

/** The connection to the supervisor of a client that runs in this terminal. The supervisor waits while it is open. */
interface TerminalConnection {
  readonly launch: TerminalLaunch;
  /** Resolves when the connection closes. Without it no supervisor watches the client. */
  readonly broken: Promise<void>;
  /** Reports the client's exit. Resolves when Baton has taken over the conversation. */
  leave(code: number | null): Promise<void>;
}

export type OpenedTerminal =
  | { readonly ok: true; readonly line: TerminalConnection }
  | { readonly ok: false; readonly reason: string };

/** Sends who attaches, and receives the command. The supervisor's port and token are in the agent's private folder. */
export async function openTerminalConnection(
  { folder, start }: { readonly folder: string; readonly start: number },
  who: { readonly by: string; readonly env: Readonly<Record<string, string>> },
): Promise<OpenedTerminal> {
  const files = filesIn(folder);
  const port = numberOf(readJson(files.running(start))['port']);
  const token = textOf(readJson(files.launch(start))['token']);
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/x-ndjson' };
  const sent = request({ host: '127.0.0.1', port, method: 'POST', path: '/terminal', agent: false, headers });
  sent.write(`${JSON.stringify(who)}\n`);
  const response = await new Promise<IncomingMessage | Error>((resolve) => {
    sent.once('response', resolve);
    sent.on('error', resolve);
  });
  if (response instanceof Error) return { ok: false, reason: response.message };
  return waitForUpgrade(sent, response);
}

async function waitForUpgrade(sent: ClientRequest, response: IncomingMessage): Promise<OpenedTerminal> {
  const broken = new Promise<void>((resolve) => response.once('close', resolve));
  const lines = createInterface({ input: response })[Symbol.asyncIterator]();
  const first = await lines.next().catch(() => undefined);
  const reply = fieldsInJson(first?.done === true ? '' : (first?.value ?? ''));
  if (response.statusCode !== 200)
    return { ok: false, reason: textOf(fieldsOf(reply['error'])['message']) || 'the supervisor does not answer' };
  const argv = Array.isArray(reply['argv']) ? reply['argv'].map(String) : [];
  const env = Object.fromEntries(Object.entries(fieldsOf(reply['env'])).map(([name, value]) => [name, textOf(value)]));
  response.resume();
  return {
    ok: true,
    line: {
      launch: { argv, cwd: textOf(reply['cwd']), env },
      broken,
      leave: async (code) => {
        sent.end(`${JSON.stringify({ left: { code } })}\n`);
        await broken;
      },
    },
  };
}

function readJson(path: string): Fields {
  try {
    return fieldsInJson(readFileSync(path, 'utf8'));
  } catch {
    return {};
  }
}

export type RanInTerminal =
  | { readonly ok: true; readonly code: number | null; readonly signal: string | null }
  | { readonly ok: false; readonly reason: string };

/** Runs a client like a shell, in this process group, and ends it when `broken` resolves. Restores the terminal. */
export async function runInTerminal({ argv, cwd, env }: TerminalLaunch, broken: Promise<void>): Promise<RanInTerminal> {
  const [program = '', ...args] = argv;
  const before = stty('-g');
  // Ignored here, because the client handles Ctrl-C and Ctrl-\.
  const ignored = (['SIGINT', 'SIGQUIT'] as const).map((name) => [name, (): void => {}] as const);
  for (const [name, ignore] of ignored) process.on(name, ignore);
  const child = spawn(program, args, { cwd, env: { ...env }, stdio: 'inherit' });
  let inside: number | undefined;
  const pausing = setInterval(() => {
    inside ??= findInside(child);
    suspendWith(inside ?? child.pid);
  }, PAUSE_POLL_MS);
  // Signals the client itself, because ending the sandbox would kill it at once.
  void broken.then(() => endProcess(inside) || child.kill('SIGTERM'));
  const ended = await new Promise<RanInTerminal>((resolve) => {
    child.once('error', ({ message }) => resolve({ ok: false, reason: message }));
    child.once('exit', (code, signal) => resolve({ ok: true, code, signal }));
  });
  clearInterval(pausing);
  for (const [name, ignore] of ignored) process.off(name, ignore);
  if (before !== '') stty(before);
  return ended;
}

/** No event reports a stopped child, so it is polled. */
const PAUSE_POLL_MS = 300;

/** After Ctrl-Z the shell takes the terminal back only if this process stops too. The shell resumes both. */
function suspendWith(pid: number | undefined): void {
  if (pid !== undefined && readProcStat(pid)?.state === 'T') process.kill(process.pid, 'SIGSTOP');
}

/** Finds the client inside the sandbox: if it stops itself, the sandbox process does not stop. */
function findInside({ pid }: ChildProcess): number | undefined {
  const isSandbox = pid !== undefined && readProcStat(pid)?.program === 'bwrap';
  return isSandbox ? processesInside(pid)[0] : undefined;
}

function endProcess(pid: number | undefined): boolean {
  try {
    return pid !== undefined && process.kill(pid, 'SIGTERM');
  } catch {
    return false;
  }
}

/** `-g` returns the settings; other arguments set them. */
function stty(how: string): string {
  return spawnSync('stty', [how], { stdio: ['inherit', 'pipe', 'ignore'], encoding: 'utf8' }).stdout?.trim() ?? '';
}
