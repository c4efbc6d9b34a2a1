import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { findProcessesByMark } from '../../src/effects/processes/supervised.ts';
import type { Entry } from '../../src/ledger/format/entry.ts';
import { agentFiles } from '../../src/supervisor/contract.ts';
import { findProcesses } from './find-processes.ts';
import { readLedger } from './ledger.ts';
import { Receiver } from './receiver.ts';
import { until } from './until.ts';
import { World } from './world.ts';

/** Long enough for a busy machine. */
export const PATIENCE_MS = 60_000;

export interface RunWorldOptions {
  /** The content of `baton.toml` without the notification settings. */
  readonly runbook: string;
  /** The scripts of scripted agents, by file name. */
  readonly scripts?: Readonly<Record<string, string>>;
  readonly env?: Readonly<Record<string, string>>;
}

/** A world with a runbook, agents under their supervisors, and a receiver of notifications. */
export class RunWorld implements AsyncDisposable {
  readonly world: World;
  readonly receiver: Receiver;

  private constructor(world: World, receiver: Receiver) {
    this.world = world;
    this.receiver = receiver;
  }

  static async open({ runbook, scripts = {}, env = {} }: RunWorldOptions): Promise<RunWorld> {
    const receiver = await Receiver.open();
    const made = new RunWorld(new World({ WEBHOOK: receiver.url, BATON_TICK_MS: '100', ...env }), receiver);
    const told = '\n[notify]\ndesktop = false\nterminal = false\nwebhook = "${env.WEBHOOK}"\n';
    made.world.commit(made.repository, { 'baton.toml': `${runbook}${told}`, ...scripts }, 'a runbook');
    try {
      await made.world.startDaemon();
      return made;
    } catch (error) {
      await made[Symbol.asyncDispose]();
      throw error;
    }
  }

  get repository(): string {
    return this.world.repository;
  }

  async restart(signal: 'SIGKILL' | 'SIGTERM' = 'SIGKILL'): Promise<void> {
    await this.world.endDaemon(signal);
    await this.world.startDaemon();
  }

  async ask<R = Shown>(operation: string, input: unknown = {}): Promise<R> {
    return (await this.world.order(operation, input)) as R; // oxlint-disable-line typescript/no-unsafe-type-assertion
  }

  /** Starts a pipeline, an agent or a command, and returns its id. */
  async run(name: string, ...args: string[]): Promise<string> {
    return (await this.ask('run_start', { name, args })).id;
  }

  /** Waits until the pipeline has ended or needs a person. */
  async pipeline(id: string): Promise<Shown> {
    return this.ask('pipeline_show', { id, wait_ms: PATIENCE_MS });
  }

  async agent(id: string): Promise<Shown> {
    return this.ask('agent_show', { id, wait_ms: PATIENCE_MS });
  }

  /** The agent that runs in a step, or ran last. */
  async agentIn(pipelineId: string, step: string): Promise<string> {
    return this.until(`${step} has an agent`, async () => {
      const { steps } = await this.ask('pipeline_show', { id: pipelineId });
      return steps.find(({ name }) => name === step)?.agent_id ?? undefined;
    });
  }

  /** Waits until the agent's process has exited, whatever the outcome of its run. */
  async gone(agentId: string): Promise<Shown> {
    return this.until('its process has gone', async () => {
      const shown = await this.ask('agent_show', { id: agentId });
      return shown.process === 'gone' && shown;
    });
  }

  async decisions(): Promise<readonly ShownDecision[]> {
    return (await this.ask<{ decisions: readonly ShownDecision[] }>('decision_list', { all: true })).decisions;
  }

  /** Answers with the option that has this action. */
  async resolve(decisionId: string | null, action: string, message?: string): Promise<void> {
    const { options } = await this.ask<ShownDecision>('decision_show', { id: decisionId });
    const option = options.find((each) => each.action === action)?.n;
    await this.ask('decision_resolve', { id: decisionId, option, ...(message === undefined ? {} : { message }) });
  }

