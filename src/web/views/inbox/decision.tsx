import { useEffect, useRef } from 'preact/hooks';
import type { DecisionView, StatusView } from '../../../api/run-views.ts';
import { useApi, useStateView } from '../../app/hub-client.ts';
import { hrefTo } from '../../app/router.ts';
import type { Loaded } from '../../hub/messages.ts';
import { Show } from '../../kit/loading.tsx';
import { LongText } from '../../kit/long-text.tsx';
import { renderAmount, renderMoney } from '../../kit/numbers.ts';
import { useSettle } from '../../kit/settle.ts';
import { Age } from '../../kit/time.tsx';
import { Words } from '../../kit/words.tsx';
import type { Wait } from '../../model/inbox/waits.ts';
import { Answer } from './answer.tsx';
import { Evidence } from './evidence.tsx';
import { DecisionMark, Who } from './rows.tsx';

/** The reload interval: the diff and the output may change without an entry about the decision. */
const EVIDENCE_MS = 15_000;

/**
 * A decision and its evidence. The question and the answer are from the status, because it is newer than the evidence.
 */
export function DecisionDetail({ id, status }: { readonly id: string; readonly status: Loaded<StatusView> }) {
  const loaded = useApi('decision_show', { id }, { on: `decision:${id}`, everyMs: EVIDENCE_MS });
  const decision = newest(loaded.value, findOpen(status.value, id));
  const waits = useStateView('waits', { taskIds: [] });
  if (decision === undefined)
    return (
      <Show loaded={loaded} what="the decision">
        {() => null}
      </Show>
    );
  return (
    <article class="decision" data-decision={id}>
      <Question decision={decision} wait={waits.value?.decisions[id]} agents={waits.value?.agents ?? []} />
      <Show loaded={loaded} what="the evidence">
        {({ evidence }) => <Evidence decision={decision} evidence={evidence} />}
      </Show>
    </article>
  );
}

function newest(shown: DecisionView | undefined, open: DecisionView | undefined): DecisionView | undefined {
  return shown === undefined || shown.result === null ? (open ?? shown) : shown;
}

function findOpen(status: StatusView | undefined, id: string): DecisionView | undefined {
  return [...(status?.needs_you ?? []), ...(status?.answered ?? [])].find((each) => each.id === id);
}

interface QuestionProps {
  readonly decision: DecisionView;
  readonly wait: Wait | undefined;
  /** The names of known agents that work can be handed to. */
  readonly agents: readonly string[];
}

/**
 * A question with its answer below it, which therefore counts as moved when the question grows, and when another client
 * answers.
 */
function Question({ decision, wait, agents }: QuestionProps) {
  const { id, title, context, options, opened_at, answer, result, lapsed } = decision;
  const settle = useSettle(JSON.stringify([id, options, answer === null, result === null]));
  const asked = useRef<HTMLElement>(null);
  useEffect(() => {
    const observer = new ResizeObserver(() => settle.moved());
    if (asked.current !== null) observer.observe(asked.current);
    return () => observer.disconnect();
  }, [settle]);
  return (
    <>
      <header class="question" ref={asked}>
        <h2>
          <Words text={title} most={1000} />
        </h2>
        <p class="meta">
          <DecisionMark decision={decision} />
          <span>
            asked <Age at={opened_at} suffix=" ago" />
          </span>
          <About decision={decision} wait={wait} />
        </p>
        {context === '' ? null : <LongText text={context} />}
        {lapsed === null ? null : <Lapsed lapsed={lapsed} />}
      </header>
      <div class="unboxed" onClickCapture={(event) => settle.guard(event)}>
        <Answer key={id} decision={decision} settle={settle} agents={agents} />
      </div>
    </>
  );
}

function About({ decision, wait }: { readonly decision: DecisionView; readonly wait: Wait | undefined }) {
  const { agent_id, pipeline_id } = decision;
  const task_id = decision.task_id ?? wait?.taskId ?? null;
  return (
    <>
      {task_id === null ? null : (
        <span>
          task{' '}
          <a href={hrefTo({ view: 'work', id: `task:${task_id}` })}>
            <Words text={task_id} most={80} />
          </a>
        </span>
      )}
      {agent_id === null ? null : (
        <span>
          agent <a href={hrefTo({ view: 'session', id: agent_id })}>{agent_id.slice(0, 8)}</a>
        </span>
      )}
      {pipeline_id === null ? null : (
        <span>
          pipeline <a href={hrefTo({ view: 'work', id: `pipeline:${pipeline_id}` })}>{pipeline_id.slice(0, 8)}</a>
        </span>
      )}
      {wait === undefined || wait.who.length === 0 ? null : (
        <span class="waits">
          waits: <Who wait={wait} />
        </span>
      )}
      {wait === undefined || wait.tokens === 0 ? null : (
        <span class="number">
          {wait.costMillicents === 0 ? '' : `${renderMoney(wait.costMillicents)}, `}
          {renderAmount(wait.tokens)} tokens so far
        </span>
      )}
    </>
  );
}

/** An answer that did not take effect; the person who gave it may believe that the decision is settled. */
function Lapsed({ lapsed: { option, label, by, reason } }: { readonly lapsed: NonNullable<DecisionView['lapsed']> }) {
  return (
    <p class="lapsed" role="status">
      <strong>
        The answer {option} <Words text={label} most={160} /> of <Words text={by} most={80} /> did not take effect:
      </strong>{' '}
      <Words text={reason} most={2000} />
    </p>
  );
}
