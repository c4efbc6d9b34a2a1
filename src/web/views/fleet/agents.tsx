import type { StatusView } from '../../../api/run-views.ts';
import { useStateView } from '../../app/hub-client.ts';
import { hrefTo } from '../../app/router.ts';
import type { Loaded } from '../../hub/messages.ts';
import { Empty, Show } from '../../kit/loading.tsx';
import { Meter } from '../../kit/meter.tsx';
import { renderAmount, renderCount, renderMoney } from '../../kit/numbers.ts';
import { StateMark } from '../../kit/state-mark.tsx';
import { Age, now, renderAge } from '../../kit/time.tsx';
import { VirtualList } from '../../kit/virtual-list.tsx';
import { Words } from '../../kit/words.tsx';
import type { AgentRow, AgentsResult } from '../../model/fleet/agent-rows.ts';
import { BudgetMeter } from './budget.tsx';

/** The window for all runs that the state keeps; it drops old ones. */
const WINDOW = { from: 0, to: 2000 };

export function Agents({ status, isAll }: { readonly status: Loaded<StatusView>; readonly isAll: boolean }) {
  const agents = useStateView('agents', { show: isAll ? 'all' : 'running', ...WINDOW });
  return (
    <>
      <Workers status={status} />
      <Show loaded={agents} what="the agents">
        {(value) => (
          <>
            <Counts value={value} isAll={isAll} />
            {value.total === 0 ? (
              <Empty>{isAll ? 'No agent has run yet.' : 'No agent runs.'}</Empty>
            ) : (
              <List value={value} />
            )}
          </>
        )}
      </Show>
    </>
  );
}

function Workers({ status: { value } }: { readonly status: Loaded<StatusView> }) {
  if (value === undefined || value.workers.length === 0) return null;
  return (
    <section class="workers" aria-label="Workers">
      <h2 class="group">Workers</h2>
      <ul>
        {value.workers.map(({ name, busy, concurrency }) => (
          <li key={name}>
            <Words text={name} most={60} />
            <Meter share={busy / Math.max(1, concurrency)} label={`${busy} of ${concurrency} busy`} />
          </li>
        ))}
      </ul>
    </section>
  );
}

const OVER = ['done', 'failed', 'cancelled'] as const;

function Counts({ value: { counts }, isAll }: { readonly value: AgentsResult; readonly isAll: boolean }) {
  const over = OVER.reduce((sum, status) => sum + counts[status], 0);
  const all = Object.values(counts).reduce((sum, count) => sum + count, 0);
  const named = Object.entries(counts).filter(([, count]) => count > 0);
  return (
    <div class="counts">
      <h2 class="group">Agents</h2>
      <nav class="tabs" aria-label="Which agents">
        <a href={hrefTo({ view: 'fleet', id: 'agents' })} aria-current={isAll ? undefined : 'page'}>
          Active <span class="number dim">{renderCount(all - over)}</span>
        </a>
        <a
          href={hrefTo({ view: 'fleet', id: 'agents', query: { show: 'all' } })}
          aria-current={isAll ? 'page' : undefined}
        >
          All <span class="number dim">{renderCount(all)}</span>
        </a>
      </nav>
      <ul class="bar" aria-label="Agents by state">
        {named.map(([state, count]) => (
          <li key={state}>
            <StateMark state={state} word={`${renderCount(count)} ${state}`} />
          </li>
        ))}
      </ul>
    </div>
  );
}

function List({ value: { rows } }: { readonly value: AgentsResult }) {
  const isFleet = rows.some(({ host }) => host !== undefined);
  return (
    <>
      <div class="agent-line columns" aria-hidden="true">
        <span class="mark">State</span>
        <span class="grow">Agent</span>
        <span class="model">Model</span>
        <span class="of">Works on</span>
        {isFleet ? <span class="host">Host</span> : null}
        <span class="age">Age</span>
        <span class="tokens">Tokens</span>
        <span class="cost">Cost</span>
        <span class="of-budget">Budget</span>
      </div>
      <VirtualList count={rows.length} label="Agents" keyOf={(index) => rows[index]?.id}>
        {(index) => {
          const row = rows[index];
          return row === undefined ? null : <AgentLine row={row} />;
        }}
      </VirtualList>
    </>
  );
}

function AgentLine({ row }: { readonly row: AgentRow }) {
  const { id, name, role, status, model, taskId, pipelineId, host, requestedAt, endedAt } = row;
  return (
    <a class="row agent-line" href={hrefTo({ view: 'session', id })} data-agent={id}>
      <span class="mark">
        <StateMark state={status} />
      </span>
      <span class="grow one-line">
        <Words text={name} most={80} />
        {role === null || role === name ? null : (
          <span class="dim">
            {' '}
            <Words text={role} most={40} />
          </span>
        )}{' '}
        <span class="dim number">{id.slice(0, 8)}</span>
      </span>
      <span class="model one-line dim">
        <Words text={model} most={60} />
      </span>
      <span class="of one-line">
        <Words text={taskId ?? pipelineId?.slice(0, 8) ?? ''} most={60} />
      </span>
      {host === undefined ? null : (
        <span class="host one-line dim">
          <Words text={host} most={60} />
        </span>
      )}
      <span class="age" title={endedAt === null ? 'since it was asked for' : 'when it ended'}>
        {endedAt === null ? (
          <Age at={requestedAt} />
        ) : (
          <span class="dim number">{renderAge(now.value - Date.parse(endedAt))} ago</span>
        )}
      </span>
      <span class="tokens number">{row.tokens === null ? '–' : renderAmount(row.tokens)}</span>
      <span class="cost number">
        {renderMoney(row.costMillicents)}
        {row.unpricedTokens > 0 ? '+' : ''}
      </span>
      <span class="of-budget">
        <BudgetMeter budget={row.budget} />
      </span>
    </a>
  );
}
