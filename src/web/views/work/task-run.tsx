import { useMemo } from 'preact/hooks';
import type { TaskOverview } from '../../../api/operations/task-view.ts';
import { isOver } from '../../../protocol/phase.ts';
import { useApi, useStateView } from '../../app/hub-client.ts';
import { hrefTo, type Route } from '../../app/router.ts';
import { Changes } from '../../kit/changes.tsx';
import { Show } from '../../kit/loading.tsx';
import { renderAmount, renderMoney } from '../../kit/numbers.ts';
import { Stages } from '../../kit/stages.tsx';
import { TaskActions } from '../../kit/steer.tsx';
import { Age, renderSpan } from '../../kit/time.tsx';
import { Words } from '../../kit/words.tsx';
import { ACTIVITY_WORDS } from '../../model/strip.ts';
import { CHECK_TYPES, listChecks, withChecks, withMerges } from '../../model/run/check-rows.ts';
import type { RunRef } from '../../model/run/steering.ts';
import { Messages } from './messages.tsx';
import { EntriesNote, RunEntries, useRunEntries } from './run-entries.tsx';
import { Facts, partOf, Reason, type RunPart, RunTabs, RunTitle } from './run-parts.tsx';
import { sessionHrefs, StepGraph } from './step-graph.tsx';
import { Timeline } from './timeline.tsx';

const PARTS: readonly RunPart[] = ['timeline', 'graph', 'changes', 'messages', 'entries'];

/** A workflow, or a task that a session works on. */
export function TaskRunPage({ id, route }: { readonly id: string; readonly route: Route }) {
  const view = useApi('task_view', { task_id: id }, { on: `task:${id}` });
  const part = partOf(route, PARTS);
  const run: RunRef = { kind: 'task', id };
  return (
    <article class="run" data-task={id}>
      <Show loaded={view} what="the task">
        {(task) => <Overview task={task} />}
      </Show>
      <TaskActions taskId={id} />
      <RunTabs route={route} parts={PARTS} now={part} />
      {part === 'timeline' ? <TaskTimeline run={run} route={route} /> : null}
      {part === 'graph' ? <StepGraph kind="task" id={id} hrefs={sessionHrefs(sessionsByStage(view.value))} /> : null}
      {part === 'changes' ? <Changes taskId={id} /> : null}
      {part === 'messages' ? <Messages run={run} /> : null}
      {part === 'entries' ? <RunEntries run={run} /> : null}
    </article>
  );
}

/** The newest session of each role. */
function sessionsByStage(
  task: TaskOverview | undefined,
): readonly { readonly name: string; readonly agentId: string | null }[] {
  return (task?.sessions ?? []).flatMap(({ role, agent_id }) =>
    role === null ? [] : [{ name: role, agentId: agent_id }],
  );
}

function Overview({ task }: { readonly task: TaskOverview }) {
  const { activity, mode, cost } = task;
  const tokens = cost.input_tokens + cost.output_tokens + cost.cached_tokens;
  const priced = cost.unpriced_tokens === 0 ? '' : `, ${renderAmount(cost.unpriced_tokens)} tokens without a price`;
  return (
    <>
      <RunTitle title={task.title} state={activity} word={ACTIVITY_WORDS[activity]}>
        <span class="dim">
          {isOver(activity) ? null : 'for '}
          <Age at={task.since} suffix={isOver(activity) ? ' ago' : ''} />
        </span>
        <a href={hrefTo({ view: 'tasks', id: task.id })}>
          <Words text={task.id} most={80} />
        </a>
        <span class="dim">
          by <Words text={task.author} most={120} />
        </span>
        <span class="dim">{mode === null ? 'task' : `workflow, ${mode}`}</span>
      </RunTitle>
      <Reason text={task.blocked_because} state={activity} />
      <Stages stages={task.stages.map((stage) => (stage.status === 'now' ? sinceNow(stage, task) : stage))} />
      <Facts
        facts={[
          ['Rounds', task.rounds === 0 ? null : `${task.rounds} back to the fixer, ${task.reviews} reviews`],
          ['Worked', `${renderSpan(cost.work_ms)}${cost.wait_ms > 0 ? `, waited ${renderSpan(cost.wait_ms)}` : ''}`],
          [
            'Cost',
            tokens === 0 ? null : `${renderMoney(cost.cost_millicents)} · ${renderAmount(tokens)} tokens${priced}`,
          ],
          ['Branch', task.branch === null ? null : <Words text={task.branch} most={200} />],
          ['Head', task.head === null ? null : <code>{task.head.slice(0, 12)}</code>],
          ['Merged', task.merge_sha === null ? null : <code>{task.merge_sha.slice(0, 12)}</code>],
          ['Taken over by', task.taken_by === null ? null : <Words text={task.taken_by} most={100} />],
          ['Pull request', task.pull_request?.url ? <Words text={task.pull_request.url} most={200} /> : null],
        ]}
      />
      {task.findings.length === 0 || isOver(activity) ? null : <Findings findings={task.findings} />}
    </>
  );
}

/** The daemon's sums reach up to `at`; the bar continues from there. */
function sinceNow(stage: TaskOverview['stages'][number], { at }: TaskOverview) {
  return { ...stage, since: at };
}

function Findings({ findings }: Pick<TaskOverview, 'findings'>) {
  return (
    <section aria-label="Open findings">
      <h3>Open findings</h3>
      <ul class="findings">
        {findings.map(({ text, rounds }) => (
          <li key={text}>
            <Words text={text} most={500} /> {rounds > 1 ? <span class="dim">for {rounds} rounds</span> : null}
          </li>
        ))}
      </ul>
    </section>
  );
}

function TaskTimeline({ run, route }: { readonly run: RunRef; readonly route: Route }) {
  const timeline = useStateView('task_timeline', { taskId: run.id });
  const read = useRunEntries(run, CHECK_TYPES);
  const checks = useMemo(() => listChecks(read.entries), [read.entries]);
  return (
    <Show loaded={timeline} what="the timeline">
      {({ rows, olderFrom }) => (
        <>
          {olderFrom === null ? null : (
            <p class="dim">For the oldest part, only total times are known: see the messages.</p>
          )}
          {read.error === undefined ? null : <EntriesNote read={read} what="the checks" />}
          <Timeline rows={withMerges(withChecks(rows, checks), read.entries)} route={route} />
        </>
      )}
    </Show>
  );
}
