import type { OperationName } from '../api/operations/registry.ts';
import type { JsonDocument } from './json-output.ts';

/**
 * A command without its name. Parsing, help and completion are derived from it. Its file is loaded only when the
 * command runs.
 */
export interface CliCommand {
  /** Complete command lines. The first one opens the help. */
  readonly examples: readonly [string, ...string[]];
  readonly args: readonly Argument[];
  /** More arguments may follow; with `options`, also unknown options after the first argument. */
  readonly rest?: Argument & { readonly options?: true };
  readonly options: readonly Option[];
  /** The operation that the command calls, unless an option chooses another. */
  readonly operation?: OperationName;
  /** The output of `--json` on success, for each command that has that option. */
  readonly json?: readonly JsonDocument[];
  /**
   * Whether the command gives the terminal to another program or speaks a protocol on it. Progress is not shown then.
   */
  readonly ownsTerminal?: (given: ParsedArguments) => boolean;
  /** Set if the command has exit codes besides success and failure. */
  readonly exitCodes?: Readonly<Record<number, string>>;
  /** Returns help that depends on the arguments before `--help`; undefined for the usual help. */
  readonly helpOn?: (args: readonly string[], io: Io) => Promise<string | undefined>;
  /** Returns the exit code, or a usage error to print. */
  readonly run: (given: ParsedArguments, io: Io) => number | UsageError | Promise<number | UsageError>;
}

export interface UsageError {
  readonly usage: string;
}

export interface ListedCommand {
  /** As typed after `baton`: one or more words. */
  readonly name: string;
  readonly summary: string;
  readonly load: () => Promise<CliCommand>;
}

interface Argument {
  /** As shown in help: `KIND`, `FILE|-`. */
  readonly name: string;
  readonly about: string;
  readonly optional?: boolean;
  /** The only words that it can be. Any other is a usage error, and shells complete them. */
  readonly choices?: readonly string[];
}

export interface Option {
  /** Without the dashes. */
  readonly name: string;
  readonly short?: string;
  /** The name of the value in the help. An option without one is a switch. */
  readonly value?: string;
  /** Marked as required in the help. The command itself checks it. */
  readonly needed?: boolean;
  /** Takes several values, separated by commas or in repeated options. */
  readonly isList?: boolean;
  /** The only values that it can have. Any other is a usage error, and shells complete them. */
  readonly choices?: readonly string[];
  /** Old spellings, with dashes. They are accepted for one release, with a note. */
  readonly formerly?: readonly string[];
  readonly about: string;
}

export interface ParsedArguments {
  readonly args: readonly string[];
  readonly options: ReadonlyMap<string, string>;
}

/** What a command uses of its process. Tests pass their own. */
export interface Io {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly cwd: string;
  readonly isTerminal: boolean;
  /** Whether `--json` was given. Errors are then JSON on standard output too. */
  readonly json?: boolean;
  /** False after `--no-pager`. */
  readonly pager?: boolean;
  out(text: string): void;
  err(text: string): void;
  /** Reads all of standard input, truncated above the size limit of any message. */
  readInput(): Promise<Uint8Array>;
}

export const EXIT = { ok: 0, failed: 1, usage: 2, waiting: 3, notVerified: 4, interrupted: 130 } as const;
