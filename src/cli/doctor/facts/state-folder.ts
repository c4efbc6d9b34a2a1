import { accessSync, constants, statSync } from 'node:fs';
import { join } from 'node:path';
import { listFolderIfPresent } from '../../../api/files.ts';
import { listKept } from '../../../api/outbox.ts';
import { findSessionAbove } from '../../../api/session-above.ts';
import { stateFiles } from '../../../api/state-folder.ts';
import { readSettings } from '../../../daemon/settings.ts';
import type { StateFolderFacts } from '../checks/state-folder.ts';
import type { Place } from '../place.ts';

export function readStateFolderFacts({ stateDir, env }: Place): StateFolderFacts {
  const files = stateFiles(stateDir);
  const stat = statSync(stateDir, { throwIfNoEntry: false });
  const { operatorToken, workerToken, metricsToken, sessionSecret, signingKey, pageKeys, workers } = files;
  const tokens = listFolderIfPresent(workers).map((name) => join(workers, name));
  const secrets = [operatorToken, workerToken, metricsToken, sessionSecret, signingKey, pageKeys, ...tokens];
  const settings = readSettings(env);
  return {
    path: stateDir,
    folder:
      stat === undefined
        ? null
        : {
            isFolder: stat.isDirectory(),
            isOwn: stat.uid === process.getuid?.(),
            mode: stat.mode,
            isWritable: canWrite(stateDir),
          },
    open: secrets.flatMap((path) => {
      const mode = modeOf(path);
      return mode !== undefined && (mode & 0o077) !== 0 ? [{ path, mode }] : [];
    }),
    badSetting: settings.ok ? null : settings.error,
    kept: listKept(files.outbox).length,
    isInSession: findSessionAbove(stateDir, env) !== undefined,
  };
}

export function canWrite(path: string): boolean {
  try {
    accessSync(path, constants.W_OK);
    return true;
  } catch {
    return false;
  }
}

/** Undefined if the file does not exist or cannot be reached. */
function modeOf(path: string): number | undefined {
  try {
    return statSync(path, { throwIfNoEntry: false })?.mode;
  } catch {
    return undefined;
  }
}
