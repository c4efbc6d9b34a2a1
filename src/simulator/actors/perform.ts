import type { Judge } from '../../protocol/handoff/judge.ts';
import type { Caller } from '../../state/caller.ts';
import type { Command } from '../../state/decide.ts';
import { event } from '../../state/event.ts';
import { buildPacket } from '../../state/packet/packet.ts';
import { type Effect, isStartEffect, processNumber } from '../../state/runs/effect.ts';
import { JUDGED_PHASES } from '../../state/tasks/task.ts';
import { passesChecks } from '../world/git.ts';
import { agentProgram, branchOf } from './agent-program.ts';
import { observeBranch } from './measure.ts';
import { performMerge } from './perform-merge.ts';
import type { Activity, AgentProcess, Host, Reply } from '../world/parts.ts';
import { SupervisedProcess } from '../world/process.ts';

/**
 * Runs one effect and submits its outcome until it is recorded or refused. The host may end between any two steps, and
 * the next daemon runs the effect again: what it finds done in the world is not done twice.
 */
export function* performEffect(host: Host, effect: Effect, caller: Caller): Activity {
  const { world } = host;
  const { random } = world;
  yield random.chance(0.03) && !world.isHealed ? random.between(5000, 60_000) : random.below(800);
  const { type, data } = effect;
  const tell = (command: Command): Activity => submitUntilHeard(host, effect, command, caller);
  const fails = !world.isHealed && random.chance(0.04);
  switch (type) {
    case 'AgentRequested':
    case 'AgentResumeRequested':
      return yield* startAgent(host, effect, tell, fails);
    case 'AgentKillRequested':
    case 'AgentAttachRequested':
    case 'AgentRestartRequested': {
      const start = isStop(effect) ? processNumber(effect) : (host.state.agents.get(data.agent_id)?.start ?? 1);
      world.processes.get(`${data.agent_id}:${start}`)?.kill({ code: null, signal: 'SIGTERM' });
      const exit = { start, code: null, signal: 'SIGTERM', timed_out: false, blocks_used: false, output: null };
      return yield* tell({
        kind: 'report-agent',
        command: { agentId: data.agent_id, report: { kind: 'exited', ...exit } },
      });
    }
    case 'MessageRequested': {
      const start = host.state.agents.get(data.agent_id)?.start ?? 1;
      const process = world.processes.get(`${data.agent_id}:${start}`);
      const ok = process !== undefined && process.end === undefined && !fails;
      if (ok) process.inbox.push(data.text);
      const reason = ok ? null : 'no input';
      return yield* tell({ kind: 'deliver-message', command: { message_id: data.message_id, ok, reason } });
    }
    case 'CommandRequested': {
      const exit_code = fails || random.chance(world.isHealed ? 0 : 0.2) ? 1 : 0;
      yield random.below(5000);
      const sandbox = world.scenario.settings.sandboxed ? { sandbox: 'bubblewrap' as const } : {};
      const end = { exit_code, timed_out: false, output: 'words', ...sandbox };
      return yield* tell({ kind: 'finish-command', command: { command_id: data.command_id, ...end } });
    }
    case 'WorkspaceRequested': {
      const { pipeline_id, step, branch } = data;
      if (fails) return yield* tell({ kind: 'workspace-failed', command: { pipeline_id, step, reason: 'no room' } });
      return yield* tell({ kind: 'prepare-workspace', command: { pipeline_id, step, path: '/tree', branch } });
    }
    case 'ChecksRequested': {
      const tip = world.git.branch(
        host.state.tasks.get(data.task_id)?.work?.host ?? host.name,
        branchOfTask(host, data.task_id),
      );
      if (tip !== undefined) observeBranch(host, data.task_id, tip);
      for (const { name, run } of data.checks) {
        if (run === undefined) continue;
        yield random.between(500, 6000);
        const passed = passesChecks(world.git.treeOf(data.head)) && !fails;
        world.auditor.checked(name, world.git.treeOf(data.head), passed);
        const sandbox = world.scenario.settings.sandboxed ? { sandbox: 'bubblewrap' as const } : {};
        const end = { exit_code: passed ? 0 : 1, log: null, output: passed ? null : 'a bug', ...sandbox };
        const handoffId = world.newId('h');
        const outcome = passed ? 'passed' : 'failed';
        yield* tell({
          kind: 'finish-check',
          command: { checks_id: data.checks_id, name, outcome, handoffId, ...end },
        });
        if (!passed) return;
      }
      return;
    }
    case 'MergeRequested':
      return yield* performMerge(host, effect, tell);
    case 'PullRequestRequested': {
      const { pull_id } = data;
      if (fails) return yield* tell({ kind: 'fail-pull', command: { pull_id, reason: 'no network' } });
      const url = `https://github.com/owner/name/pull/${pull_id}`;
      return yield* tell({ kind: 'publish-pull', command: { pull_id, number: 7, url, how: 'opened' } });
    }
    case 'PullRequestPublished': {
      yield 3000;
      const checks = host.state.tasks.get(data.task_id)?.flow.checks;
      if (!checks || checks.head !== data.head) return host.forget(effect);
      for (const name of data.watch) {
        const passed = passesChecks(world.git.treeOf(data.head));
        world.auditor.checked(name, world.git.treeOf(data.head), passed);
        const end = { exit_code: null, log: null, output: null, handoffId: world.newId('h') };
        const outcome = passed ? 'passed' : 'failed';
        yield* tell({ kind: 'finish-check', command: { checks_id: checks.id, name, outcome, ...end } });
      }
      return;
    }
    case 'PullRequestCloseRequested': {
      const { pull_id, number } = data;
      return yield* tell({ kind: 'close-pull', command: { pull_id, number, outcome: 'closed', reason: null } });
    }
    case 'GithubIssueCloseRequested':
      return yield* tell({
        kind: 'close-github-issue',
        command: { close_id: data.close_id, outcome: fails ? 'failed' : 'closed', reason: fails ? 'no network' : null },
      });
    case 'PlaceClearRequested':
      return yield* tell({
        kind: 'clear-place',
        command: { task_id: data.task_id, outcome: 'kept', reason: 'the branch has commits' },
      });
    case 'PhaseMoved': {
      const { size } = world.chain;
      while (!host.record([event('LedgerSealed', { size, root: 'r', checkpoint: 'c' })], 'system:ledger')) {
        yield 2000;
      }
      return;
    }
    case 'TimerSet': {
      while (host.nowMs < Date.parse(data.due)) yield Math.min(Date.parse(data.due) - host.nowMs + 1, 30_000);
      return yield* tell({ kind: 'fire-timer', command: { timer_id: data.timer_id } });
    }
    case 'DecisionAnswered': {
      const dueMs = Date.parse(data.effective_at);
      while (host.nowMs < dueMs) yield Math.min(dueMs - host.nowMs + 1, 30_000);
      return yield* tell({ kind: 'apply-answer', command: { id: data.decision_id, seq: effect.seq } });
    }
    case 'NotificationRequested': {
      const failed = fails ? [{ channel: 'all', reason: 'no network' }] : [];
      const { notification_id } = data;
      return yield* tell({
        kind: 'notification-sent',
        command: { notification_id, sent: fails ? [] : ['terminal'], failed },
      });
    }
  }
}

