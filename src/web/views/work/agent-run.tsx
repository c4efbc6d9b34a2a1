import { useMemo } from 'preact/hooks';
import type { AgentDetails } from '../../../api/operations/runs.ts';
import { useApi } from '../../app/hub-client.ts';
import { hrefTo, type Route } from '../../app/router.ts';
import { Show } from '../../kit/loading.tsx';
import { renderAmount, renderMoney } from '../../kit/numbers.ts';
import { AgentActions } from '../../kit/steer.tsx';
import { Age } from '../../kit/time.tsx';
import { Words } from '../../kit/words.tsx';
import { AGENT_TYPES, listProcessRows } from '../../model/run/entry-rows.ts';
import type { RunRef } from '../../model/run/steering.ts';
import { Messages } from './messages.tsx';
import { EntriesNote, RunEntries, useRunEntries } from './run-entries.tsx';
import { Facts, partOf, Reason, type RunPart, RunTabs, RunTitle } from './run-parts.tsx';
import { Timeline } from './timeline.tsx';

const PARTS: readonly RunPart[] = ['timeline', 'messages', 'entries'];

/** A lone agent. The page of its session has its log, claims and changes. */
export function AgentRunPage({ id, route }: { readonly id: string; readonly route: Route }) {
  const view = useApi('agent_show', { id }, { on: `agent:${id}` });
  const part = partOf(route, PARTS);
  const run: RunRef = { kind: 'agent', id };
  return (
    <article class="run" data-agent={id}>
      <Show loaded={view} what="the agent">
        {(agent) => <Overview agent={agent} />}
      </Show>
      <AgentActions agentId={id} />
      <RunTabs route={route} parts={PARTS} now={part} />
      {part === 'timeline' ? <ProcessTimeline run={run} route={route} /> : null}
      {part === 'messages' ? <Messages run={run} /> : null}
      {part === 'entries' ? <RunEntries run={run} /> : null}
    </article>
  );
}

function Overview({ agent }: { readonly agent: AgentDetails }) {
  const { id, name, status, reason, run, requested_at, usage, sandbox, host, task_id } = agent;
  const tokens = usage === null ? 0 : usage.input_tokens + usage.output_tokens + usage.cached_tokens;
  return (
    <>
      <RunTitle title={name} state={status} {...(status === 'escalated' ? { word: 'waits for a person' } : {})}>
        <span class="dim">agent</span>
        <code>{id.slice(0, 8)}</code>
        <a href={hrefTo({ view: 'session', id })}>Open the log</a>
      </RunTitle>
      <Reason text={reason} state={status} />
      <Facts
        facts={[
          ['Runs', <Words text={run} most={300} />],
          ['Started', <Age at={requested_at} suffix=" ago" />],
          [
            'Task',
            task_id === null ? null : (
              <a href={hrefTo({ view: 'work', id: `task:${task_id}` })}>
                <Words text={task_id} most={80} />
              </a>
            ),
          ],
          ['Model', usage?.model ? <Words text={usage.model} most={100} /> : null],
          ['Cost', tokens === 0 ? null : `${renderMoney(usage?.cost_millicents)} · ${renderAmount(tokens)} tokens`],
          ['Sandbox', sandbox === null ? null : <Words text={sandbox.summary} most={200} />],
          ['Host', host === undefined ? null : <Words text={host} most={60} />],
        ]}
      />
    </>
  );
}

function ProcessTimeline({ run, route }: { readonly run: RunRef; readonly route: Route }) {
  const read = useRunEntries(run, AGENT_TYPES);
  const rows = useMemo(() => listProcessRows(run.id, read.entries), [run.id, read.entries]);
  return (
    <>
      <EntriesNote read={read} what="the timeline" />
      {read.isLoaded ? <Timeline rows={rows} route={route} /> : null}
    </>
  );
}
