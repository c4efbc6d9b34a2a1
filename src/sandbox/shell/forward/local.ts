/** The settings of the program that replaces the shells, as its file in the client's sandbox names them. */
export interface ForwardSettings {
  /** The supervisor's socket, as seen in the client's sandbox. */
  readonly socket: string;
  /** The path in the client's sandbox at which each replaced program is visible. */
  readonly real: Readonly<Record<string, string>>;
  /** Shell commands that run beside the client: its hooks, and the helper that returns its key. */
  readonly commands: readonly string[];
  /** Scripts that run beside the client with these first arguments. */
  readonly scripts: readonly (readonly string[])[];
  /** Marks, in a variable, the processes of such a command: their shells are real too. */
  readonly nonce: string;
}

export const BESIDE = 'BATON_BESIDE';

/**
 * Whether a shell's arguments are one of the client's own commands: exactly its text after flags, or exactly its
 * script. Code under judgement cannot add to a command that is compared as a whole.
 */
export function isLocal(
  args: readonly string[],
  mark: string | undefined,
  { commands, scripts, nonce }: ForwardSettings,
): boolean {
  if (mark === nonce) return true;
  const flags = args.slice(0, -1);
  const isCommand = flags.length > 0 && flags.every((flag) => /^-[a-z]+$/.test(flag)) && flags.at(-1)?.endsWith('c');
  if (isCommand === true && commands.includes(args.at(-1) ?? '')) return true;
  return scripts.some((words) => words.every((word, i) => word === args[i]));
}
