import { printable } from '../text.ts';
import { textIn } from '../run/read-fields.ts';
import type { DecisionView } from '../run/views.ts';
import { shortId } from '../run/views.ts';
import { renderAge } from '../status/ago.ts';

/** A decision with everything that is needed to take it; whoever is asked at once need not be told how. */
export function renderDecision(decision: DecisionView, now: Date, { isAsked = false } = {}): string {
  const { id, title, context, options, openedAt } = decision;
  const lines = [
    `${shortId(id)}  ${printable(title)}  (${[decision.source, renderAge(openedAt, now.getTime())].filter(Boolean).join(', ')})`,
    ...context.split('\n').map((line) => `  ${printable(line)}`.trimEnd()),
    ...aboutOf(decision),
    ...options.map(
      ({ label, recommended }, i) => `  ${i + 1}. ${printable(label)}${recommended ? ' (recommended)' : ''}`,
    ),
    isAsked ? '' : resultOf(decision),
  ];
  return `${lines.filter((line) => line !== '').join('\n')}\n`;
}

function aboutOf({ pipelineId, agentId, taskId }: DecisionView): string[] {
  const about = [
    pipelineId === null ? '' : `pipeline ${shortId(pipelineId)}`,
    agentId === null ? '' : `agent ${shortId(agentId)}`,
    taskId === null ? '' : `task ${printable(taskId)}`,
  ].filter((each) => each !== '');
  return about.length === 0 ? [] : [`  ${about.join(', ')}`];
}

function resultOf({ id, result }: DecisionView): string {
  if (result === null) return `Choose: baton decision resolve ${shortId(id)} N [-m TEXT]`;
  const { kind, option, action, by, at, message, reason } = result;
  if (kind === 'withdrawn') return `Withdrawn at ${textIn(at)}: ${printable(textIn(reason))}`;
  const why = textIn(message) === '' ? '' : `: ${printable(textIn(message))}`;
  return `Resolved with ${textIn(option)} (${textIn(action)}) by ${printable(textIn(by))} at ${textIn(at)}${why}`;
}

/** Open decisions, one line each. */
export function renderDecisions(decisions: readonly DecisionView[], now: Date): string {
  if (decisions.length === 0) return 'Nothing waits for you.\n';
  return decisions
    .map(({ id, title, context, openedAt, result }) => {
      const [first = ''] = context.split('\n');
      const settled = result === null ? renderAge(openedAt, now.getTime()) : textIn(result['kind']);
      return `${shortId(id)}  ${settled.padEnd(3)}  ${printable(title)}${first === '' ? '' : `: ${printable(first)}`}\n`;
    })
    .join('');
}
