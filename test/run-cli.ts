import type { Io } from '../src/cli/command.ts';
import { main } from '../src/cli/main.ts';
import { findAsked } from './processes/agree.ts';
import { requireDeclaredExit } from './declared-exit.ts';
import { requireDocumentedCodes } from './documented-codes.ts';
import { requireDeclaredJson } from './json-outputs.ts';

export interface Ran {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

export interface StartedCli {
  /** The output so far. */
  readonly said: { readonly out: string; readonly err: string };
  /** The exit code, available after the JSON output was compared with the command's declaration. */
  readonly code: Promise<number>;
}

type Place = Partial<Pick<Io, 'env' | 'cwd' | 'isTerminal'>> & {
  /** Whether the person agrees to a runbook that asks for more than before; default: true. */
  readonly agrees?: boolean;
};

/** Runs `baton` in this process, and collects its output. */
export async function runCli(
  argv: readonly string[],
  input: string | Uint8Array = '',
  place: Place = {},
): Promise<Ran> {
  const { said, code } = startCli(argv, input, place);
  const ran = { code: await code, ...said };
  const asked = argv.includes('--accept-rules') || place.agrees === false ? undefined : findAsked(ran);
  if (asked === undefined) return ran;
  // The person agrees to what the test wrote, and types the command again.
  await startCli(['runbook', 'adopt', '--accept-rules', asked], '', place).code;
  const again = startCli(argv, input, place);
  return { code: await again.code, ...again.said };
}

/** Starts `baton` without waiting for its end. */
export function startCli(
  argv: readonly string[],
  input: string | Uint8Array = '',
  { env = {}, cwd = process.cwd(), isTerminal = false }: Place = {},
): StartedCli {
  const said = { out: '', err: '' };
  const ending = main(argv, {
    env,
    cwd,
    isTerminal,
    out: (text) => void (said.out += text),
    err: (text) => void (said.err += text),
    readInput: async () => (typeof input === 'string' ? new TextEncoder().encode(input) : input),
  });
  const checked = ending.then(async (code) => {
    await requireDeclaredJson(argv, said.out, code);
    requireDocumentedCodes(argv, said);
    await requireDeclaredExit(argv, code);
    return code;
  });
  return { said, code: checked };
}
