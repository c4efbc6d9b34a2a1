import fc from 'fast-check';
import { WORKFLOW_MODES } from '../protocol/run-plan.ts';
import type { Caller } from '../state/caller.ts';
import type { Command } from '../state/decide.ts';
import { findMain } from '../state/main/main-branch.ts';
import type { AgentRun } from '../state/runs/agent-run.ts';
import { type Effect, processNumber } from '../state/runs/effect.ts';
import { listFailedRuns } from '../state/runs/find-run.ts';
import * as runs from '../state/runs/say.cases.ts';
import * as flow from '../state/workflow/say.cases.ts';
import * as say from '../state/say.cases.ts';
import { operator, session, system } from '../state/say.cases.ts';
import type { Play } from './play.cases.ts';
import { agentPlans, errors, pipelinePlans, workerPlans } from './plans.cases.ts';

/** The next command and its caller; undefined if no caller could send it now. */
export type Speech = (play: Play) => readonly [Command, Caller] | undefined;

const index = fc.nat({ max: 1000 });

/** Every command that any caller may send in the current state, sensible or not. */
export const SPEECHES: readonly fc.Arbitrary<Speech>[] = [
  pipelinePlans.map((plan) => (play) => [runs.startPipeline(plan, {}, `p${play.serial}`), operator]),
  agentPlans.map((plan) => (play) => [runs.startAgent(plan, `a${play.serial}`), operator]),
  workerPlans.map((plan) => () => [runs.configure([plan]), system]),
  index.map(() => (play) => [say.create(`T${play.state.tasks.size}`), operator]),
  fc.constantFrom(...WORKFLOW_MODES).map((mode): Speech => (play) => [
    flow.startWorkflow(`workflow ${play.serial}`, mode),
    operator,
  ]),

  // Outcomes of effects.
  ...Array.from({ length: 6 }, () =>
    fc.tuple(index, fc.constantFrom('well', 'well', 'badly', 'late')).map(([i, how]): Speech => (play) => {
      const effect = pick([...play.state.effects.values()], i);
      return effect === undefined ? undefined : [settle(play, effect, how), system];
    }),
  ),

  // Reports and signals of running agents.
  ...Array.from({ length: 4 }, () =>
    fc.tuple(index, index, errors).map(([i, what, error]): Speech =>
      about((agent) => {
        const seen = [
          runs.report({ kind: 'idle', why: 'waiting' }),
          runs.report({ kind: 'idle', why: 'stop' }),
          runs.report({ kind: 'stop' }),
          runs.report({ kind: 'blocked', blocks: agent.blocks + 1 + (i % 20) }),
          runs.report({ kind: 'prompted', prompt: 'May I?' }),
          runs.report({ kind: 'errored', error, message: 'no', reset_at: null }),
          runs.exited(agent.id, { start: agent.start, code: what % 2 }),
          runs.exited(agent.id, { start: agent.start, blocks_used: true }),
        ];
        return [seen[what % seen.length] ?? runs.report({ kind: 'stop' }), runs.supervisor(agent.id)];
      }, i),
    ),
  ),
  ...Array.from({ length: 3 }, () =>
    fc
      .tuple(index, fc.nat({ max: 20 }), fc.constantFrom('known-1', 'other', null))
      .map(([i, tokens, model]) =>
        about(
          (agent) => [
            runs.used(agent, tokens, { model, ...(i % 3 === 0 ? { cost_millicents: 2 * i } : {}) }),
            runs.supervisor(agent.id),
          ],
          i,
        ),
      ),
  ),
  fc
    .tuple(index, fc.constantFrom('complete' as const, 'complete' as const, 'escalate' as const, 'continue' as const))
    .map(([i, kind]) =>
      about((agent) => {
        const caller = agent.task === null ? runs.agent(agent.id) : sessionOf(agent);
        return [runs.signal(kind, agent.id, 'so it is', i % 5 === 0), caller];
      }, i),
    ),
  index.map((i) =>
    about((agent) => [runs.exited(agent.id, { timed_out: true, start: agent.start }), runs.supervisor(agent.id)], i),
  ),
  index.map((i) => about((agent) => [runs.started(agent.id, Math.max(1, agent.start - (i % 2))), system], i)),
  index.map((i) =>
    about((agent) => [say.exit('IMPLEMENTATION', i % 3 === 0 ? 'error' : 'completed'), sessionOf(agent)], i),
  ),
  index.map((i) => (play) => {
    const task = pick(
      [...play.state.tasks.values()].filter(({ claim }) => claim !== null),
      i,
    );
    if (task?.claim === null || task === undefined) return undefined;
    const { epoch, sessionId } = task.claim;
    const how = [
      say.expire(task.id, epoch),
      say.release(task.id),
      say.update('blocked', { task_id: task.id, notes: 'x' }),
    ];
    const caller = i % 3 === 0 ? system : i % 3 === 1 ? operator : session(sessionId, task.id, epoch);
    return [how[i % 3] ?? say.release(task.id), caller];
  }),
  index.map((i) => (play) => {
    const task = pick([...play.state.tasks.values()], i);
    return task === undefined ? undefined : [say.operate('unblock', 'because', task.id), operator];
  }),
  fc.tuple(index, fc.constantFrom('cancel', 'reinstate')).map(([i, action]) => (play) => {
    const task = pick([...play.state.tasks.values()], i);
    return task === undefined || i % 3 > 0 ? undefined : [say.operate(action, 'because', task.id), operator];
  }),

  index.map((i) => (play) => {
    const task = pick([...play.state.tasks.values()], i);
    return task === undefined ? undefined : [say.note('look here', { task_id: task.id }), operator];
  }),

  // Agents become silent, report again, or are restarted by a person.
  ...Array.from({ length: 5 }, () =>
    index.map(
      (i): Speech =>
        (play) =>
          fallSilent(play, i),
    ),
  ),

  // The main branch moves, and the daemon sees it.
  ...Array.from({ length: 2 }, () =>
    fc
      .tuple(index, fc.boolean(), fc.constantFrom(true, false, null))
      .map(([i, fastForward, onUpstream]): Speech => (play) => {
        const old = findMain(play.state)?.sha ?? flow.MAIN;
        const upstream = i % 5 === 0 ? 'exchanged' : null;
        const by = { old, fastForward, onUpstream };
        return [flow.seeMain('abcd'.charAt(i % 4).repeat(40), { seenAt: play.at, upstream, by }), system];
      }),
  ),

  // Commands of operators.
  ...Array.from({ length: 2 }, () =>
    fc.tuple(index, fc.integer({ min: 1, max: 4 })).map(([i, option]): Speech => (play) => {
      const open = [...play.state.decisions.values()].filter(({ result }) => result === null || i % 7 === 0);
      const decision = pick(open, i);
      return decision === undefined ? undefined : [runs.resolve(decision.id, option), operator];
    }),
  ),
  ...Array.from({ length: 2 }, () =>
    fc.tuple(index, fc.integer({ min: 1, max: 4 })).map(([i, option]): Speech => (play) => {
      const all = [...play.state.decisions.values()];
      const pending = all.find(({ answer }) => answer !== undefined);
      if (pending !== undefined && i % 3 === 0) return [runs.undo(pending.id), operator];
      const decision = pick(all, i);
      if (decision === undefined) return undefined;
      return [i % 7 === 0 ? runs.undo(decision.id) : runs.answer(decision.id, option, play.at), operator];
    }),
  ),
  // Budget questions are rare, so they get their own command.
  index.map((i) => (play) => {
    const open = [...play.state.decisions.values()].filter(
      ({ source, result }) => source === 'budget' && result === null,
    );
    const asked = pick(open, i);
    return asked === undefined ? undefined : [runs.resolve(asked.id, (i % 2) + 1), operator];
  }),
  index.map((i) => about((agent) => [runs.kill(agent.id), operator], i)),
  index.map((i) => about((agent) => [runs.attach(agent.id), operator], i)),
  ...Array.from({ length: 2 }, () =>
    index.map((i) =>
      about(({ id, attach, start }) => {
        const at = attach?.start ?? start;
        return [i % 2 === 0 ? runs.attached(id, at) : runs.detached(id, at, i % 4 === 1), runs.supervisor(id)];
      }, i),
    ),
  ),
  index.map((i) => (play) => {
    const agent = pick([...play.state.agents.values()], i);
    return agent === undefined ? undefined : [runs.send(agent.id, 'Hello.', `m${play.serial}`), operator];
  }),
  index.map((i) => (play) => {
    const failed = pick(listFailedRuns(play.state), i);
    return failed === undefined ? undefined : [runs.acknowledge(failed.id), operator];
  }),
  fc.tuple(index, fc.constantFrom('cancel', 'retry', 'resume')).map(([i, what]) => (play) => {
    const run = pick([...play.state.pipelines.values()], i);
    if (run === undefined) return undefined;
    if (what === 'retry') return [runs.retry(run.id, `p${play.serial}`), operator];
    return [what === 'cancel' ? runs.cancel(run.id, 'enough') : runs.resume(run.id), operator];
  }),
];