function branchOfTask({ state }: Host, taskId: string): string {
  const task = state.tasks.get(taskId);
  return task === undefined ? '' : branchOf(task);
}

function isStop(effect: Effect): effect is Extract<Effect, { type: 'AgentAttachRequested' | 'AgentRestartRequested' }> {
  return effect.type !== 'AgentKillRequested';
}

/**
 * An outcome that cannot be recorded now is submitted again, and sometimes a second time. The caretaker records it in
 * its present term. If another host has become the caretaker, that host owes the effect.
 */
function* submitUntilHeard(host: Host, effect: Effect, command: Command, begun: Caller): Activity {
  const { random } = host.world;
  const submit = (): Reply => {
    const isTermed = begun.kind === 'system' && begun.term !== undefined;
    return host.submit(command, isTermed ? { ...begun, term: host.term ?? begun.term } : begun);
  };
  let reply = submit();
  while (reply.kind === 'away') {
    yield random.between(500, 4000);
    reply = submit();
  }
  if (reply.kind === 'refused' && reply.refusal.code === 'stale-caretaker') host.forget(effect);
  if (host.world.isHealed || !random.chance(0.05)) return;
  yield random.below(3000);
  submit();
}

type Tell = (command: Command) => Activity;

function* startAgent(host: Host, effect: Effect, tell: Tell, fails: boolean): Activity {
  if (!isStartEffect(effect)) return;
  const { world } = host;
  const agentId = effect.data.agent_id;
  const start = processNumber(effect);
  const run = host.state.agents.get(agentId);
  if (run === undefined) return;
  const failed = (reason: string): Activity =>
    tell({ kind: 'report-start-failed', command: { agentId, start, reason } });
  let process = world.processes.get(`${agentId}:${start}`);
  if (process === undefined) {
    if (fails) return yield* failed('no such program');
    if (run.task !== null) {
      const reason = yield* prepareSession(host, agentId);
      if (reason !== undefined) return yield* failed(reason);
    }
    yield world.random.below(1500);
    // A daemon that ended here has left a mark: the process exists, and is found by the next one.
    process = new SupervisedProcess(host, run, start);
    world.auditor.spawned(agentId, start);
    world.processes.set(`${agentId}:${start}`, process);
    const attached = run.attach?.start === start;
    if (!attached) process.launch(agentProgram(process));
    else process.launch(attachedProgram(process));
    yield world.random.below(700);
  }
  const { kind, network, limits } = { kind: 'bubblewrap', network: 'full', limits: 'rlimits' } as const;
  const sandbox = world.scenario.settings.sandboxed ? { sandbox: { kind, network, limits, notes: [] } } : {};
  const about = {
    supervisor: `supervisor ${process.identity}`,
    process: process.identity,
    ...sandbox,
    ...judgeOf(host, run.task?.task_id),
  };
  yield* tell({ kind: 'report-started', command: { agentId, start, ...about } });
}

