import { hrefTo } from '../../app/router.ts';
import { Empty, Show } from '../../kit/loading.tsx';
import { renderCount } from '../../kit/numbers.ts';
import { StateMark } from '../../kit/state-mark.tsx';
import { renderTime } from '../../kit/time.tsx';
import { Words } from '../../kit/words.tsx';
import type { Asked as AskedItem } from '../../model/asked.ts';
import { useAsked } from './use-asked.ts';

const KINDS: Readonly<Record<AskedItem['kind'], string>> = {
  prompt: 'Prompt',
  mission: 'Mission',
  note: 'Note with the start',
  resumed: 'Resumed with',
  message: 'Message',
};

/** What the agent received: its prompt, its mission, and every later message, each with its entry. */
export function Asked({ agentId }: { readonly agentId: string }) {
  const asked = useAsked(agentId);
  return (
    <Show loaded={asked} what="what was asked">
      {(items) =>
        items.length === 0 ? (
          <Empty>The ledger has no prompt, mission or message for this agent: its command says what it does.</Empty>
        ) : (
          <ol class="asked">
            {items.map((item) => (
              <Item key={`${item.seq} ${item.kind}`} item={item} />
            ))}
          </ol>
        )
      }
    </Show>
  );
}

function Item({ item: { seq, at, actor, kind, text, facts, delivery } }: { readonly item: AskedItem }) {
  return (
    <li class="card" data-seq={seq}>
      <div class="bar">
        <h2>{KINDS[kind]}</h2>
        {delivery === null ? null : <Delivery {...delivery} />}
        <span class="dim number">
          <Words text={actor} most={80} /> · {renderTime(at)} ·{' '}
          <a href={hrefTo({ view: 'ledger', id: String(seq) })}>#{renderCount(seq)}</a>
        </span>
      </div>
      {text === '' ? null : (
        <pre>
          <Words text={text} />
        </pre>
      )}
      {facts.length === 0 ? null : (
        <dl class="facts">
          {facts.flatMap(([name, value]) => [
            <dt key={`${name} name`}>{name}</dt>,
            <dd key={name}>
              <Words text={value} most={400} />
            </dd>,
          ])}
        </dl>
      )}
    </li>
  );
}

const DELIVERY = { queued: 'queued', delivered: 'done', failed: 'failed' } as const;

function Delivery({ state, reason }: NonNullable<AskedItem['delivery']>) {
  return (
    <>
      <StateMark state={DELIVERY[state]} word={state === 'failed' ? 'not delivered' : state} />
      {reason === null ? null : <Words text={reason} most={200} />}
    </>
  );
}
