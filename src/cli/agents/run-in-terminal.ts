import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { readProcStat } from '../../api/processes.ts';
import type { TerminalLaunch } from '../../supervisor/process/terminal.ts';

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
