import type { TaskOverview, VisitView } from '../../api/operations/task-view.ts';
import type { StageView } from '../../api/stage-views.ts';
import type { Activity } from '../../protocol/phase.ts';
import { renderElapsedTime } from '../../protocol/text/text-format.ts';
import { type Piece, signOf, type Style } from '../status/paint.ts';
import { padTo, widthOf } from '../table.ts';

export type Line = readonly Piece[];

/** Renders a duration: `0.4s`, `12s`, `3m 5s`, `2h 10m`. */
export function renderMs(ms: number): string {
  const tenths = Math.floor(Math.max(0, ms) / 100);
  return tenths < 100 ? `${tenths / 10}s` : renderElapsedTime(Math.floor(ms / 1000) * 1000);
}

export const ACTIVITY_WORDS: Readonly<Record<Activity, string>> = {
  pending: 'waiting for other tasks',
  queued: 'queued',
  running: 'running',
  checks: 'checks run',
  merging: 'merging',
  waiting: 'waiting for a person',
  blocked: 'blocked',
  done: 'done',
  cancelled: 'cancelled',
};

/** The sign of the current activity. */
export function activitySign(activity: Activity): readonly [sign: string, style: Style] {
  switch (activity) {
    case 'checks':
    case 'merging':
      return signOf('running');
    case 'queued':
      return signOf('starting');
    case 'blocked':
      return signOf('failed');
    default:
      return signOf(activity);
  }
}

function stageSign({ status, activity }: Pick<StageView, 'status' | 'activity'>) {
  return status === 'now' && activity !== null ? activitySign(activity) : signOf(status);
}

/** Renders a task's stages on one line: `✓ prep · ✓ implementer · ● ci · reviewer`. */
export function stageStrip(stages: readonly Pick<StageView, 'name' | 'status' | 'activity' | 'visits'>[]): Line {
  return stages.flatMap((stage, i): Piece[] => [
    ...(i === 0 ? [] : [['  '] as Piece]),
    stageSign(stage),
    [` ${nameOf(stage)}`, stage.status === 'ahead' ? 'dim' : stage.status === 'now' ? 'bold' : 'plain'],
  ]);
}

function nameOf({ name, visits }: Pick<StageView, 'name' | 'visits'>): string {
  return visits > 1 ? `${name} ×${visits}` : name;
}

/** Renders a line for each stage: its sign, its name, the time of work in it, and other times. */
export function stageLines(stages: readonly StageView[]): Line[] {
  const names = Math.max(0, ...stages.map((stage) => widthOf(nameOf(stage))));
  const times = Math.max(0, ...stages.map((stage) => renderWork(stage).length));
  return stages.map((stage) => [
    stageSign(stage),
    [` ${padTo(nameOf(stage), names)}`, stage.status === 'ahead' ? 'dim' : stage.status === 'now' ? 'bold' : 'plain'],
    ...(times === 0 ? [] : [[`  ${renderWork(stage).padStart(times)}`] as Piece]),
    ...nowPieces(stage),
    ...outcomePieces(stage),
    ...restPieces(stage),
  ]);
}

type Times = TaskOverview['times'];

function renderWork(times: Times): string {
  const ms = times.running_ms + times.checks_ms + times.merging_ms;
  return ms === 0 ? '' : renderMs(ms);
}

type Place = Pick<StageView, 'status' | 'activity'> & Times;

/** Renders the current activity, and for how long the task has been idle, if it is. */
function nowPieces({ status, activity, ...times }: Place): Piece[] {
  if (status !== 'now' || activity === null) return [];
  const rest = RESTS.find(({ of }) => of === activity);
  const age = rest === undefined ? '' : ` ${renderMs(times[rest.field])}`;
  const style = activity === 'waiting' ? 'call' : activity === 'blocked' ? 'bad' : 'busy';
  return [[`  ${ACTIVITY_WORDS[activity]}${age}`, style]];
}

