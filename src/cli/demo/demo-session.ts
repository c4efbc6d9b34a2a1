import { execFileSync } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Client } from '../../api/client/client.ts';
import { createClient } from '../../api/client/connect.ts';
import { listLiving, readProcFile } from '../../api/processes.ts';
import { readDaemonRecord } from '../../api/state-folder.ts';
import { gitEnvironment } from '../../git/run-git.ts';
import { EXIT, type Io, type ListedCommand } from '../command.ts';
import { parseArgs } from '../parse-args.ts';
import { type DemoPlace, removeDemoPlace } from './demo-place.ts';

export interface DemoOptions {
  readonly keep: boolean;
  readonly slow: boolean;
  readonly page: boolean;
}

export const TASK = 'W-00001';
const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;
/** Long enough to read a command before its output appears. */
const PAUSE_MS = 2500;

/** Runs commands in the demo's folder, and ends the demo's agents and daemon however the demo ends. */
export class DemoSession implements AsyncDisposable {
  readonly place: DemoPlace;
  readonly client: Client;
  readonly io: Io;
  readonly options: DemoOptions;
  readonly #commands: readonly ListedCommand[];
  readonly #onSignal = (): void => void this.#interrupt();
  readonly #onExit = (): void => this.#endAtExit();
  readonly #closed = Promise.withResolvers<void>();
  #phase: 'walking' | 'looking' | 'leaving' = 'walking';
  #mayHaveAgents = false;

  constructor(place: DemoPlace, io: Io, options: DemoOptions, commands: readonly ListedCommand[]) {
    this.place = place;
    this.io = io;
    this.options = options;
    this.#commands = commands;
    this.client = createClient({ env: place.env, projectPath: place.repository, reachMs: 60_000 });
    for (const signal of SIGNALS) process.on(signal, this.#onSignal);
    // After a second Ctrl-C or a closed pipe there is only time to signal the daemon.
    process.once('exit', this.#onExit);
  }

  /** An interrupted run would report that it continues, but the demo ends it. */
  async baton(...words: string[]): Promise<void> {
    await this.#announce(`baton ${words.map((word) => (word.includes(' ') ? JSON.stringify(word) : word)).join(' ')}`);
    const { env, repository } = this.place;
    // Prints a command as a person would type it, and runs it in this process.
    const print = (text: string): void => {
      if (this.#phase !== 'leaving') this.io.out(text);
    };
    // The demo must not stop until the user leaves a pager.
    const io: Io = { ...this.io, env, cwd: repository, pager: false, out: print, err: print };
    const code = await this.#run(words, io);
    await this.unlessLeaving();
    if (code !== EXIT.ok) throw new Error(`baton ${words[0]} ended with exit code ${code}`);
  }

  async shell(command: string): Promise<void> {
    await this.#announce(command);
    const { repository: cwd, env } = this.place;
    this.io.out(execFileSync('/bin/sh', ['-c', command], { cwd, encoding: 'utf8', env: gitEnvironment(env) }));
  }

  /** Never resolves after an interruption, because any further call would start the daemon again. */
  async unlessLeaving(): Promise<void> {
    // Ctrl-C also ends git: this process handles its own signal before it takes that for a failure.
    await sleep(10);
    if (this.#phase === 'leaving') await new Promise(() => {});
  }

  /** Between these two, agents run, and outlive the daemon. */
  begin(): void {
    this.#mayHaveAgents = true;
  }

  finish(): void {
    this.#mayHaveAgents = false;
  }

  /** Keeps the daemon and its page running until the first Ctrl-C. */
  async look(): Promise<void> {
    this.#phase = 'looking';
    // A promise alone does not keep Node running.
    const clock = setInterval(() => {}, 60_000);
    await this.#closed.promise;
    clearInterval(clock);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.unlessLeaving();
    await this.#end();
  }

  async #end(): Promise<void> {
    if (this.#mayHaveAgents) await this.#endAgents();
    await this.client.stop();
    this.client.close();
    await this.#until(() => this.#nothingRuns());
    for (const signal of SIGNALS) process.off(signal, this.#onSignal);
    process.off('exit', this.#onExit);
  }

  async #announce(command: string): Promise<void> {
    await this.unlessLeaving();
    this.io.out(`\n$ ${command}\n`);
    if (this.options.slow) await sleep(PAUSE_MS);
    await this.unlessLeaving();
  }

  async #run(words: readonly string[], io: Io): Promise<number> {
    const listed = this.#commands
      .filter(({ name }) => name.split(' ').every((word, i) => words[i] === word))
      .toSorted((a, b) => b.name.length - a.name.length)[0];
    const command = await listed?.load();
    if (listed === undefined || command === undefined) return EXIT.usage;
    const parsed = parseArgs(command, words.slice(listed.name.split(' ').length));
    const done = parsed.kind === 'given' ? await command.run(parsed.given, io) : EXIT.usage;
    return typeof done === 'number' ? done : EXIT.usage;
  }

  async #interrupt(): Promise<void> {
    if (this.#phase === 'looking') return this.#closed.resolve();
    if (this.#phase === 'leaving') process.exit(EXIT.interrupted);
    this.#phase = 'leaving';
    await this.#end();
    if (!this.options.keep) removeDemoPlace(this.place);
    const rest = this.options.keep ? `; the files so far are in ${this.place.folder}` : ', and all files are removed';
    this.io.out(`\nInterrupted. Nothing runs any more${rest}\n`);
    // The demo waits for an answer that will not come.
    process.exit(EXIT.interrupted);
  }

  async #endAgents(): Promise<void> {
    await this.client.call('task_cancel', { task_id: TASK, reason: 'the demo has ended' });
    await this.#until(async () => {
      const status = await this.client.call('status_get', {});
      return !status.ok || status.result.agents.length === 0;
    });
  }

  /**
   * Whether all processes have ended. Supervisors end a moment after their agents, and write to the folder until then.
   */
  #nothingRuns(): boolean {
    const mark = `\0BATON_STATE_DIR=${this.place.stateDir}\0`;
    return !listLiving().some(({ pid }) => pid !== process.pid && `\0${readProcFile(pid, 'environ')}`.includes(mark));
  }

  /** Waits at most ten seconds, because the user waits for the shell prompt. */
  async #until(holds: () => boolean | Promise<boolean>): Promise<void> {
    for (let tries = 0; tries < 200 && !(await holds()); tries += 1) await sleep(50);
  }

  /** Called at exit, when asynchronous code no longer runs. */
  #endAtExit(): void {
    const { pid } = readDaemonRecord(this.place.stateDir) ?? {};
    if (pid !== undefined) process.kill(pid, 'SIGTERM');
    const clock = new Int32Array(new SharedArrayBuffer(4));
    for (let tries = 0; tries < 60 && !this.#nothingRuns(); tries += 1) Atomics.wait(clock, 0, 0, 50);
    if (!this.options.keep) removeDemoPlace(this.place);
  }
}
