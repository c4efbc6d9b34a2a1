import type { Route } from '../../app/router.ts';
import { Empty } from '../../kit/loading.tsx';
import { STEERED, type SteeredKind } from '../../model/run/kinds.ts';
import { AgentRunPage } from './agent-run.tsx';
import { PipelineRunPage } from './pipeline-run.tsx';
import { TaskRunPage } from './task-run.tsx';

/** One run: `task:ID`, `pipeline:ID` or `agent:ID`. */
export function RunPage({ route }: { readonly route: Route }) {
  const { kind, id } = parseRunKey(route.id ?? '');
  switch (kind) {
    case 'task':
      return <TaskRunPage id={id} route={route} />;
    case 'pipeline':
      return <PipelineRunPage id={id} route={route} />;
    case 'agent':
      return <AgentRunPage id={id} route={route} />;
    case undefined:
      return <Empty>This address names no run.</Empty>;
  }
}

function parseRunKey(key: string): { readonly kind: SteeredKind | undefined; readonly id: string } {
  const at = key.indexOf(':');
  return { kind: STEERED.find((kind) => kind === key.slice(0, at)), id: key.slice(at + 1) };
}
