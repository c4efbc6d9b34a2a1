import { hrefTo } from '../../app/router.ts';
import type { ViewProps } from '../../app/view-props.ts';
import { Tabs } from '../../kit/split.tsx';
import { Agents } from './agents.tsx';
import { Costs } from './costs.tsx';
import { Hosts } from './hosts.tsx';

const PARTS = [
  ['agents', 'Agents'],
  ['hosts', 'Hosts'],
  ['costs', 'Costs'],
] as const;

export function Fleet({ route: { id, query }, status }: ViewProps) {
  const part = PARTS.find(([name]) => name === id)?.[0] ?? 'agents';
  return (
    <div class="fleet-page">
      <header class="head">
        <h1>Fleet and costs</h1>
      </header>
      <Tabs parts={PARTS} now={part} to={(name) => hrefTo({ view: 'fleet', id: name })} />
      {part === 'agents' ? <Agents status={status} isAll={query['show'] === 'all'} /> : null}
      {part === 'hosts' ? <Hosts status={status} /> : null}
      {part === 'costs' ? <Costs query={query} /> : null}
    </div>
  );
}
