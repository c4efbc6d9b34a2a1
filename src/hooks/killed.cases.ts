import { join } from 'node:path';
import { claude } from './claude.ts';
import { codex } from './codex.ts';
import { gemini } from './gemini.ts';
import { installHooks, uninstallHooks } from './install.ts';
import { findMachine } from './machine.ts';

/** Installs and uninstalls until it is killed. */
export function installForEver(home: string): never {
  const machine = findMachine({ HOME: home, BATON_STATE_DIR: join(home, 'state') });
  const wanted = { scope: { kind: 'user' }, options: { onStop: 'signal', claim: false }, machine } as const;
  process.stdout.write('.');
  for (;;) {
    for (const client of [claude, codex, gemini]) installHooks(client, wanted);
    for (const client of [claude, codex, gemini]) uninstallHooks(client, wanted);
  }
}
