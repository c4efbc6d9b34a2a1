import type { ResultOf } from '../../api/operations/registry.ts';
import type { DecisionDetails } from '../../api/decision-evidence.ts';
import type { DecisionView } from '../../api/run-views.ts';
import { operationCommand, pickOptions, wholeOption } from '../operation-command.ts';
import { durationOption } from '../operation-input.ts';
import { columnsOf, lookOf, renderAge } from '../status/paint.ts';
import { hangTo, renderTable } from '../table.ts';
import { oneLine, printable, shortId } from '../text.ts';
import { renderEvidence } from './evidence.ts';
import { describeAnswer, describeEffect } from './pending-answer.ts';

export const decisionArgument = { name: 'ID', about: 'The decision, or the beginning of its id' } as const;

export const decisionListCommand = operationCommand({
  examples: ['baton decision list', 'baton decision list --all'],
  options: [{ name: 'all', short: 'a', about: 'Include closed decisions' }],
  operation: 'decision_list',
  input: ({ options }) => ({ value: options.has('all') ? { all: true } : {} }),
  show: ({ decisions }, { options }, io) =>
    decisions.length === 0 && options.has('all')
      ? 'No decisions.\n'
      : renderDecisions(decisions, new Date(), columnsOf(io)),
});

export const decisionShowCommand = operationCommand({
  examples: ['baton decision show 9b2d4c10'],
  args: [decisionArgument],
  operation: 'decision_show',
  input: ({ args: [id] }) => ({ value: { id } }),
  show: (decision, _given, io) => renderDecision(decision, new Date(), { columns: lookOf(io).columns }),
});

export const decisionResolveCommand = operationCommand({
  examples: ['baton decision resolve 9b2d4c10 1', 'baton decision resolve 9b2d4c10 1 -m "Use the staging database"'],
  args: [decisionArgument, { name: 'N', about: 'The number of the option' }],
  options: [
    { name: 'message', short: 'm', value: 'TEXT', about: 'A note; the next session on the work reads it' },
    { name: 'agent', value: 'NAME', about: 'The agent that gets the work, for an option that hands it over' },
    {
      name: 'delay',
      value: 'TIME',
      about: 'Apply the answer after this time, at most 60 seconds; until then you can undo it',
    },
  ],
  operation: 'decision_resolve',
  input: (given) => {
    const [id, n = ''] = given.args;
    if (!/^[1-9]\d{0,3}$/.test(n)) return { usage: `N must be the number of an option, not ${n}` };
    const delay = durationOption(given, 'delay');
    if ('usage' in delay) return delay;
    if (delay.ms !== undefined && delay.ms > MOST_DELAY_MS)
      return { usage: `--delay is at most 60 seconds, not ${given.options.get('delay')}` };
    const later = delay.ms === undefined ? {} : { delay_ms: delay.ms };
    return {
      value: { id, option: Number(n), ...pickOptions(given, { message: 'message', agent: 'agent' }), ...later },
    };
  },
  show: describeResolved,
});

const MOST_DELAY_MS = 60_000;

export const decisionUndoCommand = operationCommand({
  examples: ['baton decision undo 9b2d4c10', 'baton decision undo 9b2d4c10 --answer 217'],
  args: [decisionArgument],
  options: [
    { name: 'answer', value: 'N', about: 'The number of the answer, as a refusal names it; default: your own' },
  ],
  operation: 'decision_undo',
  input: (given) => {
    const answer = wholeOption(given, 'answer', { from: 1 });
    if ('usage' in answer) return answer;
    return { value: { id: given.args[0], ...(answer.value === undefined ? {} : { answer: answer.value }) } };
  },
  show: ({ id, action }) =>
    `Decision ${shortId(id)}: the answer ${printable(action)} is withdrawn; the decision waits for a person again.\n`,
});

export function describeResolved({ id, action, next, effective_at }: ResultOf<'decision_resolve'>): string {
  const effect = effective_at === null ? '' : `, ${describeEffect(effective_at, Date.now())}`;
  const undo = effective_at === null ? '' : `Undo: baton decision undo ${shortId(id)}\n`;
  const told = `Decision ${shortId(id)}: ${printable(action)}${effect}.\n${undo}`;
  return next === null ? told : `${told}Begin: ${printable(next)}\n`;
}

