import { fieldsOf } from '../protocol/shape/read-unknown.ts';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { UserSetup } from './adapter.ts';

/** Reads the user's setup, for adapters that carry a login over; undefined for other clients. */
export function readUserSetup(run: string, env: Readonly<Record<string, string | undefined>>): UserSetup | undefined {
  const home = env['HOME'] ?? '';
  if (run === 'claude') return readFolder(env['CLAUDE_CONFIG_DIR'] ?? join(home, '.claude'));
  if (run === 'gemini') return readFolder(join(env['GEMINI_CLI_HOME'] ?? home, '.gemini'));
  if (run === 'codex') return readCodex(env['CODEX_HOME'] ?? join(home, '.codex'));
  return undefined;
}

/** Only the names of the variables with the keys of providers and servers are needed. */
function readCodex(folder: string): UserSetup {
  const text = read(() => readFileSync(join(folder, 'config.toml'), 'utf8')) ?? '';
  const variables = [...text.matchAll(KEY_OF)].map(([, name = '']) => name);
  return { folder, entries: [], settings: {}, variables: [...new Set(variables)].slice(0, 20) };
}

const KEY_OF = /^\s*(?:env_key|bearer_token_env_var)\s*=\s*["']([A-Za-z_][A-Za-z0-9_]{0,127})["']/gm;

/** The folder may not exist, and a broken file is for the client to report. */
function readFolder(folder: string): UserSetup {
  return { folder, entries: read(() => readdirSync(folder)) ?? [], settings: readSettings(folder) };
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
