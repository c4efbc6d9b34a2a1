import { readdirSync, readFileSync, statSync } from 'node:fs';
import { isAbsolute, join } from 'node:path';
import type { AgentPlan } from '../../protocol/run-plan.ts';
import { decodeUtf8 } from '../../protocol/text/text-format.ts';
import { findWorkerReach } from '../gates/gate-fields.ts';
import { fileKey, filePattern, filesOfAgent, type Texts } from '../gates/rule-files.ts';
import type { Runbook } from '../runbook.ts';
import { RUNBOOK_LIMITS } from '../shape/fields.ts';

/** The source of the files: the working files, or a commit. */
export interface FileSource {
  /** Reads a file; null if it is missing or unusable. */
  readonly read: (path: string) => Promise<string | null>;
  /** Lists every file below a folder; '' is the top. */
  readonly list: (folder: string) => Promise<readonly string[]>;
}

/** Returns the files of all agents. A path with templates stands for every file that it can produce. */
export async function collectPrompts(runbook: Runbook, source: FileSource): Promise<Texts> {
  const named = agentsOf(runbook).flatMap(filesOfAgent);
  const paths = new Set<string>();
  for (const file of new Set(named)) {
    if (!file.includes('${')) paths.add(fileKey(file));
    else for (const path of await matching(file, source)) paths.add(path);
  }
  const texts = await Promise.all([...paths].sort().map(async (path) => [path, await source.read(path)] as const));
  return Object.fromEntries(texts);
}

/** All agents that may start: those of the runbook, and those that its workers reach. */
export function agentsOf(runbook: Runbook): readonly AgentPlan[] {
  return [...findWorkerReach(runbook).agents.values(), ...runbook.agents.values()];
}

async function matching(file: string, { list }: FileSource): Promise<readonly string[]> {
  const fixed = fileKey(file.slice(0, file.indexOf('${')));
  const folder = fixed.includes('/') ? fixed.slice(0, fixed.lastIndexOf('/')) : '';
  const pattern = filePattern(file);
  return (await list(folder)).filter((path) => pattern.test(path)).slice(0, MOST_PROMPTS);
}

export function openWorkingFiles(projectDir: string): FileSource {
  const at = (path: string): string => (isAbsolute(path) ? path : join(projectDir, path));
  return {
    read: (path) => Promise.resolve(readText(at(path))),
    list: (folder) => Promise.resolve(filesBelow(projectDir, folder)),
  };
}

function readText(path: string): string | null {
  try {
    const { size } = statSync(path);
    return size > RUNBOOK_LIMITS.promptFileBytes ? null : (decodeUtf8(readFileSync(path)) ?? null);
  } catch {
    return null;
  }
}

function filesBelow(projectDir: string, folder: string): string[] {
  try {
    return readdirSync(join(projectDir, folder), { recursive: true, withFileTypes: true })
      .filter((entry) => !entry.isDirectory())
      .map((entry) => join(entry.parentPath, entry.name).slice(join(projectDir, '/').length))
      .filter((path) => !path.startsWith('.git/') && !path.startsWith('.worktrees/'))
      .sort();
  } catch {
    return [];
  }
}

const MOST_PROMPTS = 200;
