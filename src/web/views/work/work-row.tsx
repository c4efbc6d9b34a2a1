import { hrefTo, type Route } from '../../app/router.ts';
import { renderAmount, renderMoney } from '../../kit/numbers.ts';
import { Stages } from '../../kit/stages.tsx';
import { StateMark } from '../../kit/state-mark.tsx';
import { Age } from '../../kit/time.tsx';
import { visible } from '../../kit/visible.ts';
import { Words } from '../../kit/words.tsx';
import type { WorkRow as Row } from '../../model/run/work-rows.ts';
import { Heard, LastLine, useLastOutput } from './last-output.tsx';

const KINDS: Readonly<Record<Row['kind'], string>> = {
  workflow: 'workflow',
  task: 'task',
  pipeline: 'pipeline',
  agent: 'agent',
};

export function WorkRow({ row, route }: { readonly row: Row; readonly route: Route }) {
  const { key, kind, id, group, state, agent } = row;
  const isLive = group !== 'ended' && agent !== null && LIVE.has(agent.status);
  const output = useLastOutput(isLive ? agent.id : undefined);
  const hooks =
    kind === 'agent' ? { 'data-agent': id } : kind === 'pipeline' ? { 'data-pipeline': id } : { 'data-task': id };
  return (
    <a
      class="row work-row"
      href={hrefTo({ view: 'work', id: key, query: route.query })}
      aria-current={route.id === key ? 'true' : undefined}
      {...hooks}
    >
      <span class="cell-state">
        <StateMark state={state} {...(state === 'escalated' ? { word: 'waiting' } : {})} />
      </span>
      <span class="cell-run one-line" title={visible(row.title, 500)}>
        <Words text={row.title} most={200} /> <span class="dim">{KINDS[kind]}</span>
        {row.host === undefined ? null : (
          <span class="dim">
            {' '}
            on <Words text={row.host} most={40} />
          </span>
        )}
      </span>
      <span class="cell-stages">
        <Stages stages={row.stages} compact />
      </span>
      <span class="cell-last-line one-line dim">
        {group === 'running' ? (
          <LastLine output={output} fallback={agent?.lastLine ?? null} />
        ) : (
          <Words text={row.reason ?? agent?.lastLine} most={300} />
        )}
      </span>
      <span class="cell-tokens number" title="Tokens: input, output and cached">
        {row.tokens === 0 ? '–' : renderAmount(row.tokens)}
        <span class="sr"> tokens</span>
      </span>
      <span class="cell-cost number" title={costTitle(row)}>
        {renderCost(row)}
      </span>
      <span class="cell-last-report number">{isLive ? <Heard output={output} /> : <span class="dim">–</span>}</span>
      <span class="cell-age number" title={row.endedAt === null ? `Started ${row.startedAt}` : `Ended ${row.endedAt}`}>
        <Age at={row.endedAt ?? row.startedAt} />
      </span>
    </a>
  );
}

const LIVE: ReadonlySet<string> = new Set(['running', 'attached', 'escalated', 'leaving']);

/** Renders a cost; it is a lower bound if tokens without a price are missing. */
function renderCost({
  tokens,
  costMillicents,
  unpricedTokens,
}: Pick<Row, 'tokens' | 'costMillicents' | 'unpricedTokens'>): string {
  if (tokens === 0 || (costMillicents === 0 && unpricedTokens > 0)) return '–';
  return `${unpricedTokens > 0 ? '≥ ' : ''}${renderMoney(costMillicents)}`;
}

function costTitle({ unpricedTokens }: Row): string {
  return unpricedTokens === 0 ? 'Cost' : `Cost; ${renderAmount(unpricedTokens)} tokens have no known price`;
}
