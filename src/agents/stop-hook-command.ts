import type { AgentContext } from './adapter.ts';
import { shellQuote } from './shell-quote.ts';

/** The stop hook as one line for a shell, for clients that can only run commands at their hooks. No secret is in it. */
export function stopHookCommand({ programs, agentId }: Pick<AgentContext, 'programs' | 'agentId'>): string {
  return [process.execPath, programs.stopHook, agentId].map(shellQuote).join(' ');
}

/** The hook before each tool, which is held while a budget is used up. */
export function toolHookCommand({ programs, agentId }: Pick<AgentContext, 'programs' | 'agentId'>): string {
  return [process.execPath, programs.stopHook, '--before-tool', agentId].map(shellQuote).join(' ');
}

/** Of command hooks, in seconds. */
export const HOOK_TIMEOUT_S = 600;

/** A tool is held no longer than the client waits for its hook, less the time to end its turn. */
export const HOLD_MS = (HOOK_TIMEOUT_S - 10) * 1000;
