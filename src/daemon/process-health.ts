import { isDiskFault, isShortage } from '../protocol/shortage.ts';
import { causeOf, type Log } from './log.ts';
import { ThrottledLog } from './rare-log.ts';

/** As much of `process` as the guard needs. */
export interface ProcessEvents {
  on(event: 'uncaughtException' | 'unhandledRejection', listener: (error: unknown) => void): unknown;
  exit(code: number): void;
}

/**
 * Errors that nothing has caught. A shortage or a full disk passes: what was asked for was not done, and its caller has no answer. Anything
 * else is a mistake in Baton: the daemon ends, and the log says why. Everything that was answered is durable.
 */
export function guardProcess(log: Log, guarded: ProcessEvents = process): void {
  const rare = new ThrottledLog(log);
  const onError = (error: unknown): void => {
    const cause = causeOf(error);
    if (isShortage(error)) rare.error('out of descriptors, processes or memory; the daemon goes on', { cause });
    else if (isDiskFault(error)) rare.error('a file cannot be written; the daemon goes on', { cause });
    else {
      log.error('the daemon ends because of an internal error', { cause });
      guarded.exit(1);
    }
  };
  guarded.on('uncaughtException', onError);
  guarded.on('unhandledRejection', onError);
}
