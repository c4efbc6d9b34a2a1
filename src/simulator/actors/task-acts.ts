import type { OperateTask } from '../../state/tasks/operate-task.ts';
import type { Task } from '../../state/tasks/task.ts';
import type { Host } from '../world/parts.ts';
import { branchOf } from './agent-program.ts';
import { workByHand } from './hand-work.ts';
import { passOn, record } from './messages.ts';
import { type Acts, pick, type Scene, SYSTEM } from './scene.ts';

/** What people do with tasks. */
export const TASK_ACTS = {
  note: ({ world, host, say, n }) => {
    const task = pick([...host.state.tasks.values()], n);
    const text = world.newId('look at ');
    if (task === undefined || !say({ kind: 'note-task', command: { task_id: task.id, text } })) return false;
    world.auditor.noted(task.id, text);
    return true;
  },
  cancel: operate('cancel'),
  unblock: operate('unblock'),
  reinstate: operate('reinstate'),
  waive: operate('waive'),
  'waive constraint': ({ sayOfATask }) =>
    sayOfATask(({ id }) => ({ kind: 'waive-constraint', command: { id, constraint: 'max_files', reason: 'it is large' } })), // prettier-ignore
  'move rules': ({ sayOfATask }) => sayOfATask(({ id }) => ({ kind: 'move-task-rules', command: { ids: [id] } })),
  release: ({ sayOfATask }) =>
    sayOfATask(({ id, claim }) => (claim === null ? undefined : { kind: 'release-claim', command: { id } })),
  'claim by hand': ({ host, n }) => workByHand(host, n, undefined),
  'take review': ({ host, n }) => workByHand(host, n, 'reviewer'),
  'self-approve': ({ sayOfATask }) =>
    sayOfATask(({ id }) => ({ kind: 'self-approve', command: { id, reason: 'it is small' } })),
  complete: ({ sayOfATask }) =>
    sayOfATask(({ id }) => ({ kind: 'update-task', command: { task_id: id, status: 'done' } })),
  block: ({ host, say, n }) => {
    const task = pick([...host.state.tasks.values()], n);
    return task !== undefined && say({ kind: 'update-task', command: { task_id: task.id, status: 'blocked', notes: 'wait' } }); // prettier-ignore
  },
  'request merge': ({ world, sayOfATask }) =>
    sayOfATask(({ id }) => ({ kind: 'request-merge', command: { id, mergeId: world.newId('merge-') } })),
  'operator handoff': ({ world, sayOfATask, n }) =>
    sayOfATask((task) => passOn(world.newId('h'), task, n % 4 === 0 ? 'reviewer' : (task.nextRole ?? 'implementer'))),
  record: ({ world, host, sayOfATask, n }) =>
    sayOfATask((task) => {
      const sha = world.git.branch(host.name, branchOf(task)) ?? world.git.main;
      return record(world.newId('r'), task, branchOf(task), sha, n % 4 === 0 ? { status: 'todo' } : {});
    }),
  'new task': ({ world, say }) => say({ kind: 'create-task', command: { id: world.newId('N'), title: 'another' } }),
  'import tasks': ({ world, say, n }) => {
    const issue = { repository: 'owner/name', number: n + 1 };
    const tasks = (['todo', 'in_progress', 'done', 'blocked', 'cancelled'] as const).map((status) => {
      const of = status === 'todo' ? { githubIssue: issue } : {};
      return { id: world.newId('I'), title: `from elsewhere, ${status}`, status, ...of };
    });
    const isIn = say({ kind: 'import-tasks', command: { source: 'a list', tasks } });
    if (isIn)
      say({ kind: 'start-workflow', command: { tasks: tasks.slice(0, 1).map(({ id }) => id), mode: 'autonomous' } });
    return isIn;
  },
  depend: ({ host, sayOfATask, n }) =>
    sayOfATask(({ id }) => {
      return { kind: 'add-dependency', command: { id, after: pick([...host.state.tasks.keys()], n + 1) ?? '' } };
    }),
  audit: ({ world, host, say, n }) => {
    const auditId = world.newId('audit-');
    const taskId = pick([...host.state.tasks.keys()], n) ?? null;
    if (!say({ kind: 'start-audit', command: { auditId, taskId } })) return false;
    const { size } = world.chain;
    world.timetable.in(3000, () => {
      say({ kind: 'verify-audit', command: { auditId, size, root: 'r' } });
      say({ kind: 'seal', command: null });
    });
    return true;
  },
  reconcile: ({ host, n }) => {
    const task = pick([...host.state.tasks.values()], n);
    return task !== undefined && reconcile(host, task, n);
  },
  'report check': ({ world, host, say, n }) => {
    for (const { flow } of host.state.tasks.values()) {
      const { checks } = flow;
      const name = checks?.plans[n % Math.max(1, checks.plans.length)]?.name;
      if (!checks || name === undefined || checks.outcome !== null) continue;
      const about = { exit_code: null, log: null, output: null, handoffId: world.newId('h') };
      const command = { checks_id: checks.id, name, outcome: 'cancelled', ...about } as const;
      return say({ kind: 'finish-check', command }, SYSTEM);
    }
    return false;
  },
} satisfies Acts;

function operate(action: OperateTask['action']): (scene: Scene) => boolean {
  return ({ sayOfATask }) =>
    sayOfATask(({ id }) => ({ kind: 'operate-task', command: { id, action, reason: 'because' } }));
}

function reconcile(host: Host, task: Task, n: number): boolean {
  const about = { taskId: task.id, epoch: task.epoch, movedAt: task.flow.movedAt, context: 'it does not fit git' };
  const remedy = task.phase === 'COMPLETED' ? 'reinstate' : null;
  const findings =
    n % 3 === 0 ? [] : [{ decisionId: host.world.newId('d'), kind: 'commit-missing', remedy, ...about } as const];
  return host.submit({ kind: 'raise-findings', command: { findings } }, SYSTEM).kind === 'ok';
}
