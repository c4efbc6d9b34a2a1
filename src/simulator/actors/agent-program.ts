import type { Phase } from '../../protocol/phase.ts';
import type { Command } from '../../state/decide.ts';
import { isHeldByBudget } from '../../state/runs/standing.ts';
import type { Task } from '../../state/tasks/task.ts';
import type { HabitKind } from '../scenario.ts';
import { passesChecks } from '../world/git.ts';
import { exitSignal, pushWork } from './measure.ts';
import { passOn, record, reportError, result, sendBack, signal } from './messages.ts';
import type { AgentProcess, Reply } from '../world/parts.ts';

type Steps<T> = Generator<number, T, void>;

/**
 * What an agent does: its turns, until its run is over. An agent that ended its turn without a signal waits for a
 * message, and then does its work as its role asks.
 */
export function* agentProgram(process: AgentProcess): Steps<void> {
  const { random } = process.host.world;
  for (let turn = 0; turn < 5; turn += 1) {
    yield random.between(300, 4000);
    use(process, 40 + random.below(60));
    const isDone = yield* takeTurn(process, turn === 0 ? process.habit?.kind : undefined);
    if (isDone) break;
    if (random.chance(0.3)) process.report({ kind: 'blocked', blocks: turn + 1 });
    process.report(random.chance(0.5) ? { kind: 'stop' } : { kind: 'idle', why: 'waiting' });
    for (let i = 0; i < 60 && process.inbox.length === 0 && isAtWork(process); i += 1) yield 3000;
    if (process.inbox.splice(0).length === 0) break;
  }
  if (process.habit?.kind === 'commits after the end') {
    yield random.between(100, 3000);
    const task = taskOf(process);
    work(process, 'late work');
    if (task !== undefined) process.say(() => result(task, process.host.at));
  }
}

function isAtWork({ host, run }: AgentProcess): boolean {
  return (host.state.agents.get(run.id)?.outcome ?? null) === null;
}

function taskOf({ host, run }: AgentProcess): Task | undefined {
  return host.state.tasks.get(run.task?.task_id ?? '');
}

/** Returns whether the run is over for the agent. */
function* takeTurn(process: AgentProcess, habit: HabitKind | undefined): Steps<boolean> {
  const { run, host } = process;
  const { random } = host.world;
  const task = taskOf(process);
  if (yield* hinder(process, habit)) return false;
  if (task === undefined || run.owner !== null || task.flow.mode === null) {
    if (task !== undefined && random.chance(0.8)) yield* finishPlain(process, task);
    return complete(process);
  }
  const role = habit === 'plays another role' ? 'reviewer' : (task.claim?.role ?? run.plan.role ?? 'implementer');
  const isLive = task.claim?.sessionId === run.task?.session_id;
  if (!isLive) return true;
  if (role === 'implementer' || role === 'fixer') yield* implement(process, task, role, habit);
  else if (role === 'reviewer') yield* review(process, task, habit);
  else {
    yield random.between(500, 3000);
    handOn(process, task, role, habit);
  }
  if (habit === 'stops without a signal') return false;
  yield random.between(200, 2500);
  return endTurn(process, habit);
}

/** The habits that do not depend on the role. Returns whether the turn is over. */
function* hinder(process: AgentProcess, habit: HabitKind | undefined): Steps<boolean> {
  const { host, habit: whole, run, start } = process;
  const { random } = host.world;
  const step = whole?.step ?? 0;
  switch (habit) {
    case 'crashes':
      yield 500 * step;
      if (step < 3) process.kill({ code: 1, signal: null });
      yield 10;
      return false;
    case 'is late':
      yield random.between(40_000, 150_000);
      return false;
    case 'is silent':
      process.report({ kind: 'silent', start, what: random.choose('turn', 'tool'), for_ms: 60_000, tool: null });
      yield random.between(2000, 100_000);
      if (step % 2 === 0) process.report({ kind: 'heard', start });
      return step > 3;
    case 'prompts':
      process.report({ kind: 'prompted', prompt: 'May I?' });
      yield 3000;
      return step > 2;
    case 'hits a limit': {
      const reset_at = step % 2 === 0 ? new Date(host.nowMs + 20_000).toISOString() : null;
      const error = random.choose('rate_limited' as const, 'no_internet' as const, 'unauthorized' as const);
      process.report({ kind: 'errored', error, message: 'no', reset_at });
      yield 1000;
      return true;
    }
    case 'asks a person':
      process.say(() => signal('escalate', run.id, { ...now(process), message: 'Which one?' }));
      yield 1000;
      return true;
    case 'spends too much':
      use(process, 3000);
      yield 500;
      use(process, 4000);
      return false;
    case 'floods':
      for (let i = 0; i < 8 + step; i += 1) {
        const task = taskOf(process);
        if (task !== undefined)
          process.say(() => ({
            kind: 'update-task',
            command: { task_id: task.id, status: 'in_progress', notes: `note ${i}`, progress: i },
          }));
        if (i % 2 === 0)
          process.say(() => ({
            kind: 'create-task',
            command: { id: process.host.world.newId('N'), title: 'more work', priority: 9 },
          }));
        yield 20;
      }
      return false;
    default:
      return false;
  }
}

