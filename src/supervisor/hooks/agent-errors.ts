import { AGENT_ERRORS, type AgentError } from '../../protocol/run-plan.ts';
import { CLAUDE_ERRORS } from '../../streams/claude.ts';

/**
 * Which of the four kinds an API error is, by the client's own code for it, compared as a whole: whatever else a text holds, such as a
 * number that looks like a status, says nothing. A code that nobody knows counts as: the model cannot be reached.
 */
export function classifyAgentError(code: unknown): AgentError {
  const known = AGENT_ERRORS.find((each) => each === code);
  return known ?? (typeof code === 'string' ? CLAUDE_ERRORS.get(code) : undefined) ?? 'no_internet';
}

/** When a limit is lifted, as RFC 3339, where a field says so. */
export function parseResetTime(field: unknown): string | null {
  return typeof field === 'string' && !Number.isNaN(Date.parse(field)) ? new Date(field).toISOString() : null;
}
