import type { Io, ParsedArguments } from '../command.ts';
import { mayAsk, withPrompt } from '../decisions/review.ts';
import { type AgentChoice, findChoice } from './agents.ts';
import type { Check } from './detect/project.ts';
import { askAgent, askCheck, type AskLine, checksFrom, offeredAgents } from './questions.ts';
import type { Found } from './report.ts';

export interface Answers {
  readonly agent: AgentChoice;
  readonly checks: readonly Check[];
}

/**
 * Asks at most two questions, each only at a terminal and if its option is absent. Undefined if the person cancelled.
 */
export async function chooseAnswers(found: Found, given: ParsedArguments, io: Io): Promise<Answers | undefined> {
  const isSilent = given.options.has('yes') || given.options.has('json') || !mayAsk(io);
  if (isSilent) return answer(found, given, io, undefined);
  return withPrompt(async (ask) => answer(found, given, io, async (question) => ask(question, NEVER)));
}

const NEVER = new AbortController().signal;

/** Without `ask`, returns the recommended answers. */
async function answer(
  { agents, project }: Found,
  { options }: ParsedArguments,
  io: Io,
  ask: AskLine | undefined,
): Promise<Answers | undefined> {
  const named = findChoice(options.get('agent') ?? '');
  const recommended = offeredAgents(agents)[0];
  const agent = named ?? (ask === undefined ? recommended : await askAgent(agents, ask, (text) => io.out(text)));
  if (agent === undefined) return undefined;
  const check = options.get('check');
  if (check !== undefined) return { agent, checks: checksFrom(check, project) };
  if (ask === undefined || project.checks.length > 0) return { agent, checks: project.checks };
  const typed = await askCheck(ask);
  return typed === undefined ? undefined : { agent, checks: checksFrom(typed, project) };
}
