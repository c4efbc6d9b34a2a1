import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { removeTree } from '../api/remove-tree.ts';
import { agentFiles, commandFiles } from '../supervisor/contract.ts';
import { ownerFile } from './processes/supervised.ts';

export interface TidyContext {
  readonly stateDir: string;
  readonly projectId: string;
  readonly knowsAgent: (id: string) => boolean;
  readonly wantsCommand: (id: string) => boolean;
}

const KEPT_COMMANDS = 200;

/**
 * Removes the folders of runs that are no longer in the state, except other projects' and those of running processes.
 */
export function removeOldRunFolders({ stateDir, projectId, knowsAgent, wantsCommand }: TidyContext): void {
  for (const id of list(join(stateDir, 'agents'))) {
    const { folder } = agentFiles(stateDir, id);
    if (!knowsAgent(id) && ownerOf(folder) === projectId) tryToRemove(folder);
  }
  const ended = list(join(stateDir, 'commands'))
    .map((id) => ({ id, files: commandFiles(stateDir, id) }))
    .filter(({ id, files }) => !wantsCommand(id) && ownerOf(files.folder) === projectId)
    .map(({ files }) => ({ folder: files.folder, atMs: statSync(files.exit(1), { throwIfNoEntry: false })?.mtimeMs }))
    .filter((each): each is { folder: string; atMs: number } => each.atMs !== undefined)
    .toSorted((a, b) => b.atMs - a.atMs);
  for (const { folder } of ended.slice(KEPT_COMMANDS)) tryToRemove(folder);
}

/** If a folder cannot be removed, the others still are. */
function tryToRemove(folder: string): void {
  try {
    removeTree(folder);
  } catch {
    // The next start retries.
  }
}

function list(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

function ownerOf(folder: string): string | undefined {
  try {
    return readFileSync(ownerFile(folder), 'utf8');
  } catch {
    return undefined;
  }
}
