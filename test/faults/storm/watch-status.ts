import { setTimeout as pause } from 'node:timers/promises';
import type { World } from '../../processes/world.ts';

export interface Asked {
  readonly fromMs: number;
  readonly toMs: number;
  readonly isAllClear: boolean;
}

/** Repeatedly requests the status, and keeps every answer with its time. */
export function watchStatus(world: World): { readonly answers: readonly Asked[]; readonly stop: () => Promise<void> } {
  const answers: Asked[] = [];
  const client = world.client();
  let isOver = false;
  const watching = (async () => {
    while (!isOver) {
      const fromMs = performance.now();
      const answer = await client.call('status_get', {}, { timeoutMs: 5000 });
      if (answer.ok) answers.push({ fromMs, toMs: performance.now(), isAllClear: allClearOf(answer.result) });
      await pause(200);
    }
  })();
  return {
    answers,
    stop: async () => {
      isOver = true;
      client.close();
      await watching.catch(() => undefined);
    },
  };
}

/** An answer without the field counts as an all-clear, so that the run fails. */
export function allClearOf(result: unknown): boolean {
  return Object(result).all_clear !== false;
}

export interface Window {
  readonly fault: string;
  readonly fromMs: number;
  readonly toMs: number;
}

/**
 * Finds all-clears that were given while nothing could be written: requested some time after that began, and answered
 * before it ended.
 */
export function falseAllClears(answers: readonly Asked[], windows: readonly Window[], graceMs: number): string[] {
  const isBlind = ({ fault }: Window): boolean => fault === 'full' || fault === 'lock';
  return windows.filter(isBlind).flatMap(({ fault, fromMs, toMs }) => {
    const wrong = answers.filter((one) => one.isAllClear && one.fromMs > fromMs + graceMs && one.toMs < toMs);
    return wrong.length === 0 ? [] : [`${wrong.length} false all-clears during a fault (${fault})`];
  });
}
