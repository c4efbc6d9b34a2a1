import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { type ClientRequest, type IncomingMessage, request } from 'node:http';
import { createInterface } from 'node:readline';
import { readProcStat } from '../../api/processes.ts';
import { type Fields, fieldsInJson, fieldsOf, numberOf, textOf } from '../../protocol/shape/read-unknown.ts';
import { filesIn } from '../../supervisor/contract.ts';
import type { TerminalLaunch } from '../../supervisor/process/terminal.ts';

/** The line to the supervisor of a process that is to run in this terminal: it knows that we are here as long as it is open. */
export interface TerminalConnection {
  readonly launch: TerminalLaunch;
  /** The other end is gone: nobody looks after the client any more. */
  readonly broken: Promise<void>;
  /** The client has ended. Resolves when Baton has the conversation back. */
  leave(code: number | null): Promise<void>;
}

export type OpenedTerminal =
  | { readonly ok: true; readonly line: TerminalConnection }
  | { readonly ok: false; readonly reason: string };

/** Says who is here, and hears what to run. Where the supervisor is to be found lies in the agent's folder, which is ours alone. */
export async function openTerminalConnection(
  { folder, start }: { readonly folder: string; readonly start: number },
  who: { readonly by: string; readonly env: Readonly<Record<string, string>> },
): Promise<OpenedTerminal> {
  const files = filesIn(folder);
  const port = numberOf(readJson(files.running(start))['port']);
  const token = textOf(readJson(files.launch(start))['token']);
  const sent = request({
    host: '127.0.0.1',
    port,
    method: 'POST',
    path: '/terminal',
    agent: false,
    headers: headers(token),
  });
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
  const said = fieldsInJson(first?.done === true ? '' : (first?.value ?? ''));
  if (response.statusCode !== 200)
    return { ok: false, reason: textOf(fieldsOf(said['error'])['message']) || 'the supervisor does not answer' };
  const argv = Array.isArray(said['argv']) ? said['argv'].map(String) : [];
  const env = Object.fromEntries(Object.entries(fieldsOf(said['env'])).map(([name, value]) => [name, textOf(value)]));
  response.resume();
  return {
    ok: true,
    line: {
      launch: { argv, cwd: textOf(said['cwd']), env },
      broken,
      leave: async (code) => {
        sent.end(`${JSON.stringify({ left: { code } })}\n`);
        await broken;
      },
    },
  };
}

function headers(token: string): Record<string, string> {
  return { authorization: `Bearer ${token}`, 'content-type': 'application/x-ndjson' };
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

/**
 * Runs a client in this terminal, as a shell would: it has our standard streams and is in our process group, so that keys reach it and not
 * us. Ends it where `broken` says that nobody looks after it any more. Leaves the terminal as it was found.
 */
export async function runInTerminal({ argv, cwd, env }: TerminalLaunch, broken: Promise<void>): Promise<RanInTerminal> {
  const [program = '', ...args] = argv;
  const before = stty('-g');
  // Ctrl-C and Ctrl-\ are the client's, whatever it makes of them.
  const ignored = (['SIGINT', 'SIGQUIT'] as const).map((name) => [name, (): void => {}] as const);
  for (const [name, ignore] of ignored) process.on(name, ignore);
  const child = spawn(program, args, { cwd, env: { ...env }, stdio: 'inherit' });
  const pausing = setInterval(() => suspendWith(child), PAUSE_LOOK_MS);
  void broken.then(() => child.kill('SIGTERM'));
  const ended = await new Promise<RanInTerminal>((resolve) => {
    child.once('error', ({ message }) => resolve({ ok: false, reason: message }));
    child.once('exit', (code, signal) => resolve({ ok: true, code, signal }));
  });
  clearInterval(pausing);
  for (const [name, ignore] of ignored) process.off(name, ignore);
  if (before !== '') stty(before);
  return ended;
}

/** There is no event for it. */
const PAUSE_LOOK_MS = 300;

/** A client that was put to sleep (Ctrl-Z) leaves the terminal to the shell only when we sleep too. The shell wakes both. */
function suspendWith({ pid }: ChildProcess): void {
  if (pid !== undefined && readProcStat(pid)?.state === 'T') process.kill(process.pid, 'SIGSTOP');
}

/** How the terminal is set; with an argument, sets it. */
function stty(how: string): string {
  return spawnSync('stty', [how], { stdio: ['inherit', 'pipe', 'ignore'], encoding: 'utf8' }).stdout?.trim() ?? '';
}
