import type { AgentContext } from './adapter.ts';
import { shellQuote } from './shell-quote.ts';

/** The stop hook as one line for a shell, for clients that can only run commands at their hooks. No secret is in it. */
export function stopHookCommand({ programs, agentId }: Pick<AgentContext, 'programs' | 'agentId'>): string {
  return [process.execPath, programs.stopHook, agentId].map(shellQuote).join(' ');
}
