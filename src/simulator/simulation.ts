import { isDeepStrictEqual } from 'node:util';
import type { WorkerPlan } from '../protocol/run-plan.ts';
import type { Command } from '../state/decide.ts';
import { findMain, isMainUnaccepted } from '../state/main/main-branch.ts';
import type { Rules } from '../state/rules.ts';
import { isCancelled } from '../state/tasks/task.ts';
import { findOption } from '../state/runs/resolve-decision.ts';
import { hostTick } from './actors/host-tick.ts';
import { performEffect } from './actors/perform.ts';
import { beginFault, heal } from './actors/faults.ts';
import { answer } from './actors/decision-acts.ts';
import { admitCommand, LABEL, RUNBOOKS } from './actors/host-acts.ts';
import { act } from './actors/people.ts';
import { ANN, SYSTEM } from './actors/scene.ts';
import { Auditor, type Violation } from './auditor/auditor.ts';
import type { Scenario, TaskPlan } from './scenario.ts';
import type { StoredEntry } from './world/chain.ts';
import { Daemon } from './world/host.ts';
import type { Host, World } from './world/parts.ts';
import { SimWorld } from './world/world.ts';

export interface RunResult {
  readonly scenario: Scenario;
  /** The first violation; undefined if all invariants held. */
  readonly violation: Violation | undefined;
  readonly entries: readonly StoredEntry[];
  readonly merges: number;
  /** Equal for two runs with the same bytes. */
  readonly digest: string;
}

/** What a run needs of the project: the workers of the built-in workflow. */
export interface Setup {
  readonly workers: readonly WorkerPlan[];
  /** Names of invariants that are not checked, to see what the others find. */
  readonly without?: ReadonlySet<string>;
}

/** Fewer than a session that floods asks for. */
const TASK_LIMITS = { number: 2, depth: 1 };

/** Plays a scenario to its end, heals everything, and then lets all work end. Stops at the first violation. */
export function simulate(scenario: Scenario, { workers: known, without = new Set() }: Setup): RunResult {
  const workers = workersOf(scenario, known);
  const auditor = new Auditor(without);
  const actors = { perform: performEffect, tick: hostTick };
  const world = new SimWorld(scenario, { workers, rules: rulesOf(scenario, workers), auditor, actors });
  const required = world.rules.checks?.map(({ name }) => name) ?? [];
  auditor.watch(world.git, {
    required,
    taskTokens: scenario.settings.budget === 'task' ? TASK_TOKENS : Infinity,
    tasks: TASK_LIMITS,
    judges: scenario.settings.judges ?? 'accepted',
    doClocksJump: scenario.faults.some(({ kind }) => kind === 'clock jump'),
  });
  try {
    play(world);
  } catch (error) {
    if (auditor.violation === undefined)
      auditor.report('crash', error instanceof Error ? (error.stack ?? error.message) : String(error));
  }
  const { chain } = world;
  const merges = chain.entries.filter(
    ({ type, data }) => type === 'MergeFinished' && data['outcome'] === 'merged',
  ).length;
  return { scenario, violation: auditor.violation, entries: chain.entries, merges, digest: chain.digest };
}

/** Some fleets have one host for the large work. */
function workersOf({ hosts, settings }: Scenario, workers: readonly WorkerPlan[]): readonly WorkerPlan[] {
  const { labelled = null } = settings;
  if (hosts === 1 || labelled === null) return workers;
  return workers.map((worker) => (worker.roles?.includes(labelled) === true ? { ...worker, labels: [LABEL] } : worker));
}

