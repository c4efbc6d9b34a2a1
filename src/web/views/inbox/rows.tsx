import type { ComponentChildren } from 'preact';
import type { AttentionView, DecisionView } from '../../../api/run-views.ts';
import { hrefTo } from '../../app/router.ts';
import { renderMoney } from '../../kit/numbers.ts';
import { StateMark, type Tone } from '../../kit/state-mark.tsx';
import { Age } from '../../kit/time.tsx';
import { visible, Words } from '../../kit/words.tsx';
import type { AlikeIds } from '../../model/inbox/answer-rules.ts';
import type { RunningRow as Running } from '../../model/inbox/inbox-rows.ts';
import type { RecentItem } from '../../model/inbox/recent.ts';
import type { Wait } from '../../model/inbox/waits.ts';
import { PendingAnswer } from './pending-answer.tsx';

const TITLE_CHARACTERS = 300;

/** Sources of failures; the other sources ask for a decision. */
const BAD_SOURCES: ReadonlySet<string> = new Set(['dead', 'error', 'gate', 'integrity']);

export function DecisionMark({ decision: { source, answer, result } }: { readonly decision: DecisionView }) {
  if (result !== null) return <StateMark state={result.kind} />;
  if (answer !== null) return <StateMark state="answered" />;
  return <StateMark state={source} tone={BAD_SOURCES.has(source) ? 'bad' : 'wait'} />;
}

export interface Ticking {
  readonly alike: AlikeIds;
  /** The ticked ids, all of one kind. */
  readonly ticked: readonly string[];
  readonly setTicked: (ids: readonly string[]) => void;
}

interface DecisionRowProps {
  readonly decision: DecisionView;
  readonly wait: Wait | undefined;
  readonly isChosen: boolean;
  readonly ticking: Ticking;
}

export function DecisionRow({ decision, wait, isChosen, ticking }: DecisionRowProps) {
  const { id, title, context, opened_at, answer } = decision;
  return (
    <div class={isChosen ? 'row item chosen' : 'row item'} data-decision={id}>
      {answer === null ? <Tick decision={decision} ticking={ticking} /> : null}
      <Target href={hrefTo({ view: 'inbox', id })} isChosen={isChosen}>
        <DecisionMark decision={decision} />
        <Title text={title} context={context} />
        <Who wait={wait} />
        <Cost cost={wait?.costMillicents} />
        <Age at={opened_at} />
      </Target>
      {answer === null ? null : <PendingAnswer id={id} answer={answer} />}
    </div>
  );
}

/** A tick box, shown only if another decision can get the same answer. */
function Tick({ decision, ticking }: Pick<DecisionRowProps, 'decision' | 'ticking'>) {
  const { ticked, setTicked } = ticking;
  const { id, title } = decision;
  const alike = ticking.alike.get(id) ?? [];
  if (alike.length < 2) return null;
  const [first] = ticked;
  const isOther = first !== undefined && !alike.includes(first);
  return (
    <input
      type="checkbox"
      checked={ticked.includes(id)}
      disabled={isOther}
      title={isOther ? 'Its options differ from those of the ticked decisions' : 'Answer several alike at once'}
      aria-label={`Answer together with others: ${visible(title, 80)}`}
      onChange={({ currentTarget }) =>
        setTicked(currentTarget.checked ? [...ticked, id] : ticked.filter((each) => each !== id))
      }
    />
  );
}

export function AttentionRow({
  id,
  item,
  wait,
  isChosen,
}: {
  readonly id: string;
  readonly item: AttentionView;
  readonly wait: Wait | undefined;
  readonly isChosen: boolean;
}) {
  return (
    <div class={isChosen ? 'row item chosen' : 'row item'} data-attention={id}>
      <Target href={hrefTo({ view: 'inbox', id })} isChosen={isChosen}>
        <AttentionMark kind={item.kind} />
        <Title text={item.title} context={item.context} />
        <Who wait={wait} />
        <Cost cost={wait?.costMillicents} />
        <Age at={wait?.since} />
      </Target>
    </div>
  );
}

