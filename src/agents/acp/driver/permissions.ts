import {
  type PermissionOption,
  type PermissionOutcome,
  readDiffs,
  readOptions,
  TOOL_NAMES,
} from '../../../acp/messages.ts';
import { type Fields, fieldsOf, objectsOf, textOf } from '../../../protocol/shape/read-unknown.ts';
import type { PrintLine } from './print.ts';
import { shortenUpdate } from './updates.ts';
import type { DriverSettings } from './settings.ts';
import type { SupervisorHooks } from './supervisor-hooks.ts';

export interface PermissionContext {
  readonly settings: Pick<DriverSettings, 'permissions'>;
  readonly hooks: Pick<SupervisorHooks, 'call'>;
  readonly questions: QuestionQueue;
  /** Aborts when the turn ends. */
  readonly turn: AbortSignal;
  readonly print: PrintLine;
  /** Ends the turn, because a budget is exhausted or the agent has no owner. */
  readonly onHeld: () => void;
  /** Passes on a person's note to a denial. ACP has no field for it in the answer. */
  readonly onNote: (text: string) => void;
}

/**
 * Answers `session/request_permission`: waits while a budget holds the tool, then allows it or asks the supervisor,
 * which runs `on_prompt`. `withdrawn` aborts if the agent cancels the request.
 */
export async function answerPermission(
  params: Fields,
  { settings, hooks, questions, turn, print, onHeld, onNote }: PermissionContext,
  withdrawn: AbortSignal,
): Promise<{ readonly outcome: PermissionOutcome }> {
  const signal = AbortSignal.any([withdrawn, turn]);
  const options = readOptions(params['options']);
  const call = fieldsOf(params['toolCall']);
  const name = TOOL_NAMES.get(textOf(call['kind'])) ?? (textOf(call['title']) || 'a tool');
  const tool = name.slice(0, MAX_CHARACTERS);
  const input = describeInput(call);
  const about = { tool, what: JSON.stringify(input).slice(0, MAX_CHARACTERS) };
  const before = await hooks.call('pre-tool-use', { tool_name: tool }, signal);
  if (signal.aborted) return { outcome: CANCELLED };
  if (before === undefined || before['continue'] === false) {
    onHeld();
    return { outcome: choose(options, 'reject') };
  }
  if (settings.permissions === 'allow') {
    print({ type: 'permission', ...about, outcome: 'allowed' });
    return { outcome: choose(options, 'allow') };
  }
  const asked = questions.ask(async () => {
    if (signal.aborted) return undefined;
    print({ type: 'permission', ...about, outcome: 'asked' });
    return hooks.call('permission-request', { tool_name: tool, tool_input: input }, turn);
  });
  const answer = await Promise.race([asked, aborted(signal)]);
  if (signal.aborted) return { outcome: CANCELLED };
  if (answer?.['continue'] === false) onHeld();
  const { behavior, message } = fieldsOf(fieldsOf(answer?.['hookSpecificOutput'])['decision']);
  const isAllowed = behavior === 'allow';
  print({ type: 'permission', ...about, outcome: isAllowed ? 'allowed' : 'denied' });
  if (!isAllowed && textOf(message).trim() !== '') onNote(textOf(message));
  return { outcome: choose(options, isAllowed ? 'allow' : 'reject') };
}

/**
 * Asks one question at a time. The supervisor's answer applies to all questions that wait there, but the person saw
 * only the first. If the agent withdraws a question, it stays open for the person, so the next one waits for its answer
 * too.
 */
export class QuestionQueue {
  #last: Promise<unknown> = Promise.resolve();

  async ask(question: () => Promise<Fields | undefined>): Promise<Fields | undefined> {
    const answer = this.#last.then(question);
    this.#last = answer.catch(() => {});
    return answer;
  }
}

async function aborted(signal: AbortSignal): Promise<undefined> {
  return new Promise((resolve) => {
    signal.addEventListener('abort', () => resolve(undefined), { once: true });
  });
}

const MAX_CHARACTERS = 2000;
const CANCELLED = { outcome: 'cancelled' } as const;

/** Prefers the option for this call only, so that Baton decides about the next request again. */
function choose(options: readonly PermissionOption[], wanted: 'allow' | 'reject'): PermissionOutcome {
  const found =
    options.find(({ kind }) => kind === `${wanted}_once`) ?? options.find(({ kind }) => kind === `${wanted}_always`);
  return found === undefined ? CANCELLED : { outcome: 'selected', optionId: found.optionId };
}

/** What a person sees: the input with the files, or the agent's description if there is none. Long texts are cut. */
function describeInput(call: Fields): Fields {
  const raw =
    Object.keys(fieldsOf(call['rawInput'])).length > 0 ? fieldsOf(call['rawInput']) : { title: call['title'] };
  const locations = objectsOf(call['locations']).map(({ path }) => textOf(path));
  const changed = readDiffs(call['content']).map(({ path }) => path);
  const paths = [...new Set([...changed, ...locations])].filter(Boolean);
  return shortenUpdate({ ...raw, ...(paths.length === 0 ? {} : { paths }) });
}
