import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { join } from 'node:path';
import { claudeHooks, geminiHooks } from './clients.ts';
import { codexHooks } from './codex.ts';
import { findMachine } from './command-line.ts';
import { installHooks } from './install.ts';

/**
 * Installs for all clients and sends itself a signal before the `n`-th change of the disk. Reports an install that
 * finished nevertheless.
 */
export function installAndDie(home: string, n: number, signal: NodeJS.Signals = 'SIGKILL'): void {
  dieBefore(n, signal);
  const machine = findMachine({ HOME: home, BATON_STATE_DIR: join(home, 'state') });
  const wanted = { scope: { kind: 'user' }, options: { onStop: 'signal', claim: false }, machine } as const;
  for (const client of [claudeHooks, codexHooks, geminiHooks]) installHooks(client, wanted);
  process.stdout.write('installed');
}

/** Every `node:fs` function that changes a file, a link or a folder. */
const CHANGES = ['linkSync', 'mkdirSync', 'renameSync', 'rmdirSync', 'rmSync', 'writeFileSync', 'writeSync'] as const;

function dieBefore(n: number, signal: NodeJS.Signals): void {
  let count = 0;
  for (const name of CHANGES) {
    const real = fs[name];
    Reflect.set(fs, name, (...args: unknown[]): unknown => {
      count += 1;
      if (count === n) process.kill(process.pid, signal);
      return Reflect.apply(real, fs, args);
    });
  }
  syncBuiltinESMExports();
}
