import type { AgentReport } from '../../protocol/agent-report.ts';
import type { Caller } from '../../state/caller.ts';
import type { Command } from '../../state/decide.ts';
import type { AgentRun } from '../../state/runs/agent-run.ts';
import type { Habit } from '../scenario.ts';
import type { Activity, AgentProcess, Host, ProcessEnd, Reply } from './parts.ts';

/**
 * A process of an agent with its supervisor, on one machine. It outlives the daemon. What it says while the daemon is
 * away waits in the outbox.
 */
export class SupervisedProcess implements AgentProcess {
  readonly run: Pick<AgentRun, 'id' | 'task' | 'plan' | 'owner'>;
  readonly start: number;
  readonly host: Host;
  readonly habit: Habit | undefined;
  /** How the process ended; undefined while it runs. */
  end: ProcessEnd | undefined;
  readonly inbox: string[] = [];
  #said = 0;

  constructor(host: Host, run: AgentRun, start: number) {
    this.host = host;
    this.run = run;
    this.start = start;
    this.habit = host.world.nextHabit();
  }

  get identity(): string {
    return `process ${this.run.id} ${this.start}`;
  }

  get #session(): Caller {
    const { task, id } = this.run;
    if (task === null) return { kind: 'agent', agentId: id };
    const { judges } = this.host.world.scenario.settings;
    // The supervisor has found the call in the output of the agent's client.
    const matched = judges === 'proven' ? { matched: id } : {};
    return { kind: 'session', sessionId: task.session_id, taskId: task.task_id, epoch: task.epoch, ...matched };
  }

  launch(program: Activity): void {
    const { world } = this.host;
    world.run(
      program,
      () => this.end === undefined,
      () => this.kill({ code: 0, signal: null }),
    );
  }

  kill(end: ProcessEnd): void {
    if (this.end !== undefined) return;
    this.end = end;
    this.host.world.auditor.ended(this.run.id, this.start);
    this.host.world.run(this.#reportEnd(end), () => true);
  }

  /** The supervisor reports the end until the daemon has it. */
  *#reportEnd(end: ProcessEnd): Activity {
    const { world } = this.host;
    for (let tries = 0; tries < 200; tries += 1) {
      yield 200 + world.random.below(2000);
      if (this.report({ kind: 'exited', start: this.start, ...end, ...NOTHING }).kind !== 'away') return;
    }
  }

  /** A report of the supervisor, which is not kept: a later report makes up for a lost one. */
  report(report: AgentReport): Reply {
    const command = { agentId: this.run.id, report };
    return this.host.submit({ kind: 'report-agent', command }, { kind: 'supervisor', agentId: this.run.id });
  }

  forge(command: Command): void {
    const caller = this.#session;
    if (caller.kind !== 'session') return;
    this.host.world.auditor.forged(caller.sessionId);
    const { matched: _, ...stolen } = caller;
    this.host.submit(command, stolen);
  }

  /** Sends a command under a key. The message is kept while the daemon or the store is away, and delivered in order. */
  say(make: () => Command, isTwice = false): Reply {
    const { host } = this;
    const key = `${this.run.id}-${this.start}-${(this.#said += 1)}`;
    const caller = this.#session;
    if (host.outbox.length === 0 && host.isReachable) {
      const reply = host.submit(make(), caller, key);
      if (reply.kind !== 'away') {
        host.world.auditor.answered(key);
        if (isTwice) host.submit(make(), caller, key);
        return reply;
      }
    }
    const keptAt = new Date(host.nowMs).toISOString();
    host.outbox.push({ make, caller: caller.kind === 'session' ? { ...caller, keptAt } : caller, key });
    host.world.auditor.kept(key);
    return { kind: 'away' };
  }
}

const NOTHING = { timed_out: false, blocks_used: false, output: null } as const;
