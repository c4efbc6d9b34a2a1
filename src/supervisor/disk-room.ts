import { isDiskFault, isShortage } from '../protocol/shortage.ts';
import { sleep } from './sleep.ts';

export interface RetryWhileFullOptions {
  /** Asked before each further attempt. */
  readonly isWanted: () => boolean;
  /** Called once, before the first wait. */
  readonly onWait?: (error: unknown) => void;
}

/**
 * Repeats a write that fails because the disk is full or the machine is short of something, less and less often, until it succeeds. Returns false
 * if nobody wants it any more. Other errors are thrown.
 */
export async function retryWhileFull(write: () => void, { isWanted, onWait }: RetryWhileFullOptions): Promise<boolean> {
  for (let waitMs = FIRST_MS; ; waitMs = Math.min(waitMs * 2, LAST_MS)) {
    try {
      write();
      return true;
    } catch (error) {
      if (!isShortOfResources(error)) throw error;
      if (waitMs === FIRST_MS) onWait?.(error);
    }
    await sleep(waitMs);
    if (!isWanted()) return false;
  }
}

/** Whether an operation failed for want of room, descriptors or memory: it says nothing about what was to be done. */
export function isShortOfResources(error: unknown): boolean {
  return isDiskFault(error) || isShortage(error);
}

const FIRST_MS = 50;
const LAST_MS = 2000;