/** One request to the model. While a budget holds the agent, its supervisor holds the request back. */
function use({ run, host }: AgentProcess, tokens: number): void {
  const agent = host.state.agents.get(run.id);
  if (agent === undefined || agent.parked !== null || isHeldByBudget(host.state, agent)) return;
  const { usage } = agent;
  const counted = { output_tokens: 0, cached_tokens: 0, cost_millicents: null, turns: (usage?.turns ?? 0) + 1 };
  // Nothing names a price for the model of these runs.
  const unpriced_tokens = host.world.scenario.settings.budget === 'cost' ? tokens : 0;
  const open = { open_input_tokens: 0, open_output_tokens: 0, open_cached_tokens: 0, unpriced_tokens };
  const input_tokens = (usage?.input_tokens ?? 0) + tokens;
  const about = { conversation_id: `c ${run.id}`, model: 'known-1', waiting_tokens: 0 };
  host.world.auditor.used(tokens);
  const report = { kind: 'used', ...about, ...counted, ...open, input_tokens } as const;
  host.submit({ kind: 'report-agent', command: { agentId: run.id, report } }, { kind: 'supervisor', agentId: run.id });
}

function now({ host }: AgentProcess) {
  return { eventId: host.world.newId('e'), at: host.at };
}

function complete(process: AgentProcess): boolean {
  const said = process.say(() => signal('complete', process.run.id, now(process)));
  return said.kind !== 'refused' || said.refusal.code !== 'missing';
}

/** Work outside of a workflow: a record and a result, then the signal ends the session. */
function* finishPlain(process: AgentProcess, task: Task): Steps<void> {
  const { host } = process;
  if (task.phase === 'READY_FOR_MERGE') {
    process.say(() => ({ kind: 'request-merge', command: { id: task.id, mergeId: host.world.newId('merge-') } }));
    return;
  }
  const isWork = task.phase === 'IMPLEMENTATION' || task.phase === 'DRAFT';
  const sha = isWork ? work(process, 'plain') : (host.world.git.branch(host.name, branchOf(task)) ?? '');
  yield 500;
  process.say(() => result(task, host.at));
  yield 300;
  process.say(() => record(host.world.newId('r'), task, branchOf(task), sha));
  yield 300;
  const current = taskOf(process);
  if (current?.claim?.sessionId === process.run.task?.session_id) endTurn(process, undefined);
}

function* implement(process: AgentProcess, task: Task, role: string, habit: HabitKind | undefined): Steps<void> {
  const { host } = process;
  const { random, git } = host.world;
  yield random.between(1000, 8000);
  const head = git.branch(host.name, branchOf(task)) ?? git.main;
  const sha = habit === 'commits nothing' ? head : work(process, role, habit);
  yield random.between(300, 2000);
  const question = habit === 'asks in its result' ? { question: host.world.newId('Which of ') } : {};
  const status = habit === 'gives up' ? 'blocked' : 'completed';
  process.say(() => result(task, host.at, { status, ...question }), habit === 'floods');
  if (habit === 'prints its instructions')
    process.say(() => record(host.world.newId('r'), task, branchOf(task), sha, { summary: '<summary>' }));
  yield random.between(100, 900);
  const named = habit === 'lies about its commit' ? (random.pick([git.main, head]) ?? sha) : sha;
  process.say(() => record(host.world.newId('r'), task, branchOf(task), named));
  yield random.between(100, 900);
  handOn(process, task, role, habit);
}

