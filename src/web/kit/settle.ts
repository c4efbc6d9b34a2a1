import { useMemo } from 'preact/hooks';
import { SETTLE_MS } from './rows.tsx';

export interface Settle {
  /** Reports whether the content has been still long enough that a click was meant for it. */
  isSettled(): boolean;
  moved(): void;
  /** Cancels a click that comes too early. */
  guard(event: Event): void;
}

/** For buttons that appear or move by themselves. They count as moved when `what` changes. */
export function useSettle(what: string): Settle {
  return useMemo(() => {
    let at = performance.now();
    const isSettled = (): boolean => performance.now() - at >= SETTLE_MS;
    return {
      isSettled,
      moved: () => void (at = performance.now()),
      guard: (event) => {
        if (isSettled()) return;
        event.preventDefault();
        event.stopPropagation();
      },
    };
  }, [what]);
}
