import type { Io } from '../src/cli/command.ts';
import { main } from '../src/cli/main.ts';

export interface Ran {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

/** Runs `baton` in this process, with an Io that keeps what it is given. */
export async function runCli(
  argv: readonly string[],
  input: string | Uint8Array = '',
  place: Partial<Pick<Io, 'env' | 'cwd'>> = {},
): Promise<Ran> {
  let out = '';
  let err = '';
  const code = await main(argv, {
    env: {},
    cwd: process.cwd(),
    ...place,
    isTerminal: false,
    out: (text) => {
      out += text;
    },
    err: (text) => {
      err += text;
    },
    readInput: async () => (typeof input === 'string' ? new TextEncoder().encode(input) : input),
  });
  return { code, out, err };
}
