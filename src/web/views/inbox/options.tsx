import type { DecisionView } from '../../../api/run-views.ts';
import { standing } from '../../app/hub-client.ts';
import { Words } from '../../kit/words.tsx';

export type Option = DecisionView['options'][number];

/** The delay before an answer from the page takes effect; until then it can be undone. */
export const ANSWER_DELAY_MS = 5000;

const LABEL_CHARACTERS = 160;

/** The options of a decision as numbered buttons. */
export function Options({
  options,
  choose,
  isBusy = false,
}: {
  readonly options: readonly Option[];
  readonly choose: (option: Option) => void;
  readonly isBusy?: boolean;
}) {
  const isAway = standing.value.link.kind !== 'live';
  return (
    <div class="options">
      {options.map((option) => (
        <button
          key={option.n}
          type="button"
          class={toneOf(option)}
          data-option={option.n}
          disabled={isAway}
          aria-busy={isBusy}
          title={isAway ? 'The daemon is away' : undefined}
          onClick={() => choose(option)}
        >
          <kbd>{option.n}</kbd> <Words text={option.label} most={LABEL_CHARACTERS} />{' '}
          {option.recommended ? <span class="recommended">recommended</span> : null}
        </button>
      ))}
    </div>
  );
}

function toneOf({ action, recommended }: Option): string {
  if (recommended) return 'option primary';
  return action === 'cancel' || action === 'deny' ? 'option danger' : 'option';
}

/** Shows what an answer lacks. Nothing was sent. */
export function MissingPart({ part }: { readonly part: 'note' | 'agent' }) {
  return (
    <p class="missing" role="alert">
      {part === 'note'
        ? 'Work is sent back with a note: say what must change, then choose it again.'
        : 'Name the agent of the runbook that gets the work, then choose it again.'}
    </p>
  );
}
