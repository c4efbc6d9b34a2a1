import { EVENTS } from '../../state/event.ts';
import type { State } from '../../state/state.ts';
import { listAgents } from './fleet/agent-rows.ts';
import { findAnything } from './find-anything.ts';
import { listRecent } from './inbox/recent.ts';
import { listWaits } from './inbox/waits.ts';
import { linksOf } from './tasks/task-links.ts';
import { listTasks } from './tasks/task-rows.ts';
import { viewSteering } from './run/steering.ts';
import { viewStepGraph } from './run/step-graph.ts';
import { viewTaskTimeline } from './run/task-timeline.ts';
import { viewWork } from './run/work-rows.ts';

const ENTRY_TYPES: readonly string[] = Object.keys(EVENTS).toSorted();

/**
 * Views of the folded state, computed in the hub. Each is a pure function; a view file adds its own by one line here.
 * Parameters and results are plain data, because they are sent between threads.
 */
const STATE_VIEWS = {
  agents: listAgents,
  find: findAnything,
  recent: listRecent,
  waits: listWaits,
  tasks: listTasks,
  task_links: linksOf,
  work: viewWork,
  task_timeline: viewTaskTimeline,
  step_graph: viewStepGraph,
  steering: viewSteering,
  entry_types: () => ENTRY_TYPES,
};

export type StateViews = {
  readonly [V in keyof typeof STATE_VIEWS]: (typeof STATE_VIEWS)[V] extends (state: State, ...rest: infer P) => infer R
    ? { readonly params: P extends readonly [infer First, ...unknown[]] ? First : object; readonly result: R }
    : never;
};

/** Computes a view. `nowMs`: the time for which it is computed. */
export function computeView(state: State, view: keyof StateViews, params: object, nowMs: number): unknown {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- `useStateView` checks the parameters of each view
  const compute = STATE_VIEWS[view] as (state: State, params: object, nowMs: number) => unknown;
  return compute(state, params, nowMs);
}
