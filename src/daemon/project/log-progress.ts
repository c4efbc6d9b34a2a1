import type { Log } from '../log.ts';

/** Logs progress from time to time, because the first copy of a large repository takes minutes. */
export function logProgress(project: string, log: Log): (line: string) => void {
  let nextMs = performance.now() + IMPORT_LOG_MS;
  return (line) => {
    if (performance.now() < nextMs) return;
    nextMs = performance.now() + IMPORT_LOG_MS;
    log.info("copying commits into Baton's own repository", { project, progress: line });
  };
}

const IMPORT_LOG_MS = 2000;