/** What the daemon finds out about the client of a judging session. */
function judgeOf({ world, state }: Host, taskId = ''): { readonly judge?: Judge } {
  const { judges = 'accepted' } = world.scenario.settings;
  const phase = state.tasks.get(taskId)?.phase ?? 'DRAFT';
  if (!JUDGED_PHASES.has(phase)) return {};
  const isProven = judges === 'proven';
  return { judge: { stream: isProven, shell: isProven, unseparated: judges === 'accepted' ? 'accept' : 'ask' } };
}

/** A person talks to the agent in a terminal, and leaves. */
function* attachedProgram(process: AgentProcess): Activity {
  const { random } = process.host.world;
  const { start } = process;
  yield random.between(500, 3000);
  if (random.chance(0.8)) process.report({ kind: 'attached', start, by: 'ada (/dev/pts/3)' });
  yield random.between(1000, 20_000);
  process.report({ kind: 'detached', start, how: random.choose('left', 'absent', 'lost'), talked: random.chance(0.5) });
  yield 500;
}

/** Names the branch, brings the work to this host, and records where the session begins. */
function* prepareSession(host: Host, agentId: string): Generator<number, string | undefined, void> {
  const { world } = host;
  const { git } = world;
  const caller: Caller = { kind: 'system', name: 'effects' };
  const ref = host.state.agents.get(agentId)?.task;
  const task = host.state.tasks.get(ref?.task_id ?? '');
  if (!ref || task?.claim?.sessionId !== ref.session_id) return 'the claim has ended';
  if (host.state.sessions.get(ref.session_id)?.prepared !== undefined) return undefined;
  world.auditor.packet(task.id, JSON.stringify(buildPacket(host.state, task).sections));
  const { id, epoch } = task;
  const branch = branchOf(task);
  const named: Command = { kind: 'name-branch', command: { id, epoch, branch } };
  for (let reply = host.submit(named, caller); reply.kind !== 'ok'; reply = host.submit(named, caller)) {
    if (reply.kind === 'refused') return reply.refusal.message;
    yield 1000;
  }
  while (world.isFleet && world.isRemoteAway && task.work !== null && task.work.host !== host.name) yield 2000;
  const pushed = world.isFleet && task.work !== null && task.work.host !== host.name ? task.work.pushed : null;
  if (pushed !== null) git.setBranch(host.name, branch, pushed.sha);
  const base = git.branch(host.name, branch) ?? git.main;
  git.setBranch(host.name, branch, base);
  if (observeBranch(host, id, base)) return yield* prepareSession(host, agentId);
  yield world.random.below(1000);
  const about = {
    agent_id: agentId,
    task_id: id,
    epoch,
    workspace: `/trees/${host.name}/${id}`,
    branch,
    base,
    port: null,
  };
  const mission = {
    version: '1',
    task_id: 'T001',
    epic_id: 'E000',
    prd_id: 'PRD-000',
    instruction: 'do it',
    context: { epic_file: 'epic.md', task_file: 'task.md' },
  } as const;
  const main = task.flow.mainAt === null ? { main: git.main } : {};
  const prepare: Command = { kind: 'prepare-session', command: { ...about, ...main, mission } };
  for (let reply = host.submit(prepare, caller); reply.kind !== 'ok'; reply = host.submit(prepare, caller)) {
    if (reply.kind === 'refused') return reply.refusal.message;
    yield 1000;
  }
  return undefined;
}
