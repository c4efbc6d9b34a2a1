import type { AttentionView, StatusView } from '../../../api/run-views.ts';
import { useStateView } from '../../app/hub-client.ts';
import { hrefTo } from '../../app/router.ts';
import type { Loaded } from '../../hub/messages.ts';
import { CopyCommand } from '../../kit/action.tsx';
import { Empty, Show } from '../../kit/loading.tsx';
import { LongText } from '../../kit/long-text.tsx';
import { renderMoney } from '../../kit/numbers.ts';
import { Age } from '../../kit/time.tsx';
import { Words } from '../../kit/words.tsx';
import { listNeeds } from '../../model/inbox/inbox-rows.ts';
import { splitCommand } from '../../model/inbox/split-command.ts';
import { AttentionMark, Who } from './rows.tsx';

/** An item that needs a person but is not a decision: its description, and the command that helps. */
export function AttentionDetail({ id, status }: { readonly id: string; readonly status: Loaded<StatusView> }) {
  return (
    <Show loaded={status} what="the status">
      {(value) => {
        const row = listNeeds(value).find(({ key }) => key === id);
        if (row?.kind !== 'attention') return <Empty>This is no longer in the list.</Empty>;
        return <Attention item={row.item} />;
      }}
    </Show>
  );
}

function Attention({ item }: { readonly item: AttentionView }) {
  const { kind, task_id, title, context, next } = item;
  const waits = useStateView('waits', task_id === null ? undefined : { taskIds: [task_id] });
  const wait = waits.value?.tasks[task_id ?? ''];
  const { command, hint } = splitCommand(next);
  return (
    <article class="decision">
      <header class="question">
        <h2>
          <Words text={title} most={1000} />
        </h2>
        <p class="meta">
          <AttentionMark kind={kind} />
          {wait === undefined ? null : (
            <>
              <span>
                for <Age at={wait.since} />
              </span>
              <span class="waits">
                waits: <Who wait={wait} />
              </span>
              {wait.costMillicents === 0 ? null : <span class="number">{renderMoney(wait.costMillicents)} so far</span>}
            </>
          )}
        </p>
        {context === '' ? null : <LongText text={context} />}
      </header>
      <section class="evidence-part">
        <h3>What to do</h3>
        {command === null ? null : <CopyCommand command={command} />}
        {hint === '' ? null : (
          <p>
            <Words text={hint} most={2000} />
          </p>
        )}
      </section>
      {task_id === null ? null : (
        <p class="bar">
          <a href={hrefTo({ view: 'tasks', id: task_id })}>
            Task <Words text={task_id} most={80} />
          </a>
          <a href={hrefTo({ view: 'work', id: `task:${task_id}` })}>Run of the task</a>
        </p>
      )}
    </article>
  );
}