/** The next command towards a silence or out of it, so that stories get that far. */
function fallSilent({ state }: Play, i: number): readonly [Command, Caller] | undefined {
  const asked = [...state.decisions.values()].find((each) => each.untilHeard === true && each.result === null);
  const silent = state.agents.get(asked?.agentId ?? '');
  if (asked !== undefined && silent !== undefined) {
    if (i % 2 === 0) return [runs.resolve(asked.id, 1), operator];
    return [runs.report({ kind: 'heard', start: silent.start }), runs.supervisor(silent.id)];
  }
  const agents = [...state.agents.values()].filter(({ parked, outcome }) => parked === null && outcome === null);
  const agent =
    agents.find(({ process }) => process === 'running') ?? agents.find(({ process }) => process === 'wanted');
  if (agent === undefined) return undefined;
  const { id, start } = agent;
  if (agent.process === 'wanted') return [runs.started(id, start), system];
  const what = i % 2 === 0 ? 'turn' : 'tool';
  return [runs.report({ kind: 'silent', start, what, for_ms: i, tool: null }), runs.supervisor(id)];
}

/** The command that reports the outcome of an effect. */
export function settle(play: Play, effect: Effect, how: string): Command {
  const isWell = how === 'well';
  const { type, data } = effect;
  switch (type) {
    case 'AgentRequested':
    case 'AgentResumeRequested': {
      const start = processNumber(effect);
      return how === 'badly' ? runs.startFailed(data.agent_id, start) : runs.started(data.agent_id, start);
    }
    case 'MessageRequested':
      return runs.deliver(data.message_id, how !== 'badly', isWell ? null : 'no input');
    case 'AgentKillRequested':
      return runs.exited(data.agent_id, {
        start: play.agent(data.agent_id).start,
        code: null,
        signal: isWell ? 'SIGTERM' : 'SIGKILL',
      });
    case 'AgentAttachRequested':
    case 'AgentRestartRequested':
      return runs.exited(data.agent_id, { start: processNumber(effect), code: isWell ? 143 : null });
    case 'CommandRequested':
      return runs.finish(data.command_id, isWell ? 0 : 1, { timed_out: how === 'late', output: 'words' });
    case 'WorkspaceRequested':
      return isWell ? runs.prepared(data.pipeline_id, data.step) : runs.unprepared(data.pipeline_id, data.step);
    case 'ChecksRequested':
      return flow.finishCheck(
        data.checks_id,
        data.checks.find(({ run }) => run !== undefined)?.name ?? '',
        isWell ? 'passed' : 'failed',
      );
    case 'MergeRequested':
      if (isWell && play.state.tasks.get(data.task_id)?.flow.merge?.prepared === undefined)
        return flow.prepareMerge(data.merge_id, 'f'.repeat(40));
      return flow.finishMerge(data.merge_id, isWell ? 'merged' : 'conflict', isWell ? 'f'.repeat(40) : null);
    case 'PullRequestRequested':
      return isWell ? flow.publishPull(data.pull_id) : flow.failPull(data.pull_id);
    case 'PullRequestCloseRequested':
      return flow.closePull(data.pull_id, data.number);
    case 'GithubIssueCloseRequested':
      return flow.closeIssue(data.close_id, isWell ? 'closed' : 'failed');
    case 'PlaceClearRequested': {
      const outcome = isWell ? 'removed' : 'kept';
      return { kind: 'clear-place', command: { task_id: data.task_id, outcome, reason: isWell ? null : 'work' } };
    }
    case 'PullRequestPublished': {
      const checksId = play.state.tasks.get(data.task_id)?.flow.checks?.id ?? '';
      return flow.finishCheck(checksId, data.watch[0] ?? '', isWell ? 'passed' : 'failed');
    }
    case 'PhaseMoved':
      return { kind: 'seal', command: null };
    case 'TimerSet':
      play.wait(Math.max(0, Date.parse(data.due) - Date.parse(play.at)));
      return runs.fire(data.timer_id);
    case 'DecisionAnswered':
      play.wait(Math.max(0, Date.parse(data.effective_at) - Date.parse(play.at)));
      return runs.applyAnswer(data.decision_id, effect.seq - (how === 'late' ? 1 : 0));
    case 'NotificationRequested':
      return runs.notified(data.notification_id);
  }
}

/** Picks mostly a running agent, sometimes one that does not run. */
function about(say_: (agent: AgentRun) => readonly [Command, Caller], i: number): Speech {
  return (play) => {
    const all = [...play.state.agents.values()];
    const atWork = all.filter(({ outcome, process }) => outcome === null && process === 'running');
    const agent = pick(i % 8 === 0 || atWork.length === 0 ? all : atWork, i);
    return agent === undefined ? undefined : say_(agent);
  };
}

function sessionOf({ id, task }: AgentRun): Caller {
  return task === null ? runs.agent(id) : session(task.session_id, task.task_id, task.epoch);
}

function pick<T>(from: readonly T[], i: number): T | undefined {
  return from[i % Math.max(1, from.length)];
}
