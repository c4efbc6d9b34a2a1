import { useLayoutEffect } from 'preact/hooks';
import type { ViewProps } from '../../app/view-props.ts';
import { Split } from '../../kit/split.tsx';
import { Verdict } from '../../kit/verdict.tsx';
import { AttentionDetail } from './attention.tsx';
import { DecisionDetail } from './decision.tsx';
import { InboxList } from './list.tsx';

/** What needs a person, with the evidence for each decision; below it what runs and what ended last. */
export function Inbox({ route, status }: ViewProps) {
  return <InboxOfProject key={route.project} route={route} status={status} />;
}

function InboxOfProject({ route: { id }, status }: ViewProps) {
  return (
    <Split
      view="inbox"
      label="Inbox"
      list={
        <>
          <header class="head">
            <h1>Inbox</h1>
            <Verdict status={status} />
          </header>
          <InboxList status={status} chosen={id} />
        </>
      }
      detail={id === undefined ? undefined : <Detail key={id} id={id} status={status} />}
    />
  );
}

/** The detail of a decision, or of an attention item, whose key contains a colon. */
function Detail({ id, status }: { readonly id: string } & Pick<ViewProps, 'status'>) {
  // The detail scrolls separately, so the next one must start at its top.
  useLayoutEffect(() => document.querySelector('.split > .detail')?.scrollTo(0, 0), [id]);
  return id.includes(':') ? <AttentionDetail id={id} status={status} /> : <DecisionDetail id={id} status={status} />;
}
