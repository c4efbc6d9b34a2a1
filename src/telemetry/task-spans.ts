import { type Events, HOW_CLAIM_ENDED, type RecordedEvent } from '../state/event.ts';
import { BoundedMap } from './bounded-map.ts';
import { labelValue } from './label-value.ts';
import { TELEMETRY_LIMITS } from './limits.ts';
import { hostOf, type OpenTraces, spanKey } from './open-traces.ts';

/** The part of a task that determines when its trace ends. */
interface TracedTask {
  phase: string;
  nextRole: string | null;
  isClaimed: boolean;
}

/** Folds a task's life between its runs into spans: claims, checks, merges. */
export class TaskSpans {
  readonly #traces: OpenTraces;
  readonly #tasks = new BoundedMap<TracedTask>(TELEMETRY_LIMITS.openTraces);
  /** The mode of each workflow, by task id. A reinstated task is still a workflow. */
  readonly #modes = new BoundedMap<string>(TELEMETRY_LIMITS.underWay);

  /** The check of a commit that Baton is running, and those after it: it runs them in order until one fails. */
  readonly #ownChecks = new BoundedMap<readonly string[]>(TELEMETRY_LIMITS.underWay);

  constructor(traces: OpenTraces) {
    this.#traces = traces;
  }

  add(recorded: RecordedEvent): void {
    const { type, data, at } = recorded;
    const how = HOW_CLAIM_ENDED.get(type);
    if (how !== undefined && 'task_id' in data && 'epoch' in data) {
      this.#traces.end(spanKey('session', `${data.task_id}/${data.epoch}`), at, how);
      this.#update(data.task_id ?? '', at, { isClaimed: false });
      return;
    }
    switch (type) {
      case 'WorkflowStarted':
        this.#modes.set(data.task_id, data.mode);
        this.#open(data.task_id, at);
        break;
      case 'TaskClaimed':
        this.#open(data.task_id, at);
        this.#update(data.task_id, at, { isClaimed: true });
        this.#traces.begin({
          kind: 'session',
          id: `${data.task_id}/${data.epoch}`,
          parent: spanKey('task', data.task_id),
          name: data.role,
          at,
          attributes: {
            'baton.task.id': labelValue(data.task_id),
            'baton.session.id': labelValue(data.session_id),
            'baton.epoch': data.epoch,
            'baton.role': labelValue(data.role),
            ...hostOf(data),
          },
        });
        break;
      case 'PhaseMoved':
        this.#update(data.task_id, at, { phase: data.to, nextRole: data.next_role });
        if (data.cause === 'cancelled') this.#end(data.task_id, at, 'cancelled');
        break;
      case 'ChecksRequested':
        this.#beginChecks(data, at);
        break;
      case 'CheckFinished':
        this.#traces.end(spanKey('check', `${data.checks_id}/${data.name}`), at, data.outcome);
        this.#beginNextCheck(data, at);
        break;
      case 'ChecksFinished':
        this.#ownChecks.take(data.checks_id);
        this.#traces.end(spanKey('checks', data.checks_id), at, data.outcome);
        break;
      case 'MergeRequested': {
        const parent = spanKey('task', data.task_id);
        const attributes = { 'baton.merge.method': data.method };
        this.#traces.begin({ kind: 'merge', id: data.merge_id, parent, name: null, at, attributes });
        break;
      }
      case 'MergeFinished':
        this.#traces.end(spanKey('merge', data.merge_id), at, data.outcome);
        break;
      default:
    }
  }

  #beginChecks({ checks_id, task_id, checks }: Events['ChecksRequested'], at: string): void {
    const parent = spanKey('task', task_id);
    this.#traces.begin({ kind: 'checks', id: checks_id, parent, name: null, at, attributes: {} });
    const own = checks.filter(({ run }) => run !== undefined).map(({ name }) => name);
    this.#ownChecks.set(checks_id, own);
    for (const { name } of checks) if (name === own[0] || !own.includes(name)) this.#beginCheck(checks_id, name, at);
  }

  #beginNextCheck({ checks_id, name, outcome }: Events['CheckFinished'], at: string): void {
    const [current, ...later] = this.#ownChecks.get(checks_id) ?? [];
    if (name !== current || outcome !== 'passed') return;
    this.#ownChecks.set(checks_id, later);
    if (later[0] !== undefined) this.#beginCheck(checks_id, later[0], at);
  }

  #beginCheck(checksId: string, name: string, at: string): void {
    const attributes = { 'baton.check.name': labelValue(name) };
    const parent = spanKey('checks', checksId);
    this.#traces.begin({ kind: 'check', id: `${checksId}/${name}`, parent, name, at, attributes });
  }

  #open(taskId: string, at: string): void {
    if (this.#tasks.get(taskId) !== undefined) return;
    this.#tasks.set(taskId, { phase: '', nextRole: null, isClaimed: false });
    const mode = this.#modes.get(taskId);
    const attributes = { 'baton.task.id': labelValue(taskId), 'baton.mode': labelValue(mode) };
    this.#traces.begin({ kind: 'task', id: taskId, name: null, at, attributes });
  }

  /**
   * Updates a task, and ends its trace: a workflow continues after its merge until no role is left; any other task ends
   * when it is completed.
   */
  #update(taskId: string, at: string, change: Partial<TracedTask>): void {
    const task = this.#tasks.get(taskId);
    if (task === undefined) return;
    Object.assign(task, change);
    const isLast = task.nextRole === null || this.#modes.get(taskId) === undefined;
    if (task.phase === 'COMPLETED' && !task.isClaimed && isLast) this.#end(taskId, at, 'completed');
  }

  #end(taskId: string, at: string, outcome: string): void {
    if (this.#tasks.take(taskId) !== undefined) this.#traces.end(spanKey('task', taskId), at, outcome);
  }
}
