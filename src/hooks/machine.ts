import { homedir } from 'node:os';
import { join } from 'node:path';
import { findStateDir } from '../api/state-folder.ts';
import type { HookMachine } from './client.ts';

/** Where things are for whoever runs this command. */
export function findMachine(env: HookMachine['env']): HookMachine {
  const home = env['HOME'] || homedir();
  const stateDir = findStateDir(env);
  // Clients keep variables from their servers, and people start them from other shells: what is not the default is written down.
  const namesStateDir = stateDir !== findStateDir({ HOME: home });
  return { env, home, stateDir, namesStateDir, node: process.execPath, baton: BATON };
}

const BATON = join(import.meta.dirname, '..', '..', 'bin', 'baton.cjs');
