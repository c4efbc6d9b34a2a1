import fc from 'fast-check';
import { PHASES, type ExitReason, type Phase } from '../protocol/phase.ts';
import type { Caller } from './caller.ts';
import type { CreateTask } from './tasks/create-task.ts';
import type { Command } from './decide.ts';
import { isClaimable, type Model } from './model.cases.ts';
import type { Rules } from './rules.ts';
import * as say from './say.cases.ts';

/** A generated command, built once the model's tasks and sessions are known. */
export type Speech = (model: Model) => readonly [Command, Caller];

const speech = (said: Speech): Speech => said;

const IDS = ['A', 'B', 'C'];
const id = fc.constantFrom('A', 'A', 'B', 'B', 'C');
const role = fc.constantFrom('implementer', 'reviewer', 'closer');
const phase = fc.constantFrom(...PHASES);
/** Any number; its users take a remainder, so that it fits any list. */
const pick = fc.nat(1_000);
const epoch = fc.constantFrom(0, 0, 0, -1, 1);

/** Mostly the session that holds a claim, sometimes one whose claim has ended. */
function someSession(model: Model, n: number, task?: string): Caller & { kind: 'session' } {
  const all = [...model.sessions].map(([sessionId, { task: taskId, epoch }]) => ({ sessionId, taskId, epoch }));
  const live = all.filter(({ sessionId, taskId }) => model.tasks.get(taskId)?.live?.session === sessionId);
  const own = live.filter(({ taskId }) => taskId === task);
  const pool = [own, live, all].find((each, i) => each.length > 0 && (n % 5 > 1 || i > n % 5)) ?? all;
  return { kind: 'session', ...(pool[n % pool.length] ?? { sessionId: 's0', taskId: 'A', epoch: 1 }) };
}

function someCaller(model: Model, n: number, task: string): Caller {
  return n % 3 === 0 ? say.operator : someSession(model, n, task);
}

function current(model: Model, task: string, more: number): number {
  return (model.tasks.get(task)?.epoch ?? 0) + more;
}

/** Different principals, because without them no work would ever be reviewed. */
const CLAIMANTS: readonly Caller[] = [say.worker, { kind: 'worker', name: 'cleo' }, say.operator];

/** A name that was not used before. */
const fresh = (model: Model, prefix: string): string => `${prefix}${model.said}`;

const create = fc
  .tuple(id, fc.subarray(IDS, { maxLength: 2 }), fc.option(phase), fc.option(role), pick)
  .map(([id, after, phase, nextRole, n]) =>
    speech((model) => {
      const more = { ...(phase === null || n % 3 > 0 ? {} : { phase }), ...(nextRole === null ? {} : { nextRole }) };
      const caller = n % 4 === 0 ? someSession(model, n) : say.operator;
      return [say.create(id, { after: n % 2 === 0 ? [] : after, ...more }), caller];
    }),
  );

const depend = fc.tuple(id, id).map(([a, b]) => speech(() => [say.depend(a, b), say.operator]));

const claim = fc
  .tuple(id, fc.option(role), fc.subarray(['result', 'handoff', 'thought_record'] as const), pick)
  .map(([some, role, requires, n]) =>
    speech((model) => {
      const free = [...model.tasks].filter(([, task]) => isClaimable(model, task)).map(([each]) => each);
      const id = (n % 5 > 0 ? free[n % free.length] : undefined) ?? some;
      const turn = model.tasks.get(id)?.role ?? role;
      const played = n % 4 === 0 ? role : turn;
      const sessionId = n % 20 === 0 ? someSession(model, n).sessionId : fresh(model, 's');
      const more = { ...(played === null ? {} : { role: played }), requires: n % 3 === 0 ? requires : [] };
      return [say.claim(id, sessionId, more), CLAIMANTS[n % CLAIMANTS.length] ?? say.worker];
    }),
  );

const release = fc
  .tuple(id, fc.option(epoch), pick)
  .map(([id, epoch, n]) =>
    speech((model) => [
      say.release(id, epoch === null ? {} : { epoch: n % 3 === 0 ? current(model, id, epoch) : current(model, id, 0) }),
      someCaller(model, n, id),
    ]),
  );

const expire = fc
  .tuple(id, epoch)
  .map(([id, more]) => speech((model) => [say.expire(id, current(model, id, more)), say.system]));

const update = fc
  .tuple(id, fc.constantFrom('todo', 'in_progress', 'blocked', 'done', 'done'), pick)
  .map(([task_id, status, n]) =>
    speech((model) => [say.update(status, { task_id, notes: 'n', progress: n % 101 }), someCaller(model, n, task_id)]),
  );

