import type { Caller } from '../../state/caller.ts';
import type { Command } from '../../state/decide.ts';
import type { Decision } from '../../state/runs/decision.ts';
import type { Task } from '../../state/tasks/task.ts';
import type { Act } from '../scenario.ts';
import { branchOf } from './agent-program.ts';
import { workByHand } from './hand-work.ts';
import { passOn, record } from './messages.ts';
import { pipelinePlan, standaloneAgent } from './plans.ts';
import type { Host, Reply, World } from '../world/parts.ts';

export const ANN: Caller = { kind: 'operator', name: 'ann' };
const BOB: Caller = { kind: 'operator', name: 'bob' };
const SYSTEM: Caller = { kind: 'system', name: 'daemon' };

/** What a person, or a client that people use, does at this moment. */
export function act({ kind, n }: Act, world: World): void {
  const host = world.upHost(n);
  if (host === undefined) return;
  const { state } = host;
  const { random, git } = world;
  const who = n % 3 === 0 ? BOB : ANN;
  const say = (command: Command, caller: Caller = who): Reply => host.submit(command, caller);
  const task = pick([...state.tasks.values()], n);
  const agent = pick(
    [...state.agents.values()].filter(({ outcome }) => outcome === null),
    n,
  );
  const pipeline = pick([...state.pipelines.values()], n);
  const open = [...state.decisions.values()].filter(({ result }) => result === null);
  const decision = pick(open, n);
  const operate = (action: 'cancel' | 'unblock' | 'reinstate' | 'waive'): unknown =>
    task && say({ kind: 'operate-task', command: { id: task.id, action, reason: 'because' } });
  switch (kind) {
    case 'answer':
      if (decision !== undefined) answer(host, decision, choose(decision, n), who);
      return;
    case 'answer late':
      if (decision !== undefined)
        world.timetable.in(random.between(30_000, 200_000), () => answer(host, decision, choose(decision, n), who));
      return;
    case 'contradict':
      if (decision === undefined) return;
      answer(host, decision, choose(decision, n), ANN);
      answer(world.upHost(n + 1) ?? host, decision, choose(decision, n + 1), BOB);
      return;
    case 'click twice':
      if (decision === undefined) return;
      answer(host, decision, choose(decision, n), who, 10_000);
      answer(host, decision, choose(decision, n), who, 10_000);
      return;
    case 'undo': {
      const pending = [...state.decisions.values()].find((each) => each.answer !== undefined);
      if (pending !== undefined) say({ kind: 'undo-answer', command: { id: pending.id } });
      return;
    }
    case 'commit by hand':
    case 'rewrite main': {
      const from = kind === 'commit by hand' ? [git.main] : [...(git.find(git.main)?.parents ?? [git.main])];
      const tree = { ...git.treeOf(from[0] ?? git.main), [n % 2 === 0 ? 'shared.ts' : 'hand.ts']: `by hand ${n}` };
      git.main = git.commit(from, tree, 'operator:ann');
      return;
    }
    case 'note': {
      const text = world.newId('look at ');
      if (task !== undefined && say({ kind: 'note-task', command: { task_id: task.id, text } }).kind === 'ok')
        world.auditor.noted(task.id, text);
      return;
    }
    case 'cancel':
    case 'unblock':
    case 'reinstate':
    case 'waive':
      operate(kind);
      return;
    case 'release':
      if (task !== undefined) say({ kind: 'release-claim', command: { id: task.id } });
      return;
    case 'kill agent':
      if (agent !== undefined) say({ kind: 'kill-agent', command: { agentId: agent.id } });
      return;
    case 'send message':
      if (agent === undefined) return;
      say({ kind: 'send-message', command: { agentId: agent.id, messageId: world.newId('m'), text: 'Hello.' } });
      return;
    case 'attach': {
      const at = agent === undefined ? undefined : (world.host(agent.host ?? '') ?? host);
      if (agent !== undefined) at?.submit({ kind: 'attach-agent', command: { agentId: agent.id, by: 'ada' } }, who);
      return;
    }
    case 'detach': {
      const attached = [...state.agents.values()].find((each) => each.attach?.state === 'there');
      world.processes.get(`${attached?.id ?? ''}:${attached?.attach?.start ?? 0}`)?.kill({ code: 0, signal: null });
      return;
    }
    case 'claim by hand':
    case 'take review':
      workByHand(host, n, kind === 'take review' ? 'reviewer' : undefined);
      return;
    case 'self-approve':
      if (task !== undefined) say({ kind: 'self-approve', command: { id: task.id, reason: 'it is small' } });
      return;
    case 'complete':
      if (task !== undefined) say({ kind: 'update-task', command: { task_id: task.id, status: 'done' } });
      return;
    case 'block':
      if (task !== undefined)
        say({ kind: 'update-task', command: { task_id: task.id, status: 'blocked', notes: 'wait' } });
      return;
    case 'request merge':
      if (task !== undefined) say({ kind: 'request-merge', command: { id: task.id, mergeId: world.newId('merge-') } });
      return;
    case 'operator handoff':
      if (task !== undefined)
        say(passOn(world.newId('h'), task, n % 4 === 0 ? 'reviewer' : (task.nextRole ?? 'implementer')));
      return;
    case 'record': {
      if (task === undefined) return;
      const sha = git.branch(host.name, branchOf(task)) ?? git.main;
      say(record(world.newId('r'), task, branchOf(task), sha, n % 4 === 0 ? { status: 'todo' } : {}));
      return;
    }
    case 'adopt':
      say({ kind: 'adopt-runbook', command: { ...runbookOf(n), commit: null, committed: null, by: 'operator:ann' } });
      return;
    case 'ask adoption': {
      const command = { decisionId: world.newId('d'), ...runbookOf(n), commit: git.main, differences: 'x' };
      if (world.rules.adopted?.has(command.sha256) === true) say({ kind: 'ask-adoption', command }, SYSTEM);
      return;
    }
    case 'drain':
    case 'undo drain':
      govern(
        world,
        { kind: 'drain-host', command: { host: nameOf(world, n), draining: kind === 'drain', by: 'ann' } },
        host,
      );
      return;
    case 'remove host': {
      const name = nameOf(world, n + 1);
      if (name === host.name) return;
      govern(world, { kind: 'remove-host', command: { host: name, reason: 'it burnt', by: 'ann' } }, host);
      return;
    }
    case 'admit host':
      govern(world, admitCommand(nameOf(world, n)), host);
      return;
    case 'new task':
      say({ kind: 'create-task', command: { id: world.newId('N'), title: 'another' } });
      return;
    case 'depend':
      if (task !== undefined)
        say({ kind: 'add-dependency', command: { id: task.id, after: pick([...state.tasks.keys()], n + 1) ?? '' } });
      return;
    case 'run pipeline':
      say({ kind: 'start-pipeline', command: { id: world.newId('p'), name: 'main', plan: pipelinePlan(n), vars: {} } });
      return;
    case 'start agent':
      say({ kind: 'start-agent', command: { id: world.newId('a'), plan: standaloneAgent(n), vars: {} } });
      return;
    case 'cancel pipeline':
      if (pipeline !== undefined) say({ kind: 'cancel-pipeline', command: { id: pipeline.id } });
      return;
    case 'retry pipeline':
      if (pipeline !== undefined)
        say({ kind: 'retry-pipeline', command: { id: pipeline.id, newId: world.newId('p') } });
      return;
    case 'resume pipeline':
      if (pipeline !== undefined) say({ kind: 'resume-pipeline', command: { id: pipeline.id } });
      return;
    case 'reconcile':
      if (task !== undefined) reconcile(host, task, n);
      return;
    case 'report check': {
      const checks = task?.flow.checks;
      const name = checks?.plans[n % Math.max(1, checks.plans.length)]?.name;
      if (!checks || name === undefined || checks.outcome !== null) return;
      const about = { exit_code: null, log: null, output: null, handoffId: world.newId('h') };
      say({ kind: 'finish-check', command: { checks_id: checks.id, name, outcome: 'cancelled', ...about } }, SYSTEM);
      return;
    }
  }
}

