import { isatty } from 'node:tty';
import type { Answer } from '../api/answer.ts';
import { confirm } from './approvals.ts';
import type { Io } from './command.ts';
import { printableLines } from './text.ts';

/**
 * Calls an operation that may start a workflow. If nothing says what is checked before a merge, a person at a terminal is asked once, and a
 * yes is recorded; anybody else gets the refusal, which names both ways out.
 */
export async function callAcceptingNoChecks(
  call: (accept: { readonly accept_no_checks?: true }) => Promise<Answer>,
  io: Io,
): Promise<Answer> {
  const answer = await call({});
  if (answer.ok || answer.error.code !== 'no-checks' || !io.isTerminal || !isatty(0)) return answer;
  io.err(`${printableLines(`${answer.error.message}.\n${answer.error.hint}`)}\n`);
  return (await confirm('Merge without checks from now on?')) ? call({ accept_no_checks: true }) : answer;
}
