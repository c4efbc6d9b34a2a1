import type { ExitSignal } from './exit-signal-shape.ts';
import { parseExitSignal } from './exit-signal.ts';
import type { Parsed } from './shape/problem.ts';
import { problem, refused } from './shape/problem.ts';

/**
 * Whether exit signals count: what AGENT_EXIT_PROTOCOL_ENABLED says, and where it says nothing, what the project's
 * `exit_protocol` says. Anything that is not a clear yes is a no.
 */
export function exitProtocolEnabled(flag: string | undefined, project = false): boolean {
  if (flag === undefined || flag === '') return project;
  return ['true', '1', 'yes'].includes(flag.toLowerCase());
}

/** Check 0, then all of `parseExitSignal`. The flag is the environment variable's value, as it stands. */
export function parseExitSignalIfEnabled(
  input: unknown,
  flag: string | undefined,
  project = false,
): Parsed<ExitSignal> {
  if (exitProtocolEnabled(flag, project)) return parseExitSignal(input);
  const message = 'exit signal validation is disabled (AGENT_EXIT_PROTOCOL_ENABLED=false)';
  const hint = 'Set exit_protocol = true in baton.toml, or AGENT_EXIT_PROTOCOL_ENABLED=true where the daemon runs.';
  return refused(problem('exit-protocol-disabled', message, hint));
}
