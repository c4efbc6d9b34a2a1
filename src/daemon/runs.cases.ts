import { readFileSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { findLedgerFile } from '../../test/stores/find-ledger-file.ts';
import type { Client } from '../api/client/client.ts';
import { createClient } from '../api/client/connect.ts';
import { requireResult } from '../api/require-result.cases.ts';
import { findProcessesByMark } from '../effects/processes/supervised.ts';
import type { Daemon } from './lifecycle.ts';
import { Scene, until } from './running.cases.ts';

/** A repository with a runbook, and a daemon in this process that runs it with real supervisors. */
export class RunScene {
  readonly scene = new Scene();
  readonly repository: string = this.scene.makeRepository();
  /** Whether the person who starts things agrees to a runbook of the test that asks for more than before. */
  agrees = true;
  /** Whether the test has written the runbook since the last agreement. */
  isEdited = true;
  #daemon: Daemon | undefined;
  #client: Client | undefined;

  get stateDir(): string {
    return this.scene.stateDir;
  }

  /** The file of the ledger, or of its replica. */
  get ledgerFile(): string {
    return findLedgerFile(this.stateDir);
  }

  get project(): string {
    return basename(this.ledgerFile, '.db');
  }

  /** Disables desktop notifications. */
  write(runbook: string): void {
    this.isEdited = true;
    const quiet = runbook.includes('[notify]') ? '' : '[notify]\ndesktop = false\nterminal = false\n';
    writeFileSync(join(this.repository, 'baton.toml'), `${runbook}\n${quiet}`);
  }

  async start(env: Record<string, string> = {}): Promise<void> {
    const all = { BATON_TICK_MS: '50', ...env };
    this.#daemon = await this.scene.runDaemon(all);
    this.connect(all);
  }

  /** Connects to a daemon that the test started elsewhere. */
  connect(env: Record<string, string | undefined>): void {
    this.#client?.close();
    const all = { ...this.scene.env, ...env };
    this.#client = createClient({ stateDir: this.stateDir, env: all, projectPath: this.repository, autostart: false });
  }

  async stop(): Promise<void> {
    this.#client?.close();
    await this.#daemon?.stop();
    this.#daemon = undefined;
  }

  async restart(env: Record<string, string> = {}): Promise<void> {
    await this.stop();
    await this.start(env);
  }

  /** Returns the result of a call that must succeed. */
  async ask<R = Shown>(operation: string, input: unknown = {}): Promise<R> {
    const answer = await this.call(operation, input);
    if (!answer.ok) throw new Error(`${operation}: ${answer.error.code}: ${answer.error.message}`);
    return answer.result as R;
  }

  async call(operation: string, input: unknown = {}, token?: string) {
    if (this.#client === undefined) throw new Error('the daemon is not started');
    const who = token === undefined ? {} : { token };
    if (this.agrees && this.isEdited && USES.has(operation) && token === undefined) await this.adopt();
    const answer = await this.#client.forward(operation, input, { projectPath: this.repository, ...who });
    requireResult(operation, answer);
    return answer;
  }

  /** Adopts what the test wrote, as a person does who typed it. What an agent wrote is not adopted. */
  async adopt(): Promise<void> {
    this.isEdited = false;
    const rules = await this.call('runbook_rules');
    if (!rules.ok) return;
    const { in_force, working } = rules.result as Rules;
    // The first rules that loosen nothing are adopted by the daemon.
    const isDue = in_force === null ? working.loosens : working.differences.length > 0;
    if (isDue) await this.call('runbook_adopt', { accept_rules: working.sha256 });
  }

  async run(name: string, ...args: string[]): Promise<string> {
    return (await this.ask('run_start', { name, args })).id;
  }

  /** Returns the pipeline when it is over or needs a person. */
  async pipeline(id: string, waitMs = 20_000): Promise<Shown> {
    return this.ask('pipeline_show', { id, wait_ms: waitMs });
  }

  async agent(id: string, waitMs = 20_000): Promise<Shown> {
    return this.ask('agent_show', { id, wait_ms: waitMs });
  }

  /** Returns the newest agent of a step. */
  async agentIn(pipelineId: string, step: string): Promise<string> {
    const find = async () =>
      (await this.ask('pipeline_show', { id: pipelineId })).steps.find(({ name }) => name === step);
    await until(async () => (await find())?.agent_id !== null, `${step} has an agent`);
    return (await find())?.agent_id ?? '';
  }

  async untilStep(pipelineId: string, step: string): Promise<void> {
    const find = async () =>
      (await this.ask('pipeline_show', { id: pipelineId })).steps.find(({ name }) => name === step);
    await until(async () => (await find())?.status === 'running', `${step} runs`);
  }

  touch(file: string): void {
    writeFileSync(join(this.repository, file), '');
  }

  async untilRunning(agentId: string): Promise<Shown> {
    await until(async () => (await this.ask('agent_show', { id: agentId })).process === 'running', 'the agent runs');
    return this.ask('agent_show', { id: agentId });
  }

  /** The recorded entries, oldest first. */
  async entries(): Promise<Told[]> {
    const { seq } = await this.ask('status_get');
    const told: Told[] = [];
    if (this.#client === undefined) return told;
    for await (const { seq: at, json } of this.#client.events({ after: 0, projectPath: this.repository })) {
      told.push(JSON.parse(json));
      if (at >= seq) break;
    }
    return told;
  }

  async types(): Promise<string[]> {
    return (await this.entries()).map(({ type }) => type);
  }

  /** The lines that runs wrote to a file of the repository. */
  lines(file: string): string[] {
    try {
      return readFileSync(join(this.repository, file), 'utf8').trim().split('\n');
    } catch {
      return [];
    }
  }

  /** Ends everything that still runs, as an operator would. */
  async end(): Promise<void> {
    if (this.#daemon !== undefined) {
      const { agents } = await this.ask<{ agents: Shown[] }>('agent_list');
      for (const { id } of agents) await this.call('agent_kill', { id });
      const { pipelines } = await this.ask<{ pipelines: Shown[] }>('pipeline_list');
      for (const { id } of pipelines) await this.call('pipeline_cancel', { id });
      await until(
        async () => (await this.ask<{ agents: Shown[] }>('agent_list')).agents.length === 0,
        'all agents are gone',
      );
    }
    await this.stop();
    await this.scene.end();
  }
}

interface Rules {
  readonly in_force: object | null;
  readonly working: { readonly loosens: boolean; readonly sha256: string; readonly differences: readonly object[] };
}

/** What makes a person's agreement necessary. */
const USES: ReadonlySet<string> = new Set(['run_start', 'run_plan', 'task_create', 'task_import', 'task_claim']);

/** The fields of all views that tests use. */
export interface Shown {
  readonly id: string;
  readonly seq: number;
  readonly status: string;
  readonly process: string;
  readonly reason: string | null;
  readonly start: number;
  readonly pid: number | null;
  readonly outcome: string | null;
  readonly decision_id: string | null;
  readonly exit: {
    readonly code: number | null;
    readonly signal: string | null;
    readonly output: string | null;
  } | null;
  readonly workspace: { readonly path: string; readonly branch: string } | null;
  readonly steps: readonly {
    readonly name: string;
    readonly status: string;
    readonly visits: number;
    readonly reason: string | null;
    readonly output: string | null;
    readonly agent_id: string | null;
  }[];
}

export interface Told {
  readonly type: string;
  readonly actor: string;
  readonly at: string;
  readonly cause: number | null;
  readonly data: Readonly<Record<string, unknown>>;
}

export async function untilNobodyIs(agentId: string): Promise<void> {
  await until(
    () => findProcessesByMark({ name: 'BATON_AGENT_ID', value: agentId }).length === 0,
    'nothing of it is left',
  );
}

/** An agent that hangs, with a child that has left its process group. */
export const HANGING = `
      [agents.worker]
      run = "setsid sleep 300 & sleep 300"
      on_dead = "fail"
      [pipelines.p]
      steps = [{ name = "work", run = { agent = "worker" } }]`;
