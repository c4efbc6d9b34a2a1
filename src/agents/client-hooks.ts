import { MOST_CHECK_MS } from '../protocol/handoff/judge.ts';
import { quoteForShell } from '../protocol/text/quote-for-shell.ts';
import type { AgentContext } from './adapter.ts';

/** The hooks of one run, in the format of Claude Code's settings. A project's settings cannot switch them off. */
export interface ClaudeSettings {
  readonly disableAllHooks: false;
  readonly hooks: Readonly<Record<string, readonly { readonly hooks: readonly HttpHook[] }[]>>;
  /** The login part of the user's settings. */
  readonly [name: string]: unknown;
}

export interface HttpHook {
  readonly type: 'http';
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly allowedEnvVars: readonly string[];
  /** In seconds; 600 by default. */
  readonly timeout?: number;
}

/**
 * Hooks over HTTP take half a millisecond and no process. They contain no secret, because clients quote hooks to the
 * model; the token is a variable.
 */
export function claudeSettings(): ClaudeSettings {
  const hooks = Object.entries(EVENTS).map(([event, path]) => [event, [{ hooks: [httpHook(path)] }]] as const);
  return { disableAllHooks: false, hooks: { ...Object.fromEntries(hooks), PreToolUse: [BEFORE_TOOLS] } };
}

const EVENTS = {
  Stop: 'stop',
  StopFailure: 'stop-failure',
  Notification: 'notification',
  PostToolUse: 'post-tool-use',
} as const;

/** The tool is held while a budget is exhausted. The supervisor answers long before the client's timeout. */
const BEFORE_TOOLS = { hooks: [{ ...httpHook('pre-tool-use'), timeout: 600 }] };

export function httpHook(path: string): HttpHook {
  return {
    type: 'http',
    url: `\${BATON_URL}/hook/${path}`,
    headers: { authorization: 'Bearer $BATON_TOKEN' },
    allowedEnvVars: ['BATON_TOKEN'],
  };
}

/** The stop hook as a shell command, for clients that only have command hooks. Contains no secret. */
export function stopHookCommand({ programs, agentId }: Pick<AgentContext, 'programs' | 'agentId'>): string {
  return [process.execPath, programs.stopHook, agentId].map(quoteForShell).join(' ');
}

/** The hook before each tool, held while a budget is exhausted. */
export function toolHookCommand({ programs, agentId }: Pick<AgentContext, 'programs' | 'agentId'>): string {
  return [process.execPath, programs.stopHook, '--before-tool', agentId].map(quoteForShell).join(' ');
}

export function hookCommands(context: Pick<AgentContext, 'programs' | 'agentId'>): readonly string[] {
  return [stopHookCommand(context), toolHookCommand(context)];
}

/** How long a client waits for one of Baton's tools: longer than the longest, which runs the project's checks. */
export const TOOL_TIMEOUT_S = MOST_CHECK_MS / 1000 + 60;
export const HOOK_TIMEOUT_S = 600;
/** How long a tool can be held: the client's hook timeout, less the time to end its turn. */
export const HOLD_MS = (HOOK_TIMEOUT_S - 10) * 1000;
