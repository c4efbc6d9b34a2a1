import type { Launch } from '../contract.ts';
import { BUDGET_REASON } from './holds.ts';

export interface ToolDenial {
  readonly answer: object;
  /** The client cannot be made to end its turn by an answer: its process is ended before it is answered. */
  readonly endsProcess: boolean;
}

/** Refuses a tool and ends the turn, in the words of each client. */
export function denyTool(output: Launch['output']): ToolDenial {
  if (output === 'gemini')
    return { answer: { continue: false, stopReason: BUDGET_REASON, ...BLOCK }, endsProcess: false };
  // Codex takes an answer with `continue` for a broken hook, and runs the tool; without it, the model is asked again.
  if (output === 'codex') return { answer: { hookSpecificOutput: DENY }, endsProcess: true };
  // `continue` alone would still let Claude Code run the tool.
  return { answer: { continue: false, stopReason: BUDGET_REASON, hookSpecificOutput: DENY }, endsProcess: false };
}

const BLOCK = { decision: 'deny', reason: BUDGET_REASON } as const;
const DENY = {
  hookEventName: 'PreToolUse',
  permissionDecision: 'deny',
  permissionDecisionReason: BUDGET_REASON,
} as const;
