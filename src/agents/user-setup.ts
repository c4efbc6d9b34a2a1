import { fieldsOf } from '../protocol/shape/read-unknown.ts';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Environment } from '../protocol/environment.ts';
import type { Adapter, UserSetup } from './adapter.ts';
import { findAdapter } from './prepare-agent.ts';

/** Reads the user's setup of the client; undefined for agents that do not use the user's login. */
export function readUserSetup(run: string, env: Environment): UserSetup | undefined {
  const adapter = findAdapter(run);
  const folder = adapter?.settingsFolder?.(env);
  if (folder === undefined) return undefined;
  // The folder may not exist. A broken file is reported by the client itself.
  return {
    folder,
    entries: read(() => readdirSync(folder)) ?? [],
    settings: readSettings(folder),
    ...readProviders(folder, adapter?.providersFile),
  };
}

/** Reads only the API addresses and the names of the variables that hold keys. */
function readProviders(folder: string, file: Adapter['providersFile']): Pick<UserSetup, 'variables' | 'urls'> {
  if (file === undefined) return {};
  const text = read(() => readFileSync(join(folder, file.name), 'utf8')) ?? '';
  const find = (pattern: RegExp | undefined): readonly string[] =>
    pattern === undefined ? [] : [...new Set([...text.matchAll(pattern)].map(([, found = '']) => found))].slice(0, 20);
  return { variables: find(file.variable), urls: find(file.url) };
}

function readSettings(folder: string): UserSetup['settings'] {
  const value: unknown = read(() => JSON.parse(readFileSync(join(folder, 'settings.json'), 'utf8')) as unknown);
  return fieldsOf(value);
}

function read<T>(what: () => T): T | undefined {
  try {
    return what();
  } catch {
    return undefined;
  }
}