function play(world: World): void {
  const { scenario, timetable, auditor } = world;
  setUp(world);
  const isEarly = ({ atMs }: { readonly atMs: number }): boolean => atMs < scenario.untilMs;
  for (const plan of scenario.tasks.filter(isEarly)) timetable.in(plan.atMs, () => beginTask(world, plan));
  for (const fault of scenario.faults.filter(isEarly)) timetable.in(fault.atMs, () => beginFault(fault, world));
  for (const each of scenario.acts.filter(isEarly)) timetable.in(each.atMs, () => act(each, world));
  advanceTo(world, scenario.untilMs);
  heal(world);
  let rounds = 0;
  do {
    settle(world);
    const host = world.upHost();
    for (const each of world.hosts) each.catchUp();
    const owing = world.hosts.map(({ name, state }) => ({ name, effects: [...state.effects.values()] }));
    if (host !== undefined) auditor.endOfRound(isMainUnaccepted(host.state), owing);
    compareHosts(world);
    rounds += 1;
  } while (rounds < 12 && answerAll(world));
}

/** Lets everything go on until nothing but the clocks changes. Work that never comes to rest goes in circles. */
function settle(world: World): void {
  const { timetable, chain } = world;
  const most = chain.size + MOST_ENTRIES;
  let size = chain.size;
  for (let quietMs = 0; quietMs < QUIET_MS; quietMs += 30_000) {
    advanceTo(world, timetable.nowMs + 30_000);
    if (chain.size > size) quietMs = 0;
    size = chain.size;
    if (size <= most) continue;
    world.auditor.report('liveness', `after healing, ${MOST_ENTRIES} entries do not end the work`);
    return;
  }
}

/** More than any healed project needs between two answers. */
const MOST_ENTRIES = 3000;
/** Longer than any wait of a rule besides those of days and stalls. */
const QUIET_MS = 240_000;

function advanceTo({ timetable, auditor }: World, untilMs: number): void {
  while (auditor.violation === undefined && timetable.step(untilMs));
  if (auditor.violation === undefined) timetable.nowMs = untilMs;
  else throw new Error('stopped at a violation');
}

/** A helpful person answers every question. Returns whether there was one. */
function answerAll(world: World): boolean {
  const host = world.upHost();
  if (host === undefined) return false;
  const open = [...host.state.decisions.values()].filter(
    ({ result, answer: given }) => result === null && given === undefined,
  );
  for (const decision of open) answer(host, decision, findOption(decision, 'approve') ?? 1, ANN);
  return restoreMain(world, host) || open.length > 0;
}

/** After a denial merges wait until a person has put the main branch back. Returns whether that was necessary. */
function restoreMain({ git }: World, { state }: Host): boolean {
  const trusted = findMain(state)?.trusted?.sha;
  if (trusted === undefined) return false;
  git.main = trusted;
  return true;
}

function compareHosts(world: World): void {
  const [first, ...others] = world.hosts.filter(({ isUp }) => isUp);
  for (const other of others)
    if (first !== undefined && !isDeepStrictEqual(first.state, other.state))
      world.auditor.report('hosts', `${first.name} and ${other.name} have folded the same entries to different states`);
  const probe = { kind: 'note-task', command: { task_id: '', text: 'probe' } } as const;
  const tasks = [...(first?.state.tasks.values() ?? [])];
  const task = tasks.find((each) => each.phase !== 'COMPLETED' && !isCancelled(each)) ?? tasks[0];
  if (first === undefined || task === undefined) return;
  const reply = first.submit({ ...probe, command: { ...probe.command, task_id: task.id } }, ANN);
  if (reply.kind === 'ok' || (reply.kind === 'refused' && EXPECTED.has(reply.refusal.code))) return;
  const why = reply.kind === 'away' ? 'no answer' : reply.refusal.message;
  world.auditor.report('all-clear', `all is healed, and a command is not accepted: ${why}`);
}

/** Nobody would read the note, or the host is no longer part of the fleet. */
const EXPECTED: ReadonlySet<string> = new Set(['completed', 'cancelled', 'agent-parked', 'host-removed']);

