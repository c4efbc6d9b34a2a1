import type { IncomingMessage, ServerResponse } from 'node:http';
import type { SandboxRecord, SandboxSpec } from '../protocol/sandbox.ts';
import type { RequestMeter } from './network/meter/request-meter.ts';
import type { OpenNetwork } from './network/network-request.ts';

/** One process to run in a sandbox, as its supervisor describes it. */
export interface SandboxRequest {
  readonly spec: SandboxSpec;
  /** Unique on this machine: names control groups and containers. */
  readonly id: string;
  readonly stateDir: string;
  /** The caller's folder for files of the sandbox. The process inside cannot see it. */
  readonly folder: string;
  /** Serves requests from inside; absent for processes that send none. */
  readonly onRequest?: (request: IncomingMessage, response: ServerResponse) => void;
  readonly secrets: Readonly<Record<string, string>>;
  /** Counts the requests that use a secret. */
  readonly meter?: RequestMeter;
  /** The program that opens ports inside a network namespace. */
  readonly helper: string;
  readonly forbiddenPorts: readonly number[];
  readonly onNote: (line: string) => void;
  readonly env: NodeJS.ProcessEnv;
  /** The tokens of the run, which no command of the second sandbox gets in a variable. */
  readonly tokens: readonly string[];
}

/** The command of the program, as it would be spawned without a sandbox. */
interface PlainCommand {
  readonly argv: readonly string[];
  readonly cwd: string;
  readonly env: NodeJS.ProcessEnv;
  readonly isTerminal: boolean;
}

/** A command of the second sandbox, with the folder for the files of its start. */
interface CommandAside extends Omit<PlainCommand, 'env' | 'isTerminal'> {
  /** The whole environment inside. It does not reach the programs that open the sandbox. */
  readonly env: Readonly<Record<string, string>>;
  readonly folder: string;
  readonly network: OpenNetwork;
}

export type SandboxedCommand =
  | { readonly ok: true; readonly argv: readonly string[]; readonly env: NodeJS.ProcessEnv }
  | { readonly ok: false; readonly reason: string };

/** What a mode provides: limits, the command, and actions before and after it. */
export interface OpenMode {
  readonly limits: SandboxRecord['limits'];
  readonly notes: readonly string[];
  wrap(command: PlainCommand): SandboxedCommand;
  /** Wraps a command of the second sandbox, which shares the limits of the first. Absent if the mode has none. */
  wrapAside?(command: CommandAside): SandboxedCommand;
  /** Called after the command was spawned. */
  started(pid: number): void;
  /**
   * Freezes or resumes all processes inside. Resolves to false if not all of them can be. Absent if the mode cannot.
   */
  freeze?(isFrozen: boolean): Promise<boolean>;
  /** Kills all processes that are left inside; absent if the end of the command ends them all. */
  end?(): Promise<unknown>;
  close(): Promise<void>;
}