const record = fc
  .tuple(id, fc.constantFrom('record', 'record', 'complete'), fc.option(epoch), pick)
  .map(([task_id, what, more, n]) =>
    speech((model) => {
      const status = n % 10 === 0 ? ({ status: 'todo' } as const) : {};
      const epoch = more === null ? undefined : current(model, task_id, more);
      const said = what === 'record' ? say.record : say.complete;
      return [said({ task_id, ...status }, epoch), someCaller(model, n, task_id)];
    }),
  );

/** Mostly the actions with which the task progresses. */
const operate = fc.tuple(id, fc.constantFrom('unblock', 'reinstate', 'cancel', 'waive'), pick).map(([some, any, n]) =>
  speech((model) => {
    const stuck = [...model.tasks].filter(([, { phase }]) => phase === 'BLOCKED' || phase === 'COMPLETED');
    const [id, task] = (n % 4 > 0 ? stuck[n % stuck.length] : undefined) ?? [some, model.tasks.get(some)];
    const helps = task?.phase === 'COMPLETED' ? 'reinstate' : 'unblock';
    return [say.operate(n % 4 > 0 ? helps : any, 'because', id), say.operator];
  }),
);

const COMPLETED = Array.from({ length: 6 }, () => 'completed' as const);

const exit = fc
  .tuple(phase, fc.constantFrom<ExitReason[]>(...COMPLETED, 'blocked', 'error'), pick)
  .map(([phase, reason, n]) =>
    speech((model) => {
      const caller = someSession(model, n);
      const own: Phase = model.tasks.get(caller.taskId)?.phase ?? phase;
      const more = {
        committed: n % 7 === 0,
        violations: n % 11 === 0 ? ['too many files'] : [],
        eventId: fresh(model, 'e'),
      };
      return [say.exit(n % 9 === 0 ? phase : own, reason, more), caller];
    }),
  );

const result = fc.tuple(fc.constantFrom('completed', 'completed', 'failed', 'blocked'), pick).map(([status, n]) =>
  speech((model) => {
    const caller = someSession(model, n);
    const serial = [...model.tasks.keys()].indexOf(caller.taskId) + 1;
    return [say.result(status, `T${String(serial).padStart(3, '0')}`), caller];
  }),
);

const handoff = fc.tuple(id, fc.option(phase), fc.option(role), role, pick).map(([taskId, phase, nextRole, other, n]) =>
  speech((model) => {
    const caller = n % 2 === 0 ? someSession(model, n, taskId) : someCaller(model, n, taskId);
    const task = model.tasks.get(caller.kind === 'session' ? caller.taskId : taskId);
    const senderRole = n % 6 === 0 ? other : (task?.live?.role ?? task?.role ?? other);
    const about = caller.kind === 'session' ? caller.taskId : taskId;
    const way =
      n % 5 === 0 ? { to: 'orchestrator', phase: 'BLOCKED' as const, nextRole: senderRole } : { phase, nextRole };
    return [say.handoff({ handoffId: fresh(model, 'h'), taskId: about, senderRole, ...way }), caller];
  }),
);

/** Every command that any caller may send, the important ones most often. */
export const SPEECHES: readonly fc.Arbitrary<Speech>[] = [
  create,
  depend,
  release,
  expire,
  result,
  update,
  update,
  record,
  record,
  record,
  operate,
  operate,
  handoff,
  handoff,
  claim,
  claim,
  claim,
  claim,
  exit,
  exit,
  exit,
];

/** Two initial tasks in random phases. */
export const BEGINNING: fc.Arbitrary<readonly CreateTask[]> = fc.tuple(startOf('A'), startOf('B'));

function startOf(id: string): fc.Arbitrary<CreateTask> {
  const open = PHASES.filter((phase) => phase !== 'COMPLETED' && phase !== 'BLOCKED');
  const options = { id: fc.constant(id), title: fc.constant(id), phase: fc.constantFrom(...open), nextRole: role };
  return fc.record(options, { requiredKeys: ['id', 'title', 'phase'] });
}

/** Mostly no gates, because few commands succeed behind a closed gate. */
export const GATES: fc.Arbitrary<Rules> = fc.constantFrom(
  { ciGate: false, mergeGate: false },
  { ciGate: false, mergeGate: false },
  { ciGate: true, mergeGate: false },
  { ciGate: false, mergeGate: true },
  { ciGate: true, mergeGate: true },
);
