import { once } from 'node:events';
import { isatty } from 'node:tty';
import type { Answer, ApiError } from '../api/answer.ts';
import { shellWord } from '../protocol/text/quote-for-shell.ts';
import type { Io, Option } from './command.ts';
import { printableLines } from './text.ts';

export const ACCEPT_RULES: Option = {
  name: 'accept-rules',
  value: 'HASH',
  about: 'Agree to a runbook that loosens the rules; the error message prints its hash',
};

/** If the runbook loosens the rules, a person at a terminal is asked once. Other callers get the command to type. */
export async function callAcceptingRules<R>(
  call: (accept: { readonly accept_rules?: string }) => Promise<Answer<R>>,
  { accepted, typed, io, isAdoption = false }: Asked,
): Promise<Answer<R>> {
  const answer = await call(accepted === undefined ? {} : { accept_rules: accepted });
  if (answer.ok || answer.error.rules === undefined) return answer;
  const { sha256 } = answer.error.rules;
  const error: ApiError = {
    ...answer.error,
    hint: `If that is what you want: ${[...typed, '--accept-rules', sha256].map(shellWord).join(' ')}`,
  };
  if (!io.isTerminal || !isatty(0)) return { ok: false, error };
  // The adoption prints the differences itself.
  if (!isAdoption) io.err(`${printableLines(error.message)}\n`);
  const agreed = isAdoption || (await confirm('Put these rules in force?'));
  return agreed ? call({ accept_rules: sha256 }) : { ok: false, error };
}

interface Asked {
  readonly accepted: string | undefined;
  readonly typed: readonly string[];
  readonly io: Io;
  /** The command is the adoption: a person who types it has agreed. */
  readonly isAdoption?: boolean;
}

/** Takes one key. Any key but `y` counts as no. */
async function confirm(question: string): Promise<boolean> {
  const { stdin } = process;
  process.stderr.write(`${question} [y/N] `);
  stdin.setRawMode(true).resume();
  try {
    const [key] = (await once(stdin, 'data')) as [Buffer]; // oxlint-disable-line typescript/no-unsafe-type-assertion
    const isYes = /^y/i.test(key.toString('utf8'));
    process.stderr.write(`${isYes ? 'yes' : 'no'}\n`);
    return isYes;
  } finally {
    stdin.setRawMode(false).pause();
  }
}

/** If no checks are named, a person at a terminal is asked once, and a yes is recorded. Other callers get the error. */
export async function callAcceptingNoChecks<R>(
  call: (accept: { readonly accept_no_checks?: true }) => Promise<Answer<R>>,
  io: Io,
): Promise<Answer<R>> {
  const answer = await call({});
  if (answer.ok || answer.error.code !== 'no-checks' || !io.isTerminal || !isatty(0)) return answer;
  io.err(`${printableLines(`${answer.error.message}.\n${answer.error.hint}`)}\n`);
  return (await confirm('Merge without checks from now on?')) ? call({ accept_no_checks: true }) : answer;
}
