import { hrefTo } from '../../app/router.ts';
import { renderCount } from '../../kit/numbers.ts';
import { StateMark } from '../../kit/state-mark.tsx';
import { Words } from '../../kit/words.tsx';
import type { GraphNode } from '../../model/tasks/neighbourhood.ts';
import type { LinkedTasks, TaskChain, TaskLinks } from '../../model/tasks/task-links.ts';
import { TaskGraph } from './task-graph.tsx';

export function Links({ id, links }: { readonly id: string; readonly links: TaskLinks }) {
  const { waitsFor, waitedFor, chain, graph } = links;
  if (waitsFor.tasks.length + waitedFor.tasks.length === 0)
    return <p class="dim">This task waits for no other task, and no other task waits for it.</p>;
  return (
    <>
      <div class="columns-2">
        <Linked title="Waits for" linked={waitsFor} none="This task waits for no other task." filter={`before:${id}`} />
        <Linked
          title="Tasks that wait for this one"
          linked={waitedFor}
          none="No other task waits for this one."
          filter={`after:${id}`}
        />
      </div>
      {chain.length < 2 ? null : <Chain id={id} chain={chain} />}
      {graph.nodes.length < 2 ? null : (
        <section class="part">
          <h3>Neighbourhood</h3>
          <TaskGraph id={id} graph={graph} />
        </section>
      )}
    </>
  );
}

interface LinkedProps {
  readonly title: string;
  readonly linked: LinkedTasks;
  readonly none: string;
  readonly filter: string;
}

function Linked({ title, linked: { tasks, more }, none, filter }: LinkedProps) {
  return (
    <section class="part">
      <h3>
        {title} <span class="number">{tasks.length === 0 ? '' : renderCount(tasks.length + more)}</span>
      </h3>
      {tasks.length === 0 ? <p class="dim">{none}</p> : null}
      <ul>
        {tasks.map((task) => (
          <li key={task.id}>
            <TaskLink task={task} />
          </li>
        ))}
        {more > 0 ? (
          <li>
            <a href={hrefTo({ view: 'tasks', query: { q: filter } })}>{renderCount(more)} more</a>
          </li>
        ) : null}
      </ul>
    </section>
  );
}

function TaskLink({
  task: { id, title, status },
  isHere = false,
}: {
  readonly task: GraphNode;
  readonly isHere?: boolean;
}) {
  return (
    <a class="task-link" href={hrefTo({ view: 'tasks', id })} aria-current={isHere ? 'true' : undefined}>
      <span class="mark">
        <StateMark state={status} />
      </span>
      <span class="id">
        <Words text={id} most={60} />
      </span>
      <span class="one-line">
        <Words text={title} />
      </span>
    </a>
  );
}

function Chain({ id, chain }: { readonly id: string; readonly chain: TaskChain }) {
  const { tasks, from, length, longest } = chain;
  const after = length - from - tasks.length;
  return (
    <section class="part">
      <h3>
        Longest chain of unfinished tasks <span class="number">{renderCount(length)}</span>
      </h3>
      <p class="dim">
        {length === longest
          ? 'This is the critical path of the project: no other chain has more steps.'
          : `The critical path of the project has ${renderCount(longest)} steps.`}
      </p>
      <ol class="chain">
        {from > 0 ? <li class="dim">{renderCount(from)} before</li> : null}
        {tasks.map((task) => (
          <li key={task.id}>
            <TaskLink task={task} isHere={task.id === id} />
          </li>
        ))}
        {after > 0 ? <li class="dim">{renderCount(after)} after</li> : null}
      </ol>
    </section>
  );
}