/**
 * Renders a decision. `isAsked` omits the command that answers it, for a prompt that follows. Texts of agents and
 * people are indented deeper than headings and options, even after a line break, so that they cannot imitate them.
 */
export function renderDecision(
  decision: DecisionDetails,
  now: Date,
  { isAsked = false, columns = Infinity }: { readonly isAsked?: boolean; readonly columns?: number } = {},
): string {
  const { id, title, context, options, opened_at, evidence } = decision;
  const [question = '', ...details] = context.split('\n').filter((line) => line.trim() !== '');
  const lines = [
    `${shortId(id)}  ${printable(title)}  (${[decision.source, renderAge(opened_at, now.getTime())].filter(Boolean).join(', ')})`,
    `  ${printable(question)}`.trimEnd(),
    ...details.map((line) => `    ${printable(line)}`.trimEnd()),
    ...aboutOf(decision),
    ...(decision.result === null ? renderEvidence(evidence, context) : []),
    ...options.map(
      ({ label, action, recommended }, i) =>
        `  ${i + 1}. ${printable(label)}${describeNeed(decision.source, action, isAsked)}${recommended ? ' (recommended)' : ''}`,
    ),
    ...lapsedLines(decision),
    isAsked && decision.answer === null ? '' : resultOf(decision, now),
  ];
  const shown = lines.filter((line) => line !== '').flatMap((line) => line.split('\n'));
  return `${shown.flatMap((line) => hangTo(line, columns)).join('\n')}\n`;
}

/** Describes what an option needs besides its number. */
function describeNeed(source: string, action: string, isAsked: boolean): string {
  if (needsNote(source, action)) return isAsked ? ' (needs a note)' : ' (needs -m TEXT)';
  return action === 'hand_over' && !isAsked ? ' (needs --agent NAME)' : '';
}

/** A merge that is sent back gets a finding from Baton, so it needs no note. */
export function needsNote(source: string, action: string): boolean {
  return action === 'send_back' && source !== 'merge';
}

function aboutOf({ pipeline_id, agent_id, task_id }: DecisionView): string[] {
  const about = [
    pipeline_id === null ? '' : `pipeline ${shortId(pipeline_id)}`,
    agent_id === null ? '' : `agent ${shortId(agent_id)}`,
    task_id === null ? '' : `task ${printable(task_id)}`,
  ].filter((each) => each !== '');
  return about.length === 0 ? [] : [`  ${about.join(', ')}`];
}

/** Describes an answer that did not take effect. */
function lapsedLines({ lapsed }: DecisionView): string[] {
  if (lapsed === null) return [];
  const { option, label, by, at, reason } = lapsed;
  return [
    `The answer ${option} (${printable(label)}) of ${printable(by)} lapsed at ${at}: ${printable(oneLine(reason))}`,
  ];
}

function resultOf({ id, result, answer }: DecisionView, now: Date): string {
  if (answer !== null) {
    const given = printable(oneLine(describeAnswer(answer, now.getTime())));
    return `Answered ${given}\nUndo: baton decision undo ${shortId(id)}`;
  }
  if (result === null) return `Choose: baton decision resolve ${shortId(id)} N [-m TEXT]`;
  const { kind, option, action, by = '', at, message, reason = '' } = result;
  if (kind === 'withdrawn') return `Withdrawn at ${at}: ${printable(reason)}`;
  return `Resolved with ${option} (${action}) by ${printable(by)} at ${at}${message ? `: ${printable(message)}` : ''}`;
}

export function renderDecisions(decisions: readonly DecisionView[], now: Date, columns = Infinity): string {
  if (decisions.length === 0) return 'No open decisions.\n';
  const rows = decisions.map(({ id, title, context, opened_at, answer, result }) => {
    const [first = ''] = context.split('\n');
    const pending = answer === null ? '' : ` (answered ${oneLine(describeAnswer(answer, now.getTime()))})`;
    return [
      shortId(id),
      result === null ? renderAge(opened_at, now.getTime()) : result.kind,
      `${title}${first === '' ? '' : `: ${first}`}${pending}`,
    ];
  });
  return renderTable([['ID', 'OPEN', 'DECISION'], ...rows], columns);
}
