import { createInterface } from 'node:readline';
import { isatty } from 'node:tty';
import type { Client } from '../../api/client/client.ts';
import type { DecisionView } from '../../api/run-views.ts';
import { withClient } from '../ask.ts';
import { type CliCommand, EXIT, type Io } from '../command.ts';
import { COMMON_OPTIONS, reportError } from '../operation-command.ts';
import { printable } from '../text.ts';
import { describeResolved, renderDecision } from './decisions.ts';

export const decisionReviewCommand: CliCommand = {
  examples: ['baton decision review'],
  args: [],
  options: COMMON_OPTIONS.filter(({ name }) => name !== 'json'),
  exitCodes: { 0: 'no decision is open', 3: 'a decision is still open' },
  run: async (given, io) =>
    withClient(given, io, async (client) => {
      const answer = await client.call('decision_list', {});
      if (!answer.ok) return reportError(answer.error, given, io);
      const { decisions } = answer.result;
      if (decisions.length === 0) io.out('No open decisions.\n');
      // Without a terminal the decisions are only printed.
      if (!io.isTerminal || !isatty(0)) {
        io.out(decisions.map((decision) => renderDecision(decision, new Date())).join('\n'));
        return decisions.length === 0 ? EXIT.ok : EXIT.waiting;
      }
      const left = await askEach(decisions, client, io);
      return left === 0 ? EXIT.ok : EXIT.waiting;
    }),
};

/** Returns how many are still open. */
async function askEach(decisions: readonly DecisionView[], client: Client, io: Io): Promise<number> {
  const prompt = createInterface({ input: process.stdin, output: process.stdout });
  // An iterator keeps lines that are typed ahead.
  const lines = prompt[Symbol.asyncIterator]();
  const ask = async (question: string): Promise<string | undefined> => {
    prompt.setPrompt(question);
    prompt.prompt();
    const next = await lines.next();
    // Ctrl-D or Ctrl-C.
    return next.done === true ? undefined : next.value;
  };
  let left = decisions.length;
  try {
    for (const [i, decision] of decisions.entries()) {
      io.out(`\n${i + 1} of ${decisions.length}\n${renderDecision(decision, new Date(), { isAsked: true })}`);
      const chosen = await choose(decision, ask);
      if (chosen === 'quit') break;
      if (chosen === 'skip') continue;
      const answer = await client.call('decision_resolve', { id: decision.id, ...chosen });
      if (answer.ok) left -= 1;
      io.out(answer.ok ? describeResolved(answer.result) : `Error: ${printable(answer.error.message)}\n`);
    }
  } finally {
    prompt.close();
  }
  return left;
}

type Chosen = { readonly option: number; readonly message?: string } | 'skip' | 'quit';

async function choose({ options }: DecisionView, ask: (q: string) => Promise<string | undefined>): Promise<Chosen> {
  const recommended = options.findIndex((option) => option.recommended) + 1;
  const standard = recommended === 0 ? '' : `, Enter for ${recommended}`;
  for (;;) {
    const typed = (await ask(`1-${options.length}${standard}, s to skip, q to quit: `))?.trim().toLowerCase();
    if (typed === undefined || typed === 'q') return 'quit';
    if (typed === 's') return 'skip';
    const option = typed === '' ? recommended : Number(typed);
    if (Number.isInteger(option) && option >= 1 && option <= options.length) {
      const message = await ask('Reason, also sent to the agent if it continues (Enter for none): ');
      if (message === undefined) return 'quit';
      return message.trim() === '' ? { option } : { option, message };
    }
  }
}