  /** All entries about an agent or a pipeline, read from the file. */
  async entries(id: string, type?: string): Promise<Entry[]> {
    return (await readLedger(this.world)).filter(
      ({ data, type: its }) =>
        (data['agent_id'] === id || data['pipeline_id'] === id) && (type === undefined || its === type),
    );
  }

  async count(id: string, type: string): Promise<number> {
    return (await this.entries(id, type)).length;
  }

  /** The input of a scripted agent, in order: blocks of its stop hook, and messages. */
  told(agentId: string): string[] {
    return this.conversation(agentId).flatMap(({ from, text }) => (from === 'user' ? [text] : []));
  }

  /** The reasons of its blocks. */
  blocks(agentId: string): string[] {
    return this.told(agentId).flatMap((text) => (text.startsWith(FEEDBACK) ? [text.slice(FEEDBACK.length)] : []));
  }

  private conversation(agentId: string): readonly { readonly from: string; readonly text: string }[] {
    const folder = join(agentFiles(this.world.stateDir, agentId).folder, 'kept');
    const files = existsSync(folder) ? readdirSync(folder) : [];
    const name = files.find((each) => /^scripted-.*\.json$/.test(each));
    if (name === undefined) return [];
    const kept: { messages: { from: string; text: string }[] } = JSON.parse(readFileSync(join(folder, name), 'utf8'));
    return kept.messages;
  }

  /** The lines that steps and agents have written to a file of the repository. */
  lines(file: string): string[] {
    try {
      return readFileSync(join(this.repository, file), 'utf8').split('\n').slice(0, -1);
    } catch {
      return [];
    }
  }

  /** The agent's processes without its supervisor and zombies. */
  processesOf(agentId: string): number[] {
    return findProcessesByMark({ name: 'BATON_AGENT_ID', value: agentId });
  }

  async untilNobodyIs(agentId: string): Promise<void> {
    await this.until(`nothing is left of ${agentId}`, () => this.processesOf(agentId).length === 0);
  }

  /** Every process of this world except the daemon: supervisors, agents, and their children. */
  processes(): number[] {
    return findProcesses(this.world.stateDir).filter((pid) => pid !== this.world.daemonPid);
  }

  async until<T>(what: string, look: () => Promise<T | undefined | false> | T | undefined | false): Promise<T> {
    return until(what, look, PATIENCE_MS);
  }

  /** Ends a world and checks that no process is left; supervisors may take a moment to exit. */
  async leaveEmpty(): Promise<void> {
    try {
      await this.until('nothing is left of any run', () => this.processes().length === 0);
    } finally {
      await this[Symbol.asyncDispose]();
    }
  }

  /** Also ends what a failed test has left. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.world.endDaemon('SIGKILL');
    for (let left = this.processes(); left.length > 0; left = this.processes()) for (const pid of left) kill(pid);
    await this.world[Symbol.asyncDispose]();
    await this.receiver[Symbol.asyncDispose]();
  }
}

const FEEDBACK = 'Stop hook feedback:\n';

function kill(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // The process has exited.
  }
}

/** The fields of any view that tests use. */
export interface Shown {
  readonly id: string;
  readonly status: string;
  readonly process: string;
  readonly reason: string | null;
  readonly start: number;
  readonly pid: number | null;
  readonly outcome: string | null;
  readonly decision_id: string | null;
  readonly log: string;
  readonly folder: string;
  readonly exit: {
    readonly code: number | null;
    readonly signal: string | null;
    readonly blocks_used: boolean;
    readonly timed_out: boolean;
  } | null;
  readonly steps: readonly {
    readonly name: string;
    readonly status: string;
    readonly agent_id: string | null;
    readonly output: string | null;
  }[];
}

export interface ShownDecision {
  readonly id: string;
  readonly status: string;
  readonly source: string;
  readonly title: string;
  readonly context: string;
  readonly agent_id: string | null;
  readonly pipeline_id: string | null;
  readonly options: readonly { readonly n: number; readonly action: string; readonly recommended: boolean }[];
}
