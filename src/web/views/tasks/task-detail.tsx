import type { TaskOverview } from '../../../api/operations/task-view.ts';
import { useApi, useStateView } from '../../app/hub-client.ts';
import { hrefTo } from '../../app/router.ts';
import { Show } from '../../kit/loading.tsx';
import { Stages } from '../../kit/stages.tsx';
import { StateMark } from '../../kit/state-mark.tsx';
import { Words } from '../../kit/words.tsx';
import { Links } from './linked-tasks.tsx';
import { TaskFacts } from './task-facts.tsx';
import { TaskHistory } from './task-history.tsx';

/** One task: the daemon's data about it, and its dependencies. Each half fails separately. */
export function TaskDetail({ id }: { readonly id: string }) {
  const task = useApi('task_view', { task_id: id }, { on: `task:${id}` });
  const links = useStateView('task_links', { id });
  return (
    <article class="task-detail" data-task={id}>
      <Show loaded={task} what="the task">
        {(view) => (
          <>
            <Heading view={view} />
            <Description view={view} />
            <TaskFacts view={view} />
          </>
        )}
      </Show>
      <Show loaded={links} what="the links of the task">
        {(value) => (value === null ? null : <Links id={id} links={value} />)}
      </Show>
      {task.value === undefined ? null : <TaskHistory view={task.value} />}
    </article>
  );
}

function Heading({ view: { id, title, status, stages } }: { readonly view: TaskOverview }) {
  return (
    <header class="title">
      <p class="bar">
        <StateMark state={status} />
        <span class="dim">
          <Words text={id} most={60} />
        </span>
        <a class="end" href={hrefTo({ view: 'work', id: `task:${id}` })}>
          Open the run
        </a>
      </p>
      <h2>
        <Words text={title} most={1000} />
      </h2>
      {stages.length === 0 ? null : <Stages stages={stages} />}
    </header>
  );
}

function Description({ view: { description, issue } }: { readonly view: TaskOverview }) {
  if (description === null && issue === null) return null;
  return (
    <section aria-label="Description" class="part">
      {description === null ? null : (
        <p class="text">
          <Words text={description} />
        </p>
      )}
      {issue === null ? null : (
        <>
          <p class="text">
            <Words text={issue.summary} />
          </p>
          <ul class="points">
            {issue.requirements.map((requirement, i) => (
              <li key={i}>
                <Words text={requirement} most={2000} />
              </li>
            ))}
          </ul>
        </>
      )}
    </section>
  );
}