function outcomePieces({ status, outcome }: StageView): Piece[] {
  return status === 'failed' && outcome !== null ? [[`  ${outcome}`, 'bad']] : [];
}

/** Renders times without work, except the current activity's. */
function restPieces(place: Place): Piece[] {
  const rest = renderRest(place, place.status === 'now' ? place.activity : null);
  return rest === '' ? [] : [[`  ${rest}`, 'dim']];
}

const RESTS = [
  { of: 'pending', field: 'pending_ms', words: 'for other tasks' },
  { of: 'queued', field: 'queued_ms', words: 'queued' },
  { of: 'waiting', field: 'waiting_ms', words: 'for a person' },
  { of: 'blocked', field: 'blocked_ms', words: 'blocked' },
] as const satisfies readonly { readonly of: Activity; readonly field: keyof Times; readonly words: string }[];

function renderRest(times: Times, except: Activity | null = null): string {
  return RESTS.filter(({ of, field }) => of !== except && times[field] >= SHOWN_REST_MS)
    .map(({ field, words }) => `${renderMs(times[field])} ${words}`)
    .join(', ');
}

/** Shorter waits are not shown. */
const SHOWN_REST_MS = 1000;

/** Renders all times on one line. */
export function renderTimes(times: Times, except: Activity | null = null): string {
  const work: [number, string][] = [
    [times.running_ms, 'running'],
    [times.checks_ms, 'checks'],
    [times.merging_ms, 'merging'],
  ];
  const parts = work.filter(([ms]) => ms > 0).map(([ms, what]) => `${renderMs(ms)} ${what}`);
  return [...parts, renderRest(times, except)].filter((part) => part !== '').join(', ');
}

/** Renders one visit to a stage, with its round and holder. */
export function visitPieces(visit: VisitView, names: number): Piece[] {
  const { stage, round, holder, outcome, to, activity } = visit;
  const isOn = to === null;
  const isSentBack = outcome === null && activity === 'waiting';
  const status = isOn ? 'now' : isSentBack ? 'ahead' : outcome === null || GOOD.has(outcome) ? 'done' : 'failed';
  const times = renderTimes(visit, isOn ? activity : null);
  return [
    stageSign({ status, activity }),
    [` ${padTo(stage, names)}`, isOn ? 'bold' : 'plain'],
    ...(times === '' ? [] : [[`  ${times}`] as Piece]),
    ...nowPieces({ ...visit, status }),
    ...(outcome === null ? [] : [[`  ${outcome}`, status === 'failed' ? 'bad' : 'plain'] as Piece]),
    ...(holder === null || holder === stage ? [] : [[`  ${holder}`, 'dim'] as Piece]),
    ...(round === 0 ? [] : [[`  round ${round}`, 'dim'] as Piece]),
  ];
}

const GOOD: ReadonlySet<string> = new Set(['completed', 'passed', 'merged']);

/** Advances the view by `ms` milliseconds without events, so that ages grow between two answers of the daemon. */
export function afterMs(view: TaskOverview, ms: number): TaskOverview {
  const field = TIME_FIELDS[view.activity];
  if (field === undefined || ms <= 0) return view;
  const grow = <T extends Times>(times: T): T => ({ ...times, [field]: times[field] + ms });
  return {
    ...view,
    at: new Date(Date.parse(view.at) + ms).toISOString(),
    times: grow(view.times),
    stages: view.stages.map((stage) => (stage.status === 'now' ? grow(stage) : stage)),
    visits: view.visits.map((visit) => (visit.to === null ? grow(visit) : visit)),
  };
}

const TIME_FIELDS: Readonly<Partial<Record<Activity, keyof Times>>> = {
  pending: 'pending_ms',
  queued: 'queued_ms',
  running: 'running_ms',
  checks: 'checks_ms',
  merging: 'merging_ms',
  waiting: 'waiting_ms',
  blocked: 'blocked_ms',
};
