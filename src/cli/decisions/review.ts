import { createInterface } from 'node:readline';
import { isatty } from 'node:tty';
import type { Client } from '../../api/client/client.ts';
import type { DecisionView } from '../../api/run-views.ts';
import { withClient } from '../ask.ts';
import { type CliCommand, EXIT, type Io } from '../command.ts';
import { COMMON_OPTIONS, reportError } from '../operation-command.ts';
import { renderErrorLine } from '../problems.ts';
import { followEntries, readHeadSeq } from '../run/follow-entries.ts';
import { lookOf } from '../status/paint.ts';
import { printable, shortId } from '../text.ts';
import { describeResolved, needsNote, renderDecision, renderDecisions } from './decisions.ts';

export const decisionReviewCommand: CliCommand = {
  examples: ['baton decision review'],
  args: [],
  options: COMMON_OPTIONS.filter(({ name }) => name !== 'json'),
  exitCodes: { 0: 'no decision waits for a person', 3: 'a decision still waits for a person' },
  run: async (given, io) =>
    withClient(given, io, async (client) => {
      const answer = await client.call('decision_list', {});
      if (!answer.ok) return reportError(answer.error, given, io);
      const { decisions: open } = answer.result;
      const answered = open.filter((decision) => decision.answer !== null);
      const decisions = open.filter((decision) => decision.answer === null);
      if (answered.length > 0) io.out(renderDecisions(answered, new Date(), lookOf(io).columns));
      if (open.length === 0) io.out('No open decisions.\n');
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
  if (shown.ok) io.out(`${renderDecision(shown.result, new Date(), lookOf(io))}\n`);
}

/** Returns how many decisions are still open. */
async function askEach(decisions: readonly DecisionView[], client: Client, io: Io): Promise<number> {
  return withPrompt(async (ask) => {
    let left = decisions.length;
    for (const [i, { id }] of decisions.entries()) {
      io.out(`\n${i + 1} of ${decisions.length}\n`);
      const outcome = await askOne(id, client, ask, io);
      if (outcome === 'quit') break;
      if (outcome === 'answered' || outcome === 'settled') left -= 1;
    }
    return left;
  });
}

/** Asks in the terminal. Ctrl-D or Ctrl-C makes the answer undefined. */
export async function withPrompt<R>(use: (ask: Ask) => Promise<R>): Promise<R> {
  const prompt = createInterface({ input: process.stdin, output: process.stdout });
  // An iterator keeps lines that were typed ahead.
  const lines = prompt[Symbol.asyncIterator]();
  try {
    let next: ReturnType<typeof lines.next> | undefined;
    return await use(async (question, signal) => {
      prompt.setPrompt(question);
      prompt.prompt();
      // A line typed after an abort answers the next question.
      next ??= lines.next();
      const line = await Promise.race([next, untilAborted(signal)]);
      if (line === undefined) return undefined;
      next = undefined;
      if (line.done !== true) return line.value;
      // After Ctrl-C or Ctrl-D the cursor is still behind the question.
      process.stdout.write('\n');
      return undefined;
    });
  } finally {
    prompt.close();
  }
}

async function untilAborted(signal: AbortSignal): Promise<undefined> {
  if (signal.aborted) return undefined;
  const { promise, resolve } = Promise.withResolvers<undefined>();
  signal.addEventListener('abort', () => resolve(undefined), { once: true });
  return promise;
}

/** Whether a person can be asked: input and output are a terminal. */
export function mayAsk(io: Io): boolean {
  return io.isTerminal && isatty(0);
}

/** Returns undefined after Ctrl-D or Ctrl-C, or if `signal` aborts. */
type Ask = (question: string, signal: AbortSignal) => Promise<string | undefined>;

/** `settled`: answered elsewhere, or withdrawn. */
type Asked = 'answered' | 'settled' | 'skipped' | 'quit';

/**
 * Shows a decision with its evidence, and asks until it is answered or skipped. A refused answer is explained, and the
 * question asked again. The question closes if another person answers it.
 */
export async function askOne(
  id: string,
  client: Pick<Client, 'call' | 'events'>,
  ask: Ask,
  io: Pick<Io, 'out' | 'env' | 'isTerminal'>,
): Promise<Asked> {
  const after = await readHeadSeq(client);
  const shown = await client.call('decision_show', { id });
  if (!shown.ok) {
    io.out(`${renderErrorLine({ code: shown.error.code, message: printable(shown.error.message) }, io)}\n`);
    return 'skipped';
  }
  io.out(renderDecision(shown.result, new Date(), { isAsked: true, columns: lookOf(io).columns }));
  if (shown.result.result !== null || shown.result.answer !== null) return 'settled';
  using watch = watchSettled(shown.result.id, after, client);
  for (;;) {
    const chosen = await choose(shown.result, async (question) => ask(question, watch.signal));
    if (watch.signal.aborted) {
      io.out(`\nDecision ${shortId(id)} is no longer open.\n`);
      return 'settled';
    }
    if (chosen === 'quit') return 'quit';
    if (chosen === 'skip') return 'skipped';
    const answer = await client.call('decision_resolve', { id, ...chosen });
    if (answer.ok) {
      io.out(describeResolved(answer.result));
      return 'answered';
    }
    const { code, message, hint } = answer.error;
    const line = renderErrorLine({ code, message: printable(message) }, io);
    io.out(`${line}\n${hint === '' || OBVIOUS.has(code) ? '' : `  hint: ${printable(hint)}\n`}`);
    if (SETTLED.has(code)) return 'settled';
    // These refusals depend on the typed text, or the daemon may recover. Any other refusal would repeat.
    if (!CORRECTABLE.has(code)) return 'skipped';
  }
}

/** Aborts when the decision is answered or withdrawn after the entry `after`. */
function watchSettled(
  id: string,
  after: number,
  client: Pick<Client, 'events'>,
): Disposable & { readonly signal: AbortSignal } {
  const settled = new AbortController();
  const over = new AbortController();
  const watch = async (): Promise<void> => {
    const isWanted = (json: string): boolean => json.includes(id);
    const entries = followEntries(client, { after, signal: over.signal, isWanted });
    for (let next = await entries.next(); next.done !== true; next = await entries.next()) {
      const { type, data } = next.value;
      if (SETTLEMENTS.has(type) && data['decision_id'] === id && !over.signal.aborted) settled.abort();
    }
  };
  void watch();
  return { signal: settled.signal, [Symbol.dispose]: () => over.abort() };
}

const SETTLEMENTS: ReadonlySet<string> = new Set(['DecisionAnswered', 'DecisionResolved', 'DecisionWithdrawn']);

const SETTLED: ReadonlySet<string> = new Set(['decision-resolved', 'decision-withdrawn', 'answer-pending']);

/** Not explained, because the prompt itself asks for what is missing. */
const OBVIOUS: ReadonlySet<string> = new Set(['no-note', 'no-agent-named', ...SETTLED]);

const CORRECTABLE: ReadonlySet<string> = new Set([
  'no-note',
  'no-agent-named',
  'wrong-role',
  'separation-of-duties',
  // The runbook lacks the named agent.
  'bad-request',
  'daemon-away',
  'no-answer',
]);

type Chosen = { readonly option: number; readonly message?: string; readonly agent?: string } | 'skip' | 'quit';

async function choose(
  { options, source }: DecisionView,
  ask: (question: string) => Promise<string | undefined>,
): Promise<Chosen> {
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
      const isNeeded = action !== undefined && needsNote(source, action);
      const question = isNeeded ? 'What must change: ' : 'Note for the next session (Enter for none): ';
      const message = agent === undefined ? undefined : await ask(question);
      if (message === undefined || agent === undefined) return 'quit';
      const named = agent.trim() === '' ? {} : { agent: agent.trim() };
      return { option, ...named, ...(message.trim() === '' ? {} : { message }) };
    }
  }
}
