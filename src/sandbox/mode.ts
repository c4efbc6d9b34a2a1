import type { IncomingMessage, ServerResponse } from 'node:http';
import type { SandboxRecord, SandboxSpec } from '../protocol/sandbox.ts';

/** One process that is to run in a sandbox, as its supervisor sees it. */
export interface SandboxRequest {
  readonly spec: SandboxSpec;
  /** Unique on this machine: names control groups and containers. */
  readonly id: string;
  readonly stateDir: string;
  /** A folder of the caller for the sandbox's own files. The process inside does not see it. */
  readonly folder: string;
  /** Serves requests from inside; left out for processes that have nobody to talk to. */
  readonly onRequest?: (request: IncomingMessage, response: ServerResponse) => void;
  readonly secrets: Readonly<Record<string, string>>;
  /** The program that opens ports inside a network namespace. */
  readonly helper: string;
  readonly forbiddenPorts: readonly number[];
  readonly onNote: (line: string) => void;
  readonly env: NodeJS.ProcessEnv;
}

/** The program to run, as it would be spawned without a sandbox. */
interface PlainCommand {
  readonly argv: readonly string[];
  readonly cwd: string;
  readonly env: NodeJS.ProcessEnv;
  readonly isTerminal: boolean;
}

export type SandboxedCommand =
  | { readonly ok: true; readonly argv: readonly string[]; readonly env: NodeJS.ProcessEnv }
  | { readonly ok: false; readonly reason: string };

/** What a mode contributes: limits, the command, and what happens around it. */
export interface OpenMode {
  readonly limits: SandboxRecord['limits'];
  readonly notes: readonly string[];
  wrap(command: PlainCommand): SandboxedCommand;
  /** The command was spawned. */
  started(pid: number): void;
  /** Freezes everything inside, or lets it go on. Resolves to false if it cannot, or not everything. Left out: it cannot. */
  freeze?(isFrozen: boolean): Promise<boolean>;
  /** Ends at once what is left inside; left out if the end of the command is the end of everything. */
  end?(): Promise<unknown>;
  close(): Promise<void>;
}
