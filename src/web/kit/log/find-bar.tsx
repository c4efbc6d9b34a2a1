import type { RefObject } from 'preact';
import { MOST_MATCHES } from '../../model/log/find-in-log.ts';
import { renderCount } from '../numbers.ts';

interface FindBarProps {
  readonly field: RefObject<HTMLInputElement | null>;
  readonly text: string;
  readonly setText: (text: string) => void;
  readonly count: number;
  /** The index from 0; undefined before the first step. */
  readonly current: number | undefined;
  readonly step: (by: 1 | -1) => void;
}

/**
 * Searches the loaded part of the log. Enter goes to the next match, Shift and Enter to the previous one, Escape closes
 * the bar.
 */
export function FindBar({ field, text, setText, count, current, step }: FindBarProps) {
  const press = (event: KeyboardEvent): void => {
    if (event.key === 'Enter') step(event.shiftKey ? -1 : 1);
    if (event.key !== 'Escape' || text === '') return;
    event.stopPropagation();
    setText('');
  };
  return (
    <span class="find" role="search">
      <input
        ref={field}
        type="search"
        aria-label="Find in the log"
        placeholder="Find in the log"
        value={text}
        onInput={({ currentTarget }) => setText(currentTarget.value)}
        onKeyDown={press}
      />
      <span class="number dim" role="status">
        {text === '' ? '' : renderPlace(count, current)}
      </span>
      <button type="button" aria-label="Previous match (N)" disabled={count === 0} onClick={() => step(-1)}>
        ↑
      </button>
      <button type="button" aria-label="Next match (n)" disabled={count === 0} onClick={() => step(1)}>
        ↓
      </button>
    </span>
  );
}

function renderPlace(count: number, current: number | undefined): string {
  if (count === 0) return 'not found';
  const all = count >= MOST_MATCHES ? `${renderCount(MOST_MATCHES)}+` : renderCount(count);
  return current === undefined ? `${all} found` : `${renderCount(current + 1)} of ${all}`;
}
