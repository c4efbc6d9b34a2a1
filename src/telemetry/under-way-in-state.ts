import type { State } from '../state/state.ts';
import { labelValue } from './label-value.ts';
import { NOTHING_USED, nothingUnderWay, type UnderWay } from './measure-entry.ts';

/** The open work at a daemon's start, read from the state, so that no entry is read again. */
export function underWayIn(project: string, state: State): UnderWay {
  const now = nothingUnderWay(project);
  for (const { id, plan, usage } of state.agents.values())
    now.agents.set(id, { name: labelValue(plan.name), used: usage ?? NOTHING_USED });
  for (const { id, source, openedAt: at, over } of state.decisions.values())
    if (over === null) now.decisions.set(id, { name: source, at });
  for (const { id, name, startedAt: at, over } of state.pipelines.values())
    if (over === null) now.pipelines.set(id, { name: labelValue(name), at });
  for (const { id, claim, flow } of state.tasks.values()) {
    if (claim !== null) now.claims.set(id, labelValue(claim.role));
    const last = flow.handoff === null ? undefined : state.timelines.get(id)?.spans.at(-1);
    if (last?.activity === 'queued') now.handoffs.set(id, last.from);
  }
  return now;
}
