import { hrefTo } from '../../app/router.ts';
import { StateMark } from '../../kit/state-mark.tsx';
import { Age } from '../../kit/time.tsx';
import { visible, Words } from '../../kit/words.tsx';
import type { TaskRow } from '../../model/tasks/task-rows.ts';

interface TaskLineProps {
  readonly row: TaskRow;
  readonly query: Readonly<Record<string, string>>;
  readonly isChosen: boolean;
}

export function TaskLine({ row, query, isChosen }: TaskLineProps) {
  const { id, title, status, phase, role, priority, since, isCritical } = row;
  return (
    <a
      class="row task-line"
      href={hrefTo({ view: 'tasks', id, query })}
      aria-current={isChosen ? 'true' : undefined}
      data-task={id}
    >
      <span class="mark">
        <StateMark state={status} />
      </span>
      <span class="id one-line">
        <Words text={id} most={60} />
      </span>
      <span class="grow one-line">
        <Words text={title} />
      </span>
      {isCritical ? <span class="tag critical">critical</span> : null}
      <span class="phase one-line dim">
        {phase.replaceAll('_', ' ').toLowerCase()}
        {role === null ? null : (
          <>
            {' · '}
            <Words text={role} most={40} />
          </>
        )}
      </span>
      <span class="now one-line">
        <Standing row={row} />
      </span>
      <span class="priority number dim">{priority === 0 ? '' : `P${priority}`}</span>
      <span class="age dim">
        <Age at={since} />
      </span>
    </a>
  );
}

/** A task's standing: its holder, whether it can be claimed, or what it waits for. */
function Standing({ row: { holder, isClaimable, waits, activity, status, because } }: { readonly row: TaskRow }) {
  if (holder !== null)
    return (
      <span class="holder" title="The holder of the claim">
        <Words text={holder} most={60} />
      </span>
    );
  if (isClaimable) return <span class="claimable">claimable</span>;
  if (activity === 'done' || activity === 'cancelled') return null;
  if (status === 'blocked' && because !== null)
    return (
      <span class="dim" title={visible(because)}>
        <Words text={because} />
      </span>
    );
  if (waits > 0) return <span class="dim">waits for {waits}</span>;
  return <span class="dim">{activity === 'waiting' ? 'waits for a person' : activity}</span>;
}
