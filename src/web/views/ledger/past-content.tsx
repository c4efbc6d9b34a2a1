import type { ComponentChildren } from 'preact';
import { hrefTo } from '../../app/router.ts';
import { renderCount } from '../../kit/numbers.ts';
import { Stages } from '../../kit/stages.tsx';
import { StateMark } from '../../kit/state-mark.tsx';
import { renderAge, renderTime } from '../../kit/time.tsx';
import { Words } from '../../kit/words.tsx';
import type { PastView, Shown } from '../../model/ledger/past-view.ts';

const STATUSES = ['todo', 'in_progress', 'blocked', 'done', 'cancelled'] as const;

/** The past state, marked as such at the top. */
export function PastContent({ view }: { readonly view: PastView }) {
  const { seq, at, tasks, workflows, agents, pipelines, decisions } = view;
  return (
    <div class="past" data-past={seq}>
      <p class="past-banner" role="status">
        <strong>The past:</strong> as of #{renderCount(seq)}, <span class="number">{renderTime(at)}</span>. Links lead
        to the present.
      </p>
      <section aria-label="Tasks at that entry">
        <h3>Tasks</h3>
        <p class="bar">
          {STATUSES.map((status) => (
            <span key={status} class="number">
              <StateMark state={status} /> {renderCount(tasks[status])}
            </span>
          ))}
        </p>
      </section>
      <Group label="Open decisions" shown={decisions}>
        {({ id, title, source, taskId, since }) => (
          <PastRow href={hrefTo({ view: 'inbox', id })} text={title} taskId={taskId} since={since} at={at}>
            <StateMark state="open" word={source} />
          </PastRow>
        )}
      </Group>
      <Group label="Agents" shown={agents}>
        {({ id, name, status, taskId, since }) => (
          <PastRow href={hrefTo({ view: 'session', id })} text={name} taskId={taskId} since={since} at={at}>
            <StateMark state={status} />
          </PastRow>
        )}
      </Group>
      <Group label="Workflows" shown={workflows}>
        {({ taskId, title, activity, since, stages }) => (
          <div class="past-workflow" data-task={taskId}>
            <PastRow href={hrefTo({ view: 'tasks', id: taskId })} text={title} taskId={taskId} since={since} at={at}>
              <StateMark state={activity} />
            </PastRow>
            <Stages stages={stages} />
          </div>
        )}
      </Group>
      <Group label="Pipelines" shown={pipelines}>
        {({ id, name, status, step, since }) => (
          <PastRow
            href={hrefTo({ view: 'work', id: `pipeline:${id}` })}
            text={name}
            step={step}
            taskId={null}
            since={since}
            at={at}
          >
            <StateMark state={status} />
          </PastRow>
        )}
      </Group>
    </div>
  );
}

interface PastRowProps {
  readonly href: string;
  readonly text: string;
  readonly step?: string | null;
  readonly taskId: string | null;
  readonly since: string;
  readonly at: string;
  /** The content of the section. */
  readonly children: ComponentChildren;
}

function PastRow({ href, text, step = null, taskId, since, at, children }: PastRowProps) {
  return (
    <a class="row" href={href}>
      {children}
      <span class="grow one-line">
        <Words text={text} most={200} />
        {step === null ? null : (
          <span class="dim">
            {' '}
            at <Words text={step} most={60} />
          </span>
        )}
      </span>
      <TaskOf id={taskId} />
      <Since since={since} at={at} />
    </a>
  );
}

interface GroupProps<T> {
  readonly label: string;
  readonly shown: Shown<T>;
  readonly children: (item: T) => ComponentChildren;
}

function Group<T>({ label, shown: { total, items }, children }: GroupProps<T>) {
  return (
    <section aria-label={`${label} at that entry`}>
      <h3>
        {label} <span class="number">{renderCount(total)}</span>
      </h3>
      {total === 0 ? null : (
        <ul class="rows">
          {items.map((item, index) => (
            <li key={index}>{children(item)}</li>
          ))}
        </ul>
      )}
      {total > items.length ? <p class="dim">{renderCount(total - items.length)} more are not listed.</p> : null}
    </section>
  );
}

function TaskOf({ id }: { readonly id: string | null }) {
  if (id === null) return null;
  return (
    <span class="dim one-line task">
      <Words text={id} most={64} />
    </span>
  );
}

/** The length of time at that entry. */
function Since({ since, at }: { readonly since: string; readonly at: string }) {
  return (
    <span class="number dim" title={since}>
      {renderAge(Date.parse(at) - Date.parse(since))}
    </span>
  );
}