const WAITING_KINDS: ReadonlySet<string> = new Set(['blocked', 'worker', 'unserved', 'push', 'joining', 'cancelled']);

export function AttentionMark({ kind }: Pick<AttentionView, 'kind'>) {
  const tone: Tone = WAITING_KINDS.has(kind) ? 'wait' : 'bad';
  return <StateMark state={kind} tone={tone} />;
}

export function RunningRow({ row, cost }: { readonly row: Running; readonly cost: number | undefined }) {
  const { kind, id, title, state, since, stages } = row;
  const now = stages.find(({ status }) => status === 'now');
  const href = kind === 'agent' ? hrefTo({ view: 'session', id }) : hrefTo({ view: 'work', id: `${WORK[kind]}:${id}` });
  return (
    <div class="row item" data-run={id}>
      <Target href={href}>
        <StateMark state={state} />
        <Title text={title} />
        <span class="who one-line">{now === undefined ? kind : <Words text={now.name} most={40} />}</span>
        <Cost cost={kind === 'workflow' ? cost : undefined} />
        <Age at={since} />
      </Target>
    </div>
  );
}

const WORK = { workflow: 'task', pipeline: 'pipeline' } as const;

export function RecentRow({ item, isChosen }: { readonly item: RecentItem; readonly isChosen: boolean }) {
  const { id, title, state, at, note, costMillicents } = item;
  return (
    <div class={isChosen ? 'row item chosen' : 'row item'} data-recent={id}>
      <Target href={hrefTo(addressOf(item))} isChosen={isChosen}>
        <StateMark state={state} />
        <Title text={title} />
        <span class="who one-line">{note === null ? item.kind : <Words text={note} most={200} />}</span>
        <Cost cost={costMillicents} />
        <Age at={at} />
      </Target>
    </div>
  );
}

function addressOf({ kind, id, isWorkflow }: RecentItem) {
  if (kind === 'decision') return { view: 'inbox', id } as const;
  if (kind === 'agent') return { view: 'session', id } as const;
  if (kind === 'pipeline' || isWorkflow) return { view: 'work', id: `${kind}:${id}` } as const;
  return { view: 'tasks', id } as const;
}

function Target({
  href,
  isChosen = false,
  children,
}: {
  readonly href: string;
  readonly isChosen?: boolean;
  readonly children: ComponentChildren;
}) {
  return (
    <a class="target" href={href} aria-current={isChosen ? 'true' : undefined}>
      {children}
    </a>
  );
}

/** The title, and the context's first line if there is room. */
function Title({ text, context = '' }: { readonly text: string; readonly context?: string }) {
  const [first = ''] = context.split('\n', 1);
  return (
    <span class="title one-line" title={visible(text, TITLE_CHARACTERS)}>
      <Words text={text} most={TITLE_CHARACTERS} />
      {first === '' ? null : (
        <span class="beside">
          <Words text={first} most={TITLE_CHARACTERS} />
        </span>
      )}
    </span>
  );
}

const NAMES = 3;

/** Renders `coder, reviewer and 2 tasks`. */
export function Who({ wait }: { readonly wait: Wait | undefined }) {
  const { who = [], tasks = 0 } = wait ?? {};
  const names = who.slice(0, NAMES).join(', ');
  const more = who.length > NAMES ? ` and ${who.length - NAMES} more` : '';
  const behind = tasks === 0 ? '' : `, ${tasks} ${tasks === 1 ? 'task waits' : 'tasks wait'}`;
  return (
    <span class="who one-line">
      {who.length === 0 ? null : (
        <>
          <span class="sr">waits: </span>
          <Words text={names} most={120} />
          {more}
          {behind}
        </>
      )}
    </span>
  );
}

function Cost({ cost }: { readonly cost: number | null | undefined }) {
  const isKnown = cost !== undefined && cost !== null && cost > 0;
  return (
    <span class="cost number">
      {isKnown ? (
        <>
          <span class="sr">cost so far </span>
          {renderMoney(cost)}
        </>
      ) : null}
    </span>
  );
}
