import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { platform } from 'node:os';
import { describeError } from '../problems.ts';
import type { Io } from '../command.ts';

export type BrowserResult = { readonly ok: true } | { readonly ok: false; readonly reason: string };

/** Makes the desktop open an address. The browser outlives this command. */
export async function openBrowser(url: string, io: Pick<Io, 'env' | 'isTerminal'>): Promise<BrowserResult> {
  const plan = planBrowser(platform(), io);
  if (!plan.ok) return plan;
  try {
    const child = spawn(plan.program, [...plan.args, url], {
      env: { ...io.env },
      stdio: 'ignore',
      detached: true,
    });
    await once(child, 'spawn');
    child.unref();
    return { ok: true };
  } catch (error) {
    return { ok: false, reason: describeError(error) };
  }
}

type BrowserPlan =
  | { readonly ok: true; readonly program: string; readonly args: readonly string[] }
  | { readonly ok: false; readonly reason: string };

/** Returns the program that opens an address on this desktop, or why none is used. */
export function planBrowser(system: string, { env, isTerminal }: Pick<Io, 'env' | 'isTerminal'>): BrowserPlan {
  const isSet = (name: string): boolean => (env[name] ?? '') !== '';
  // A program that reads the address can open it itself.
  if (!isTerminal) return { ok: false, reason: 'the output is not a terminal' };
  if (isSet('CI')) return { ok: false, reason: 'CI is set' };
  // The user's own choice: an editor on a remote machine sets it to a program that opens the browser at home.
  const [program, ...args] = (env['BROWSER']?.split(':', 1)[0] ?? '').split(' ').filter((word) => word !== '');
  if (program !== undefined) return { ok: true, program, args: args.filter((word) => word !== '%s') };
  // The browser would open on the remote machine, or in a window that is forwarded slowly.
  if (isSet('SSH_CONNECTION') || isSet('SSH_TTY')) return { ok: false, reason: 'this is a session over SSH' };
  if (system === 'darwin') return { ok: true, program: 'open', args: [] };
  // `start` would split the address at each `&`.
  if (system === 'win32') return { ok: true, program: 'rundll32', args: ['url.dll,FileProtocolHandler'] };
  if (!isSet('DISPLAY') && !isSet('WAYLAND_DISPLAY')) return { ok: false, reason: 'there is no display' };
  return { ok: true, program: 'xdg-open', args: [] };
}