/** Commits to the worktree's branch: a fixer repairs what is wrong, and merges the main branch. */
function work(process: AgentProcess, what: string, habit?: HabitKind): string {
  const { host } = process;
  const { git, random } = host.world;
  const task = taskOf(process);
  const branch = task === undefined ? 'none' : branchOf(task);
  const head = git.branch(host.name, branch) ?? git.main;
  const own = git.treeOf(head);
  const path = `${task?.id ?? 'x'}.ts`;
  const isFirst = own[path] === undefined;
  const isBad = habit === 'adds a bug' || (isFirst && random.chance(0.12));
  const isWeak = isFirst && random.chance(0.12);
  const tree: Record<string, string> = {
    ...own,
    [path]: `${what} ${random.below(1e6)}${isBad ? ' bug' : ''}${isWeak ? ' flaw' : ''}`,
  };
  if (isFirst && random.chance(0.15)) tree['shared.ts'] = `${task?.id ?? ''} ${what}`;
  const touches = host.world.scenario.settings.protects && isFirst && random.chance(0.2);
  if (touches || habit === 'changes protected files') tree['ci.toml'] = task?.id ?? '';
  const isMerged = what === 'fixer' && !git.isAncestor(git.main, head);
  if (isMerged) for (const [name, text] of Object.entries(git.treeOf(git.main))) if (name !== path) tree[name] = text;
  const author = `agent:${process.run.plan.name}`;
  const sha = git.commit(isMerged ? [head, git.main] : [head], tree, author);
  // While another session has the task, its own git directory is the branch, and this commit does not reach it.
  const { claim = null } = task ?? {};
  if (claim !== null && claim.sessionId !== process.run.task?.session_id) return sha;
  git.setBranch(host.name, branch, sha);
  if (process.run.task !== null) host.world.madeUnder.set(sha, process.run.task);
  return sha;
}

export function branchOf(task: Task): string {
  return task.flow.place?.branch ?? task.flow.branch ?? `feature/${task.id}`;
}

function* review(process: AgentProcess, task: Task, habit: HabitKind | undefined): Steps<void> {
  const { host } = process;
  const { git, random } = host.world;
  yield random.between(500, 5000);
  if (habit === 'commits during review') work(process, 'review');
  process.say(() => result(task, host.at));
  yield random.between(100, 900);
  const tree = git.treeOf(git.branch(host.name, branchOf(task)) ?? git.main);
  const isFlawed = Object.values(tree).some((text) => text.includes('flaw')) || !passesChecks(tree);
  const id = host.world.newId('h');
  if (habit === 'runs branch code') {
    process.forge(passOn(host.world.newId('h'), task, 'reviewer'));
    const signal = { phase: task.phase, reason: 'completed', eventId: host.world.newId('e') } as const;
    process.forge(exitSignal(host, process.run.task?.session_id ?? '', signal));
    process.say(() => sendBack(id, task, 'reviewer', 'it acts in my name'));
    return;
  }
  if (habit === 'reports an error') process.say(() => reportError(id, task, 'reviewer', random.chance(0.5)));
  else if (isFlawed && habit !== 'approves without looking')
    process.say(() => sendBack(id, task, 'reviewer', 'it is wrong'));
  else process.say(() => passOn(id, task, 'reviewer'));
}

function handOn(process: AgentProcess, task: Task, role: string, habit: HabitKind | undefined): void {
  const { world } = process.host;
  const id = world.newId('h');
  const make = (): Command =>
    habit === 'reports an error'
      ? reportError(id, task, role, (process.habit?.step ?? 0) % 2 === 0)
      : passOn(id, task, role);
  process.say(make, habit === 'floods');
}

/** Sends the exit signal. Returns whether the agent's work is over. */
function endTurn(process: AgentProcess, habit: HabitKind | undefined): boolean {
  const { host, run } = process;
  const ref = run.task;
  if (ref === null) return true;
  const eventId = host.world.newId('e');
  const phase: Phase = taskOf(process)?.phase ?? 'IMPLEMENTATION';
  const reason = habit === 'gives up' ? 'blocked' : habit === 'reports an error' ? 'error' : 'completed';
  const make = (): Command => exitSignal(host, ref.session_id, { phase, reason, eventId });
  if (host.isReachable) pushWork(host, ref.task_id);
  const said: Reply = process.say(make, habit === 'floods');
  if (said.kind !== 'refused') return true;
  return (
    said.refusal.code === 'no-active-phase' ||
    said.refusal.code === 'stale-claim' ||
    said.refusal.code === 'claim-ended'
  );
}
