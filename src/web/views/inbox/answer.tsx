import { useEffect, useRef, useState } from 'preact/hooks';
import type { DecisionView } from '../../../api/run-views.ts';
import { call } from '../../app/hub-client.ts';
import { overlay } from '../../app/overlay.ts';
import { actOnce } from '../../kit/action.tsx';
import { draftOf, setDraft } from '../../kit/draft-notes.ts';
import type { Settle } from '../../kit/settle.ts';
import { Age, renderTime } from '../../kit/time.tsx';
import { Words } from '../../kit/words.tsx';
import { findMissing, type Missing, optionOfKey } from '../../model/inbox/answer-rules.ts';
import { ANSWER_DELAY_MS, MissingPart, type Option, Options } from './options.tsx';
import { type GivenAnswer, PendingAnswer } from './pending-answer.tsx';

interface AnswerProps {
  readonly decision: DecisionView;
  readonly settle: Settle;
  readonly agents: readonly string[];
}

/** The answer to a decision: still to be given, given but not in effect yet, or settled. */
export function Answer({ decision, settle, agents }: AnswerProps) {
  const { id, answer, result } = decision;
  // Shown at once; the next status contains the recorded answer.
  const [sent, setSent] = useState<GivenAnswer>();
  useEffect(() => {
    if (answer !== null || result !== null) setSent(undefined);
  }, [answer, result]);
  // Takes the focus if its button has disappeared.
  const box = useRef<HTMLDivElement>(null);
  useEffect(() => {
    if (sent !== undefined && document.activeElement === document.body) box.current?.focus();
  }, [sent]);
  const given = answer ?? sent;
  if (result !== null) return <Settled decision={decision} />;
  if (given !== undefined)
    return (
      <div class="answer" ref={box} tabIndex={-1}>
        <p class="sr" role="status">
          Answered: {given.option} <Words text={given.label} most={80} />
        </p>
        <PendingAnswer id={id} answer={given} undone={() => setSent(undefined)} />
        {answer === null ? null : <By answer={answer} />}
      </div>
    );
  return <Choice decision={decision} settle={settle} agents={agents} sent={setSent} />;
}

function Choice({ decision, settle, agents, sent }: AnswerProps & { readonly sent: (answer: GivenAnswer) => void }) {
  const { id, options } = decision;
  const message = draftOf(id);
  const [agent, setAgent] = useState('');
  const [missing, setMissing] = useState<Missing>();
  const [isBusy, setBusy] = useState(false);
  const noteField = useRef<HTMLTextAreaElement>(null);
  const agentField = useRef<HTMLInputElement>(null);
  useEffect(() => {
    if (missing !== undefined) (missing === 'note' ? noteField : agentField).current?.focus();
  }, [missing]);

  const choose = async (option: Option): Promise<void> => {
    if (!settle.isSettled() || isBusy) return;
    const lacks = findMissing(decision, option, { message, agent });
    setMissing(lacks);
    if (lacks !== undefined) return (lacks === 'note' ? noteField : agentField).current?.focus();
    setBusy(true);
    const label = `${option.n} ${option.label}`;
    const answer = await actOnce({ label, done: null, act: async () => send(id, option, message, agent) });
    setBusy(false);
    if (answer?.ok !== true) return;
    setDraft(id, '');
    const effective_at = new Date(Date.now() + ANSWER_DELAY_MS).toISOString();
    sent({ option: option.n, label: option.label, message: message.trim() || null, effective_at });
  };
  useDigits(options, (option) => void choose(option));

  return (
    <div class="answer" role="group" aria-label="Answer">
      <Options options={options} choose={(option) => void choose(option)} isBusy={isBusy} />
      <label>
        <span class="sr">Reason</span>
        <textarea
          ref={noteField}
          rows={Math.min(MOST_ROWS, message.split('\n').length)}
          value={message}
          placeholder="Reason (the next session reads it)"
          aria-invalid={missing === 'note'}
          onInput={({ currentTarget }) => setDraft(id, currentTarget.value)}
        />
      </label>
      {missing === 'agent' || agent !== '' ? (
        <label>
          <span class="sr">Agent that gets the work</span>
          <input
            ref={agentField}
            value={agent}
            placeholder="Agent that gets the work"
            list="known-agents"
            aria-invalid={missing === 'agent'}
            onInput={({ currentTarget }) => setAgent(currentTarget.value)}
          />
          <datalist id="known-agents">
            {agents.map((name) => (
              <option key={name} value={name} />
            ))}
          </datalist>
        </label>
      ) : null}
      {missing === undefined ? null : <MissingPart part={missing} />}
    </div>
  );
}

/** The maximum height of the note, to which comments on lines are added. */
const MOST_ROWS = 8;

async function send(id: string, { n, action }: Option, message: string, agent: string) {
  return call(
    'decision_resolve',
    {
      id,
      option: n,
      delay_ms: ANSWER_DELAY_MS,
      ...(message.trim() === '' ? {} : { message: message.trim() }),
      ...(action === 'hand_over' ? { agent: agent.trim() } : {}),
    },
    { key: crypto.randomUUID() },
  );
}

/** Keys 1 to 9 choose an option, unless the user is typing. */
function useDigits(options: readonly Option[], choose: (option: Option) => void): void {
  const newest = useRef(choose);
  newest.current = choose;
  useEffect(() => {
    const press = (event: KeyboardEvent): void => {
      const chosen = options.find(({ n }) => n === optionOfKey(event));
      if (chosen === undefined || overlay.peek() !== undefined || isTyping(event.target)) return;
      event.preventDefault();
      newest.current(chosen);
    };
    document.addEventListener('keydown', press);
    return () => document.removeEventListener('keydown', press);
  }, [options]);
}

function isTyping(target: EventTarget | null): boolean {
  return (
    target instanceof HTMLElement &&
    (target.isContentEditable || target.matches('input:not([type=checkbox]), textarea, select'))
  );
}

function By({ answer: { by, message, agent } }: { readonly answer: NonNullable<DecisionView['answer']> }) {
  return (
    <p class="dim">
      by <Words text={by} most={80} />
      {agent === null ? null : (
        <>
          , to <Words text={agent} most={80} />
        </>
      )}
      {message === null ? null : (
        <>
          : <Words text={message} most={2000} />
        </>
      )}
    </p>
  );
}

/** How a decision was settled, and by whom: here, in a terminal, or because it was withdrawn. */
function Settled({ decision: { options, result } }: { readonly decision: DecisionView }) {
  if (result === null) return null;
  const { kind, option, by = '', at, message, reason = '' } = result;
  if (kind === 'withdrawn')
    return (
      <div class="answer settled" role="status">
        <p>
          Withdrawn at {renderTime(at)}: <Words text={reason} most={2000} />
        </p>
      </div>
    );
  return (
    <div class="answer settled" role="status">
      <p>
        Answered: {option} <Words text={options.find(({ n }) => n === option)?.label ?? result.action} most={160} />
      </p>
      <p class="dim">
        by <Words text={by} most={80} /> at {renderTime(at)} (<Age at={at} suffix=" ago" />)
        {message === null || message === undefined ? null : (
          <>
            : <Words text={message} most={2000} />
          </>
        )}
      </p>
    </div>
  );
}
