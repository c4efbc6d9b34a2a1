import { createInterface } from 'node:readline/promises';
import { isatty } from 'node:tty';
import type { Answer, ApiError } from '../api/answer.ts';
import { shellWord } from '../protocol/text/quote-for-shell.ts';
import type { Io, Option } from './command.ts';
import { printableLines } from './text.ts';

export const ACCEPT_RULES: Option = {
  name: 'accept-rules',
  value: 'HASH',
  about: 'Put a runbook that loosens the rules in force; the error message prints its hash',
};

/** If the runbook loosens the rules, a person at a terminal is asked once. Other callers get the command to type. */
export async function callAcceptingRules<R>(
  call: (accept: { readonly accept_rules?: string }) => Promise<Answer<R>>,
  { accepted, typed, io }: { accepted: string | undefined; typed: readonly string[]; io: Io },
): Promise<Answer<R>> {
  const answer = await call(accepted === undefined ? {} : { accept_rules: accepted });
  if (answer.ok || answer.error.rules === undefined) return answer;
  const { sha256 } = answer.error.rules;
  const error: ApiError = {
    ...answer.error,
    hint: `If that is what you want: ${[...typed, '--accept-rules', sha256].map(shellWord).join(' ')}`,
  };
  if (!io.isTerminal || !isatty(0)) return { ok: false, error };
  io.err(`${printableLines(error.message)}\n`);
  return (await confirm('Put these rules in force?')) ? call({ accept_rules: sha256 }) : { ok: false, error };
}

/** Any answer but a clear yes counts as no. */
async function confirm(question: string): Promise<boolean> {
  using prompt = createInterface({ input: process.stdin, output: process.stderr });
  const answer = await prompt.question(`${question} [y/N] `).catch(() => '');
  return /^y(?:es)?$/i.test(answer.trim());
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
