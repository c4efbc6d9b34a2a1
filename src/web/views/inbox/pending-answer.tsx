import { useEffect, useState } from 'preact/hooks';
import type { DecisionView } from '../../../api/run-views.ts';
import { call, standing } from '../../app/hub-client.ts';
import { Action } from '../../kit/action.tsx';
import { draftOf, setDraft } from '../../kit/draft-notes.ts';
import { renderTime } from '../../kit/time.tsx';
import { Words } from '../../kit/words.tsx';
import { renderEffect } from '../../model/inbox/answer-rules.ts';

type Answer = NonNullable<DecisionView['answer']>;
/** Without `seq` it was just sent from this page: the daemon withdraws only the caller's own answer then. */
export type GivenAnswer = Pick<Answer, 'option' | 'label' | 'message' | 'effective_at'> & Partial<Pick<Answer, 'seq'>>;

/** A recorded answer that is not in effect yet. The daemon applies it even if the page is closed. */
export function PendingAnswer({
  id,
  answer: { option, label, message, effective_at, seq },
  undone,
}: {
  readonly id: string;
  readonly answer: GivenAnswer;
  readonly undone?: () => void;
}) {
  const named = seq === undefined ? {} : { answer: seq };
  const undo = async () => {
    const answer = await call('decision_undo', { id, ...named });
    if (!answer.ok) return answer;
    // Restores the note, so that it can be changed and sent again.
    if (message !== null && draftOf(id) === '') setDraft(id, message);
    undone?.();
    return answer;
  };
  return (
    <span class="pending">
      <span class="given">
        <span class="one-line">
          Answered: {option} <Words text={label} most={80} />,
        </span>
        <span class="number">
          <Effect at={effective_at} />
        </span>
      </span>
      <Action label="Undo" act={undo} done="The answer is withdrawn" title={`baton decision undo ${id.slice(0, 8)}`} />
    </span>
  );
}

const TICK_MS = 250;

/** Counts down. While the daemon is away, only the planned time is known. */
function Effect({ at }: { readonly at: string }) {
  const [nowMs, setNow] = useState(Date.now());
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), TICK_MS);
    return () => clearInterval(timer);
  }, []);
  return <>{standing.value.link.kind === 'live' ? renderEffect(at, nowMs) : `takes effect at ${renderTime(at)}`}</>;
}
