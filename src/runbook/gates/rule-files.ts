import { posix } from 'node:path';
import type { AgentPlan } from '../../protocol/run-plan.ts';
import { scriptOf } from '../plan.ts';

/** Texts by path; null if the file is missing or unusable. */
export type Texts = Readonly<Record<string, string | null>>;

/**
 * The files that rules name. An adoption records them, and whatever starts reads them from there: the working files may
 * have changed since.
 */
export interface RuleFiles {
  /** Prompts and scripts of agents. */
  readonly prompts: Texts;
  /** The devcontainer of the repository, and the Dockerfile that it builds. */
  readonly devcontainer: Texts;
}

export const NO_FILES: RuleFiles = { prompts: {}, devcontainer: {} };

/** The files that the agent gets: each as the runbook writes it. Built-in prompts belong to Baton. */
export function filesOfAgent({ prompt_file: file, run }: Pick<AgentPlan, 'prompt_file' | 'run'>): readonly string[] {
  return [file ?? [], scriptOf(run) ?? []].flat().filter((each) => !each.startsWith('baton:'));
}

/** The key of such a file: `./a.md` and `a.md` are one file. */
export function fileKey(path: string): string {
  return posix.normalize(path);
}

/** Matches the paths that a path with templates can produce. */
export function filePattern(path: string): RegExp {
  const parts = fileKey(path)
    .split(/\$\{[^}]*\}/)
    .map((part) => RegExp.escape(part));
  return new RegExp(`^${parts.join('.*')}$`, 's');
}
