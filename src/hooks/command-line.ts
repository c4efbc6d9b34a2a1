import { homedir } from 'node:os';
import { join } from 'node:path';
import { findStateDir } from '../api/state-folder.ts';
import { quoteForShell } from '../protocol/text/quote-for-shell.ts';
import { type ClientName, CLIENTS, type HookMachine, type HookOptions } from './client.ts';

export type HookMoment = 'start' | 'prompt' | 'stop' | 'end';

/** The command that a client runs at a hook. It contains no secret, since some clients quote it to the model. */
export function hookCommand(
  client: ClientName,
  moment: HookMoment,
  { claim, principal }: HookOptions,
  machine: HookMachine,
): string {
  const state = machine.namesStateDir ? [`BATON_STATE_DIR=${quoteForShell(machine.stateDir)}`] : [];
  const who = principal === undefined ? [] : ['--principal', principal];
  const options = moment === 'start' ? [...(claim ? ['--claim'] : []), ...who] : [];
  const words = [quoteForShell(machine.node), quoteForShell(machine.baton), 'hooks', 'run', client, moment, ...options];
  return [...state, ...words].join(' ');
}

/** Reports whether a command is a hook command of Baton, of any version and install path. */
export function isHookCommand(command: unknown): command is string {
  return typeof command === 'string' && HOOK_COMMAND.test(command);
}

const HOOK_COMMAND = new RegExp(`baton\\.cjs'? hooks run (?:${CLIENTS.join('|')}) (?:start|prompt|stop|end)\\b`);

export interface McpServer {
  readonly command: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
}

/**
 * `baton mcp` as an entry of a client's settings. The variable marks Baton's entry: users may add such servers
 * themselves.
 */
export function mcpServer(client: ClientName, { principal }: HookOptions, machine: HookMachine): McpServer {
  const { node, baton, stateDir, namesStateDir } = machine;
  const env = { [MCP_MARK]: client, ...(namesStateDir ? { BATON_STATE_DIR: stateDir } : {}) };
  return { command: node, args: [baton, 'mcp', ...(principal === undefined ? [] : ['--principal', principal])], env };
}

export function isOwnMcpServer(value: unknown): boolean {
  if (typeof value !== 'object' || value === null || !('env' in value)) return false;
  const { env } = value;
  return typeof env === 'object' && env !== null && MCP_MARK in env;
}

const MCP_MARK = 'BATON_HOOKS';

export function findMachine(env: HookMachine['env']): HookMachine {
  const home = env['HOME'] || homedir();
  const stateDir = findStateDir(env);
  // Clients filter their servers' environment and users run several shells, so a non-default state folder must be
  // named.
  const namesStateDir = stateDir !== findStateDir({ HOME: home });
  return { env, home, stateDir, namesStateDir, node: process.execPath, baton: BATON };
}

const BATON = join(import.meta.dirname, '..', '..', 'bin', 'baton.cjs');
