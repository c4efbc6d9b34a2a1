import { useState } from 'preact/hooks';
import { cutText } from '../model/cut-text.ts';
import { renderCount } from './numbers.ts';
import { Words } from './words.tsx';

/**
 * Text of agents and people that may be long: cut, with a button that shows the rest. `output` is a program's output.
 */
export function LongText({
  text,
  kind = 'prose',
  lines = 12,
}: {
  readonly text: string;
  readonly kind?: 'prose' | 'output';
  readonly lines?: number;
}) {
  const [isWhole, setWhole] = useState(false);
  const keep = kind === 'output' ? 'end' : 'start';
  const { shown, hidden } = cutText(text, { lines, characters: lines * 120, keep });
  const toggle =
    hidden === 0 ? null : (
      <button type="button" class="more" aria-expanded={isWhole} onClick={() => setWhole(!isWhole)}>
        {isWhole ? 'Show less' : `Show all (${renderCount(hidden)} more characters)`}
      </button>
    );
  return (
    <div class={`long ${kind}`}>
      {keep === 'end' ? toggle : null}
      <div class="long-text">
        <Words text={isWhole ? text : shown} most={MOST_CHARACTERS} />
        {isWhole || hidden === 0 || keep === 'end' ? null : '…'}
      </div>
      {keep === 'start' ? toggle : null}
    </div>
  );
}

const MOST_CHARACTERS = 200_000;
