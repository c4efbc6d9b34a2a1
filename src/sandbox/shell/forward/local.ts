/** The settings of the program that replaces the shells, as its file in the client's sandbox names them. */
export interface ForwardSettings {
  /** The supervisor's socket, as seen in the client's sandbox. */
  readonly socket: string;
  /** The path in the client's sandbox at which each replaced program is visible. */
  readonly real: Readonly<Record<string, string>>;
  /** Shell commands of the client itself: its hooks, and the helper that returns its key. */
  readonly commands: readonly string[];
  /** The path of `baton` in the session, a shell script, which a client starts as an MCP server. */
  readonly baton: string;
  /** The path of the client, if that is a shell script which starts the client's program. */
  readonly launcher: string | null;
  /** Marks the processes of the client's own commands, whose shells are real too. */
  readonly nonce: string;
}

/** The variable with the nonce. */
export const BESIDE = 'BATON_BESIDE';

/**
 * Where a shell runs: as the client's own command, as a part of the client, or in the second sandbox. Commands are
 * compared as a whole, so code under judgement cannot add to one.
 */
export function placeOf(
  args: readonly string[],
  mark: string | undefined,
  { commands, baton, launcher, nonce }: ForwardSettings,
): 'own command' | 'client' | 'second sandbox' {
  const [script, flags] = [args[0], args.slice(0, -1)];
  if (mark === nonce) return 'own command';
  if (script !== undefined && (script === baton || script === launcher)) return 'client';
  const isCommand = flags.every((flag) => /^-[a-z]+$/.test(flag)) && flags.at(-1)?.endsWith('c') === true;
  return isCommand && commands.includes(args.at(-1) ?? '') ? 'own command' : 'second sandbox';
}
