import { readFileSync } from 'node:fs';
import type { Launch } from './contract.ts';

/** What to run, as the daemon wrote it down. Throws where it is missing or no launch: then nothing has been started. */
export function requireLaunch(path: string): Launch {
  const launch: unknown = JSON.parse(readFileSync(path, 'utf8'));
  if (!isLaunch(launch)) throw new Error(`${path} is not a launch that this Baton knows`);
  return launch;
}

/** The daemon wrote it, of the same version or a neighbour; this is about a file that is something else. */
function isLaunch(value: unknown): value is Launch {
  if (typeof value !== 'object' || value === null) return false;
  const { v, kind, id, argv, cwd, env, token, agent_token, state_dir }: Partial<Record<keyof Launch, unknown>> = value;
  const texts = [id, cwd, token, agent_token, state_dir];
  const isCommandLine = Array.isArray(argv) && argv.length > 0 && argv.every((word) => typeof word === 'string');
  const hasKind = kind === 'agent' || kind === 'command';
  return (
    v === 1 && hasKind && isCommandLine && typeof env === 'object' && texts.every((text) => typeof text === 'string')
  );
}
