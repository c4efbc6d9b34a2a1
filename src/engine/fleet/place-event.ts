import type { Event } from '../../state/event.ts';
import { hostOf } from '../../state/fleet/fleet.ts';
import type { State } from '../../state/state.ts';

/**
 * Adds the host to each new claim and run. A claim is on the deciding host. A run is where its claim or its pipeline
 * is, even if another host decided to start it; without either, on the deciding host. On SQLite no host is named.
 */
export function placeEvent(event: Event, state: State, here: string | undefined): Event {
  if (here === undefined) return event;
  switch (event.type) {
    case 'TaskClaimed':
      return { ...event, data: { host: here, ...event.data } };
    case 'PipelineStarted': {
      const { parent, task } = event.data;
      const host = findHostAround(state, parent?.pipeline_id, task) ?? here;
      return { ...event, data: { host, ...event.data } };
    }
    case 'AgentRequested': {
      const { owner, task } = event.data;
      const host = findHostAround(state, owner?.pipeline_id, task) ?? here;
      return { ...event, data: { host, ...event.data } };
    }
    default:
      return event;
  }
}

function findHostAround(
  state: State,
  pipelineId: string | undefined,
  task: { readonly task_id: string; readonly session_id: string } | null,
): string | undefined {
  const around = state.pipelines.get(pipelineId ?? '');
  if (around !== undefined) return hostOf(around, state);
  const claim = state.tasks.get(task?.task_id ?? '')?.claim;
  return claim?.sessionId === task?.session_id && claim ? hostOf(claim, state) : undefined;
}
