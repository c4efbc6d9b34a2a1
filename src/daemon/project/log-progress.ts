import type { Log } from '../log.ts';

/** The first copy of a large repository takes minutes: its progress is logged from time to time. */
export function logProgress(project: string, log: Log): (line: string) => void {
  let nextMs = performance.now() + IMPORT_LOG_MS;
  return (line) => {
    if (performance.now() < nextMs) return;
    nextMs = performance.now() + IMPORT_LOG_MS;
    log.info("copying commits into Baton's own repository", { project, progress: line });
  };
}

const IMPORT_LOG_MS = 2000;
