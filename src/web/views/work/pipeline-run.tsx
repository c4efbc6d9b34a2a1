import { useMemo } from 'preact/hooks';
import type { PipelineView } from '../../../api/run-views.ts';
import { useApi } from '../../app/hub-client.ts';
import { hrefTo, type Route } from '../../app/router.ts';
import { Changes } from '../../kit/changes.tsx';
import { Show } from '../../kit/loading.tsx';
import { PipelineActions } from '../../kit/steer.tsx';
import { Age, renderSpan } from '../../kit/time.tsx';
import { Words } from '../../kit/words.tsx';
import { listStepRows, PIPELINE_TYPES } from '../../model/run/entry-rows.ts';
import type { RunRef } from '../../model/run/steering.ts';
import { Messages } from './messages.tsx';
import { EntriesNote, RunEntries, useRunEntries } from './run-entries.tsx';
import { Facts, partOf, Reason, type RunPart, RunTabs, RunTitle } from './run-parts.tsx';
import { sessionHrefs, StepGraph } from './step-graph.tsx';
import { Timeline } from './timeline.tsx';

const PARTS: readonly RunPart[] = ['timeline', 'graph', 'messages', 'entries'];
const WITH_TASK: readonly RunPart[] = ['timeline', 'graph', 'changes', 'messages', 'entries'];

export function PipelineRunPage({ id, route }: { readonly id: string; readonly route: Route }) {
  const view = useApi('pipeline_show', { id }, { on: `pipeline:${id}` });
  const taskId = view.value?.task_id ?? null;
  const parts = taskId === null ? PARTS : WITH_TASK;
  const part = partOf(route, parts);
  const run: RunRef = { kind: 'pipeline', id };
  const steps = (view.value?.steps ?? []).map(({ name, agent_id }) => ({ name, agentId: agent_id }));
  return (
    <article class="run" data-pipeline={id}>
      <Show loaded={view} what="the pipeline">
        {(pipeline) => <Overview pipeline={pipeline} />}
      </Show>
      <PipelineActions pipelineId={id} />
      <RunTabs route={route} parts={parts} now={part} />
      {part === 'timeline' ? <StepTimeline run={run} route={route} /> : null}
      {part === 'graph' ? <StepGraph kind="pipeline" id={id} hrefs={sessionHrefs(steps)} /> : null}
      {part === 'changes' && taskId !== null ? <Changes taskId={taskId} /> : null}
      {part === 'messages' ? <Messages run={run} /> : null}
      {part === 'entries' ? <RunEntries run={run} /> : null}
    </article>
  );
}

function Overview({ pipeline }: { readonly pipeline: PipelineView }) {
  const { id, name, status, reason, parent, task_id, workspace, started_at, ended_at, vars, host } = pipeline;
  const took = ended_at === null ? null : renderSpan(Date.parse(ended_at) - Date.parse(started_at));
  return (
    <>
      <RunTitle title={name} state={status} {...(status === 'waiting' ? { word: 'waits for a person' } : {})}>
        <span class="dim">pipeline</span>
        <code>{id.slice(0, 8)}</code>
      </RunTitle>
      <Reason text={reason} state={status} />
      <Facts
        facts={[
          ['Started', <Age at={started_at} suffix=" ago" />],
          ['Took', took],
          ['Host', host === undefined ? null : <Words text={host} most={60} />],
          ['Task', task_id === null ? null : <RunLink to={`task:${task_id}`} text={task_id} />],
          ['Part of', parent === null ? null : <RunLink to={`pipeline:${parent.pipeline_id}`} text={parent.step} />],
          ['Branch', workspace === null ? null : <Words text={workspace.branch} most={200} />],
          ...Object.entries(vars).map(([key, value]) => [key, <Words text={value} most={300} />] as const),
        ]}
      />
    </>
  );
}

function RunLink({ to, text }: { readonly to: string; readonly text: string }) {
  return (
    <a href={hrefTo({ view: 'work', id: to })}>
      <Words text={text} most={100} />
    </a>
  );
}

function StepTimeline({ run, route }: { readonly run: RunRef; readonly route: Route }) {
  const read = useRunEntries(run, PIPELINE_TYPES);
  const rows = useMemo(() => listStepRows(run.id, read.entries), [run.id, read.entries]);
  return (
    <>
      <EntriesNote read={read} what="the timeline" />
      {read.isLoaded ? <Timeline rows={rows} route={route} /> : null}
    </>
  );
}