function reconcile(host: Host, task: Task, n: number): void {
  const { world } = host;
  const about = { taskId: task.id, epoch: task.epoch, movedAt: task.flow.movedAt, context: 'it does not fit git' };
  const remedy = task.phase === 'COMPLETED' ? 'reinstate' : null;
  const findings =
    n % 3 === 0 ? [] : [{ decisionId: world.newId('d'), kind: 'commit-missing', remedy, ...about } as const];
  host.submit({ kind: 'raise-findings', command: { findings } }, SYSTEM);
}

function govern(world: World, command: Command, host: Host): void {
  if (world.isFleet) host.submit(command, ANN);
}

export function admitCommand(host: string): Command {
  const terms = { host, key: `key of ${host}`, publicKey: `baton.dev/p+${host}`, labels: [], agents: 4 };
  return { kind: 'admit-host', command: { ...terms, rootCommit: '1'.repeat(40), by: 'operator:ann' } };
}

function nameOf(world: World, n: number): string {
  return pick(world.hosts, n)?.name ?? '';
}

export const RUNBOOKS: readonly string[] = ['a'.repeat(64), 'b'.repeat(64)];

function runbookOf(n: number): { readonly sha256: string } {
  return { sha256: RUNBOOKS[n % RUNBOOKS.length] ?? '' };
}

/** Mostly the recommended option. */
function choose({ options }: Decision, n: number): number {
  return n % 3 > 0 ? 1 : 1 + (n % options.length);
}

export function answer(host: Host, decision: Decision, option: number, caller: Caller, delayMs?: number): Reply {
  const action = decision.options[option - 1]?.action;
  const message = action === 'send_back' || action === 'nudge' ? 'do it like this' : undefined;
  const effectiveAt = delayMs === undefined ? {} : { effectiveAt: new Date(host.nowMs + delayMs).toISOString() };
  const role = host.state.tasks.get(decision.taskId ?? '')?.nextRole ?? undefined;
  const handTo =
    action === 'hand_over' ? { handTo: { ...standaloneAgent(0), name: 'spare', ...(role ? { role } : {}) } } : {};
  const command = { id: decision.id, option, ...(message ? { message } : {}), ...handTo, ...effectiveAt };
  return host.submit({ kind: 'resolve-decision', command }, caller);
}

function pick<T>(from: readonly T[], n: number): T | undefined {
  return from[n % Math.max(1, from.length)];
}
