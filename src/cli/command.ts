/**
 * A command is data with one function: parsing, help, completion and the reference in the docs are all made from it. Its
 * file imports what the command needs, and is loaded only when the command runs.
 */
export interface CliCommand {
  /** As typed after `baton`, one word or two. */
  readonly name: string;
  readonly summary: string;
  /** Whole command lines. The first one opens the help. */
  readonly examples: readonly [string, ...string[]];
  readonly args: readonly Argument[];
  /** More arguments may follow; with `options`, also options that are not known here, behind the first argument. */
  readonly rest?: Argument & { readonly options?: true };
  readonly options: readonly Option[];
  /** What the exit codes mean, where they are more than success and failure. */
  readonly exitCodes?: Readonly<Record<number, string>>;
  readonly run: (given: ParsedArguments, io: Io) => number | Promise<number>;
}

/** What help and completion need to know of a command before it is loaded. */
export interface ListedCommand {
  readonly name: string;
  readonly summary: string;
  readonly load: () => Promise<CliCommand>;
}

export interface Argument {
  /** As help shows it: `KIND`, `FILE|-`. */
  readonly name: string;
  readonly about: string;
  readonly optional?: boolean;
}

export interface Option {
  /** Without the dashes: `json`, `output`. */
  readonly name: string;
  readonly short?: string;
  /** The name of its value, as help shows it; an option without one is a switch. */
  readonly value?: string;
  /** The command says what to do without it, and does nothing else. */
  readonly needed?: boolean;
  readonly about: string;
}

/** What was typed, after it was compared with the command. */
export interface ParsedArguments {
  readonly args: readonly string[];
  readonly options: ReadonlyMap<string, string>;
}

/** The world outside, as a command sees it; tests hand in their own. */
export interface Io {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly cwd: string;
  readonly isTerminal: boolean;
  out(text: string): void;
  err(text: string): void;
  /** All of standard input, or more of it than any message may have. */
  readInput(): Promise<Uint8Array>;
}

export const EXIT = { ok: 0, failed: 1, usage: 2, waiting: 3, notVerified: 4, interrupted: 130 } as const;
