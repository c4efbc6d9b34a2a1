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
      if (!mayAsk(io)) {
        for (const decision of decisions) await printDecision(client, decision, io);
        return decisions.length === 0 ? EXIT.ok : EXIT.waiting;
      }
      const left = await askEach(decisions, client, io);
      return left === 0 ? EXIT.ok : EXIT.waiting;
    }),
};

async function printDecision(client: Client, { id }: DecisionView, io: Io): Promise<void> {
  const shown = await client.call('decision_show', { id });
  if (shown.ok) io.out(`${renderDecision(shown.result, new Date())}\n`);
}

/** Returns how many are still open. */
async function askEach(decisions: readonly DecisionView[], client: Client, io: Io): Promise<number> {
  return withPrompt(async (ask) => {
    let left = decisions.length;
    for (const [i, { id }] of decisions.entries()) {
      io.out(`\n${i + 1} of ${decisions.length}\n`);
      const outcome = await askOne(id, client, ask, io);
      if (outcome === 'quit') break;
      if (outcome === 'answered') left -= 1;
    }
    return left;
  });
}

/** Asks in the terminal. The answer to a question is undefined after Ctrl-D or Ctrl-C. */
export async function withPrompt<R>(use: (ask: Ask) => Promise<R>): Promise<R> {
  const prompt = createInterface({ input: process.stdin, output: process.stdout });
  // An iterator keeps lines that are typed ahead.
  const lines = prompt[Symbol.asyncIterator]();
  try {
    return await use(async (question) => {
      prompt.setPrompt(question);
      prompt.prompt();
      const next = await lines.next();
      return next.done === true ? undefined : next.value;
    });
  } finally {
    prompt.close();
  }
}

/** Whether a person can be asked: both ends are a terminal. */
export function mayAsk(io: Io): boolean {
  return io.isTerminal && isatty(0);
}

type Ask = (question: string) => Promise<string | undefined>;

/** Shows a decision with its evidence and asks until it is answered or skipped: a refused answer is explained and asked again. */
export async function askOne(id: string, client: Client, ask: Ask, io: Io): Promise<'answered' | 'skipped' | 'quit'> {
  const shown = await client.call('decision_show', { id });
  if (!shown.ok) {
    io.out(`Error: ${printable(shown.error.message)}\n`);
    return 'skipped';
  }
  io.out(renderDecision(shown.result, new Date(), { isAsked: true }));
  for (;;) {
    const chosen = await choose(shown.result, ask);
    if (chosen === 'quit') return 'quit';
    if (chosen === 'skip') return 'skipped';
    const answer = await client.call('decision_resolve', { id, ...chosen });
    io.out(answer.ok ? describeResolved(answer.result) : `Error: ${printable(answer.error.message)}\n`);
    if (answer.ok) return 'answered';
    // Only these refusals depend on what was typed; any other would come again.
    if (!CORRECTABLE.has(answer.error.code)) return 'skipped';
  }
}

const CORRECTABLE: ReadonlySet<string> = new Set([
  'no-note',
  'no-agent-named',
  'wrong-role',
  'separation-of-duties',
  'runbook/unknown-agent',
]);

type Chosen = { readonly option: number; readonly message?: string; readonly agent?: string } | 'skip' | 'quit';

async function choose({ options }: DecisionView, ask: Ask): Promise<Chosen> {
  const recommended = options.findIndex((option) => option.recommended) + 1;
  const standard = recommended === 0 ? '' : `, Enter for ${recommended}`;
  for (;;) {
    const typed = (await ask(`1-${options.length}${standard}, s to skip, q to quit: `))?.trim().toLowerCase();
    if (typed === undefined || typed === 'q') return 'quit';
    if (typed === 's') return 'skip';
    const option = typed === '' ? recommended : Number(typed);
    if (Number.isInteger(option) && option >= 1 && option <= options.length) {
      const action = options[option - 1]?.action;
      const agent = action === 'hand_over' ? await ask('Agent of the runbook: ') : '';
      const message = await ask(
        action === 'send_back' ? 'What must change: ' : 'Note for the next session (Enter for none): ',
      );
      if (message === undefined || agent === undefined) return 'quit';
      const named = agent.trim() === '' ? {} : { agent: agent.trim() };
      return { option, ...named, ...(message.trim() === '' ? {} : { message }) };
    }
  }
}
