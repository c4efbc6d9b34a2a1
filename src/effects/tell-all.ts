import { setTimeout as sleep } from 'node:timers/promises';
import type { Command } from '../state/decide.ts';
import type { EffectContext } from './context.ts';

/**
 * Says how something went, one after the other. A store that does not answer is asked again until it does: what was done outside
 * must not be forgotten. What is refused has been overtaken by something else.
 */
export async function submitAll(
  commands: readonly Command[],
  { submit: tell, log }: EffectContext,
  signal: AbortSignal,
): Promise<void> {
  for (const command of commands) {
    for (let waitMs = FIRST_MS; !signal.aborted; waitMs = Math.min(waitMs * 2, LAST_MS)) {
      const told = await tell(command);
      if (told?.refused !== undefined)
        log.error('an outcome was refused', { command: command.kind, reason: told.refused });
      if (told !== undefined) break;
      await sleep(waitMs, undefined, { signal, ref: false }).catch(() => undefined);
    }
  }
}

const FIRST_MS = 100;
const LAST_MS = 5000;
