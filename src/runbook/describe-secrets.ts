import { findClientOfSecret, secretClientOf } from '../protocol/sandbox.ts';
import { MODEL_CLIENT_NAMES } from '../protocol/run-plan.ts';
import { withLibrary } from './library.ts';
import { isShellAgent } from './plan.ts';
import type { Runbook } from './runbook.ts';

/**
 * Describes what is valid but may surprise: agents that cannot use an injected secret, and secrets that no agent uses.
 */
export function describeSecrets(runbook: Runbook): readonly string[] {
  const names = [...runbook.secrets.keys()];
  if (names.length === 0) return [];
  const clients = new Set([...withLibrary(runbook).agents.values()].map(({ run }) => secretClientOf(run)));
  const unused = names.filter((name) => !clients.has(findClientOfSecret(name) ?? ''));
  const unable = [...runbook.agents.values()].filter(isShellAgent);
  return [
    ...unused.map((name) => `no agent uses the injected secret ${name}: it is for ${findClientOfSecret(name) ?? ''}`),
    ...unable.map(
      ({ name }) =>
        `agent ${name} cannot use injected secrets: Baton knows no base URL setting for its command, only for ${MODEL_CLIENT_NAMES.join(', ')}`,
    ),
  ];
}