function setUp(world: World): void {
  const { scenario } = world;
  const names = ['alpha', 'beta', 'gamma', 'delta', 'epsilon'].slice(0, scenario.hosts);
  for (const name of names) world.hosts.push(new Daemon(name, world));
  for (const host of world.hosts) host.start();
  const [founder] = world.hosts;
  if (founder === undefined) throw new Error('a run has at least one host');
  const say = (command: Command, caller: Parameters<Host['submit']>[1] = SYSTEM): void => {
    const reply = founder.submit(command, caller);
    if (reply.kind !== 'ok') throw new Error(`${command.kind}: ${JSON.stringify(reply)}`);
  };
  if (world.isFleet) {
    const terms = { host: founder.name, key: `key of ${founder.name}`, publicKey: `baton.dev/p+${founder.name}` };
    const about = { labels: [], agents: 4, rootCommit: '1'.repeat(40), remote: 'git@example.org:demo.git' };
    say({ kind: 'found-fleet', command: { ...terms, ...about } });
    for (const { name } of world.hosts.slice(1)) say(admitCommand(world, name), ANN);
    world.care = { host: founder.name, term: 1, untilMs: 20_000 };
    say({ kind: 'change-caretaker', command: { host: founder.name, term: 1 } });
    founder.term = 1;
    founder.careUntilMs = 20_000;
  }
  const move = {
    branch: 'main',
    sha: world.git.main,
    upstream: null,
    isConfigured: true,
    seenAt: founder.at,
    move: null,
  };
  say({ kind: 'see-main', command: move });
  if (scenario.settings.adopts)
    say({
      kind: 'adopt-runbook',
      command: { sha256: RUNBOOKS[0] ?? '', commit: null, committed: null, by: 'operator:ann' },
    });
  say({ kind: 'configure-workers', command: { workers: world.workers } });
}

function beginTask(world: World, { kind, waitsForPrevious }: TaskPlan): void {
  const host = world.upHost();
  if (host === undefined) return;
  const { mode } = world.scenario.settings;
  const previous = [...host.state.tasks.keys()].at(-1);
  const after = waitsForPrevious && previous !== undefined ? { after: [previous] } : {};
  const title = world.newId('Add thing ');
  if (kind === 'workflow') host.submit({ kind: 'start-workflow', command: { title, mode, ...after } }, ANN);
  if (kind === 'workflow') return;
  const id = world.newId(kind === 'plain' ? 'P' : 'T');
  host.submit({ kind: 'create-task', command: { id, title, ...after } }, ANN);
  if (kind === 'taken') host.submit({ kind: 'start-workflow', command: { tasks: [id], mode } }, ANN);
}

/** The rules that a runbook with these settings would give. */
function rulesOf({ settings }: Scenario, workers: readonly WorkerPlan[]): Rules {
  const names = ['unit', 'lint'].slice(0, settings.checks);
  const checks = names.map((name, i) => (settings.pulls && i === 1 ? { name } : { name, run: `check ${name}` }));
  const base: Rules = {
    ciGate: checks.length > 0,
    mergeGate: true,
    unseparated: (settings.judges ?? 'accepted') === 'accepted' ? 'accept' : 'ask',
    checks,
    maxAgents: settings.maxAgents,
    leaveMs: 5000,
    reviewRounds: settings.reviewRounds,
    merge: { method: 'squash', into: null },
    ...(settings.pulls ? { pulls: { repository: 'owner/name', remote: 'origin', draft: false } } : {}),
    ...(settings.stalls ? { stallMs: { IMPLEMENTATION: 60_000, REVIEW: 60_000 } } : {}),
    budgets: {
      ...(settings.budget === 'task' ? { task: { tokens: TASK_TOKENS } } : {}),
      ...(settings.budget === 'cost' ? { task: { cost_millicents: 100_000 } } : {}),
      ...(settings.budget === 'day' ? { day: { tokens: TASK_TOKENS } } : {}),
    },
    prices: [],
    tasks: TASK_LIMITS,
  };
  const adopted = new Map<string, Rules>();
  for (const [i, sha256] of RUNBOOKS.entries())
    adopted.set(sha256, {
      ...base,
      reviewRounds: 1 + i,
      ...(i === 0 ? { constraints: { max_files: 1 } } : {}),
      workers,
      adopted,
    });
  return { ...base, adopted };
}

const TASK_TOKENS = 600;
