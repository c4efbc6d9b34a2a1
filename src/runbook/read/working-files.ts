import { readFileSync, readdirSync, statSync } from 'node:fs';
import { isAbsolute, join } from 'node:path';
import { decodeUtf8 } from '../../protocol/text/utf8.ts';
import type { PromptSource } from './prompts.ts';
import { RUNBOOK_LIMITS } from '../shape/limits.ts';

/** The prompt files of a project as they are on disk. */
export function openWorkingFiles(projectDir: string): PromptSource {
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
