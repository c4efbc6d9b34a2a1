import { CLAIM_ENDS, type Event, type EventType, type RecordedEvent } from '../state/event.ts';
import { isAboutOverspent } from '../state/runs/open-decisions.ts';
import { decideConfigureWorkers } from '../state/runs/steer-pipeline.ts';
import type { EngineContext } from './context.ts';

/** Whether this entry, and those that follow from it, may free room for another agent or create work for a worker. */
export function makesRoom(world: EngineContext, recorded: RecordedEvent, followed: readonly Event[]): boolean {
  return (
    MAKES_ROOM.has(recorded.type) ||
    isNewDay(recorded) ||
    isAnswered(recorded, followed) ||
    liftsObstacle(world, recorded) ||
    isOverspentDecision(world, recorded)
  );
}

/** Whether a host that did not record this entry should look for work; see `lookForWork`. */
export function mayGiveWork({ type }: Pick<RecordedEvent, 'type'>): boolean {
  return MAKES_ROOM.has(type) || LIFTS_OBSTACLES.has(type);
}

/** Work that the previous day's budget held back may start. */
function isNewDay({ type, data }: RecordedEvent): boolean {
  return type === 'TimerFired' && data.purpose.kind === 'day';
}

/** The decision held a review or a merge. If its answer moves a task, that move makes room. */
function isAnswered({ type }: RecordedEvent, followed: readonly Event[]): boolean {
  return (type === 'DecisionResolved' || type === 'DecisionWithdrawn') && followed.length === 0;
}

/** Workers that start workflows may have waited for the first main branch, or for rules that allow them. */
function liftsObstacle({ state, rules }: EngineContext, { type, data }: RecordedEvent): boolean {
  if (type === 'MainMoved') return data.old === null;
  if (type !== 'RunbookAdopted' || rules.workers === undefined) return false;
  // If the workers changed, `WorkersConfigured` follows. Until then those of the previous runbook must not start work.
  const configured = decideConfigureWorkers(state, { workers: rules.workers });
  return configured.ok && configured.events.length === 0;
}

/** Whether this decision was opened in place of an entry that would have made room. */
function isOverspentDecision({ state }: EngineContext, { type, data }: RecordedEvent): boolean {
  const asked = type === 'DecisionOpened' ? state.decisions.get(data.decision_id) : undefined;
  return asked !== undefined && isAboutOverspent(state, asked);
}

const MAKES_ROOM: ReadonlySet<string> = new Set<EventType>([
  'WorkersConfigured',
  'ChecksDeclined',
  'TaskCreated',
  'PhaseMoved',
  'AgentExited',
  'AgentStartFailed',
  'AgentEnded',
  'AgentParked',
  'PipelineFinished',
  'BudgetRaised',
  'TaskHeld',
  'TaskFreed',
  'TaskAssigned',
  'TaskRulesMoved',
  'MergeFinished',
  'HostJoined',
  'HostDrained',
  'HostRemoved',
  'WorkPushed',
  ...Object.values(CLAIM_ENDS),
]);

/** Whether these lift an obstacle depends on the state at that time. A host that looks in vain loses little. */
const LIFTS_OBSTACLES: ReadonlySet<string> = new Set<EventType>([
  'TimerFired',
  'DecisionOpened',
  'DecisionResolved',
  'DecisionWithdrawn',
  'MainMoved',
  'RunbookAdopted',
]);
