import { existsSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { listClients } from '../../agents/capabilities/clients.ts';
import { findAdapter } from '../../agents/prepare-agent.ts';
import { readFileIfPresent } from '../../api/files.ts';
import type { Environment } from '../../protocol/environment.ts';
import { fieldsInJson } from '../../protocol/shape/read-unknown.ts';
import { findClients, type FoundClient } from '../agents/clients.ts';

/** Who plays the roles of the workflow. */
export interface AgentChoice {
  /** As a runbook writes it. */
  readonly run: string;
  readonly title: string;
  /** What its budgets can be counted in. */
  readonly budget: 'cost' | 'tokens' | 'time';
}

/** A client on this machine. */
export interface InstalledAgent extends AgentChoice {
  readonly program: string;
  /** Null if the program does not report one. */
  readonly version: string | null;
  /** The file or the variable that shows a login; null if none was found. */
  readonly login: string | null;
}

/** Plays the roles from files that come with Baton, without a model. */
export const SCRIPTED: AgentChoice = { run: 'scripted', title: 'scripted agents', budget: 'cost' };

/** The clients on the PATH, those with a login first. Runs only `PROGRAM --version`. */
export async function findInstalledAgents(env: Environment, top: string): Promise<readonly InstalledAgent[]> {
  const programs = new Set<string>();
  const clients = listClients().filter(({ program }) => {
    // Gemini CLI is two clients: the adapter comes first, and is the better one.
    const isNew = program !== null && !programs.has(program);
    if (isNew) programs.add(program);
    return isNew;
  });
  const found = await findClients(clients, env);
  const installed = found.filter(({ version }) => version !== null && version.kind !== 'missing');
  return sortByLogin(installed.map((client) => describe(client, findLogin(client.run, env, top))));
}

function describe(client: FoundClient, login: string | null): InstalledAgent {
  const { run, title, program, version } = client;
  const number = version?.kind === 'found' ? version.version : null;
  return { ...choiceOf(client), run, title, program: program ?? run, version: number, login };
}

/** The client of this name, installed or not; undefined if Baton knows none. */
export function findChoice(run: string): AgentChoice | undefined {
  if (run === SCRIPTED.run) return SCRIPTED;
  const client = listClients().find((each) => each.run === run && each.program !== null);
  return client === undefined ? undefined : choiceOf(client);
}

function choiceOf({ run, title, capabilities }: Pick<FoundClient, 'run' | 'title' | 'capabilities'>): AgentChoice {
  const { usage, cost } = capabilities;
  return { run, title, budget: usage === 'none' ? 'time' : cost === 'reported' ? 'cost' : 'tokens' };
}

export function sortByLogin(agents: readonly InstalledAgent[]): readonly InstalledAgent[] {
  return agents.toSorted((a, b) => Number(a.login === null) - Number(b.login === null));
}

/** Only whether a login is there: it is neither read nor tried. */
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

/** On macOS the login of Claude Code is in the keychain, and its account in this file. */
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
