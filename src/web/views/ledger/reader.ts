import { useRef, useState } from 'preact/hooks';
import { now } from '../../kit/time.tsx';

/** A pointer that moved this recently may be about to click. */
const POINTING_MS = 2000;

/**
 * Reports whether the user reads the list: it is scrolled down, the pointer moves in it, or one of its rows has the
 * focus. Nothing in it may move then.
 */
export function useReader() {
  const box = useRef<HTMLDivElement>(null);
  const pointedAt = useRef(-Infinity);
  const [isScrolled, setScrolled] = useState(false);
  const [hasFocus, setFocus] = useState(false);
  const point = (): void => void (pointedAt.current = Date.now());
  // Subscribes to the clock, to render again when the pointer has rested long enough.
  void now.value;
  return {
    box,
    isReading: (): boolean => isScrolled || hasFocus || Date.now() - pointedAt.current < POINTING_MS,
    toTop(): void {
      pointedAt.current = -Infinity;
      box.current?.querySelector('.virtual')?.scrollTo({ top: 0 });
    },
    handlers: {
      onPointerMove: point,
      onPointerDown: point,
      onPointerLeave: () => void (pointedAt.current = -Infinity),
      onScrollCapture: ({ target }: Event) => setScrolled(target instanceof Element && target.scrollTop > 0),
      onFocusIn: ({ target }: Event) => setFocus(target instanceof Element && target.matches('[data-row] *')),
      onFocusOut: () => setFocus(false),
    },
  };
}
