import { posix } from 'node:path';
import type { Prompts } from './gate-fields.ts';
import type { Protection } from './protected-paths.ts';
import type { Runbook } from '../runbook.ts';
import { findWorkerReach } from './worker-agents.ts';

/** What a runbook protects: its own patterns, and the prompts and scripts of the repository that workers give to agents. */
export function buildProtection(runbook: Runbook, prompts: Prompts): Protection {
  const agents = [...findWorkerReach(runbook).agents.values()];
  const named = agents.flatMap(({ prompt_file: file = '', run }) => [file, SCRIPTED.exec(run)?.[1] ?? '']);
  const inUse = [...Object.keys(prompts), ...named]
    .filter((path) => path !== '' && !path.startsWith('baton:') && !path.includes('${'))
    .map((path) => posix.normalize(path))
    .filter((path) => !path.startsWith('/') && !path.startsWith('..'));
  return { patterns: runbook.ci.protected, inUse: [...new Set(inUse)].sort() };
}

/** `scripted FILE`, with or without an option before the file. */
const SCRIPTED = /^scripted\s+(?:--command-hook\s+)?(?!--)(\S.*?)\s*$/s;
