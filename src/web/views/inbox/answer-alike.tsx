import { useRef, useState } from 'preact/hooks';
import type { DecisionView } from '../../../api/run-views.ts';
import { call } from '../../app/hub-client.ts';
import { actOnce } from '../../kit/action.tsx';
import { useSettle } from '../../kit/settle.ts';
import { findMissing, optionsForSeveral } from '../../model/inbox/answer-rules.ts';
import { ANSWER_DELAY_MS, MissingPart, type Option, Options } from './options.tsx';
import type { Ticking } from './rows.tsx';

interface AnswerAlikeProps extends Ticking {
  readonly open: readonly DecisionView[];
}

/** Gives the same answer to all ticked decisions. The daemon accepts all of them or none. */
export function AnswerAlike({ open, alike, ticked, setTicked }: AnswerAlikeProps) {
  const first = open.find(({ id }) => id === ticked[0]);
  if (first === undefined) return null;
  return <Bar first={first} all={alike.get(first.id) ?? []} ticked={ticked} setTicked={setTicked} />;
}

interface BarProps extends Pick<Ticking, 'ticked' | 'setTicked'> {
  readonly first: DecisionView;
  /** The ids of all decisions of its kind. */
  readonly all: readonly string[];
}

function Bar({ first, all, ticked, setTicked }: BarProps) {
  const [message, setMessage] = useState('');
  const [isNoteMissing, setNoteMissing] = useState(false);
  const field = useRef<HTMLInputElement>(null);
  const settle = useSettle(JSON.stringify([first.source, first.options]));
  const choose = async (option: Option): Promise<void> => {
    if (!settle.isSettled()) return;
    const isMissing = findMissing(first, option, { message, agent: '' }) !== undefined;
    setNoteMissing(isMissing);
    if (isMissing) return field.current?.focus();
    const note = message.trim() === '' ? {} : { message: message.trim() };
    const answers = ticked.map((id) => ({ id, option: option.n, ...note }));
    const answer = await actOnce({
      label: `${option.n} ${option.label}`,
      done: `${ticked.length} answered: ${option.n} ${option.label}. It takes effect in ${ANSWER_DELAY_MS / 1000} s.`,
      act: async () => call('decisions_resolve', { answers, delay_ms: ANSWER_DELAY_MS }),
    });
    if (answer?.ok === true) setTicked([]);
  };
  return (
    <div class="alike" role="group" aria-label="Answer several alike">
      <div class="bar">
        <strong class="number">Answer {ticked.length} alike</strong>
        {ticked.length < all.length ? (
          <button type="button" onClick={() => setTicked(all)}>
            Select all {all.length}
          </button>
        ) : null}
        <button type="button" onClick={() => setTicked([])}>
          Clear
        </button>
      </div>
      <label>
        <span class="sr">Reason for all of them</span>
        <input
          ref={field}
          value={message}
          placeholder="Reason (the next sessions read it)"
          aria-invalid={isNoteMissing}
          onInput={({ currentTarget }) => setMessage(currentTarget.value)}
        />
      </label>
      {isNoteMissing ? <MissingPart part="note" /> : null}
      <Options options={optionsForSeveral(first.options)} choose={(option) => void choose(option)} />
    </div>
  );
}
