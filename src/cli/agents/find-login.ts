import { existsSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { findAdapter } from '../../agents/prepare-agent.ts';
import { readFileIfPresent } from '../../api/files.ts';
import type { Environment } from '../../protocol/environment.ts';
import { fieldsInJson } from '../../protocol/shape/read-unknown.ts';

/** Finds where a login is stored, without reading or trying it. */
export function findLogin(run: string, env: Environment, cwd: string): string | null {
  const adapter = findAdapter(run);
  const variables = adapter?.variables?.(env, undefined) ?? [];
  const variable = Object.keys(env).find((name) => isKey(name) && env[name] !== '' && isNamed(name, variables));
  if (variable !== undefined) return variable;
  const { copied = [] } = adapter?.clientFiles?.(env, cwd) ?? {};
  const file = copied.find(({ path, isCredential }) => isCredential === true && existsSync(path));
  if (file !== undefined) return withTilde(file.path, env);
  return run === 'claude' ? findClaudeAccount(env) : null;
}

/** On macOS, Claude Code keeps its login in the keychain and its account in this file. */
function findClaudeAccount(env: Environment): string | null {
  const path = join(env['CLAUDE_CONFIG_DIR'] ?? env['HOME'] ?? homedir(), '.claude.json');
  return 'oauthAccount' in fieldsInJson(readFileIfPresent(path)) ? withTilde(path, env) : null;
}

function isKey(name: string): boolean {
  return /_(?:API_KEY|AUTH_TOKEN|OAUTH_TOKEN|TOKEN|USE_BEDROCK|USE_VERTEX|USE_FOUNDRY)$/.test(name);
}

function isNamed(name: string, patterns: readonly string[]): boolean {
  return patterns.some((each) => (each.endsWith('*') ? name.startsWith(each.slice(0, -1)) : name === each));
}

function withTilde(path: string, env: Environment): string {
  const home = env['HOME'] ?? '';
  return home !== '' && path.startsWith(`${home}/`) ? `~${path.slice(home.length)}` : path;
}
