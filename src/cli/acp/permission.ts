import type { PermissionOption, ToolCallParts, ToolContent } from '../../acp/messages.ts';
import type { DecisionDetails } from '../../api/decision-evidence.ts';
import type { DecisionView } from '../../api/run-views.ts';
import { needsNote } from '../decisions/decisions.ts';
import { renderEvidence } from '../decisions/evidence.ts';
import { fencedText, messageLine } from './plain-text.ts';

type Option = DecisionView['options'][number];

/** The decision's own options, with the numbers and texts of the terminal. */
export function permissionOptions({ source, options }: Pick<DecisionView, 'source' | 'options'>): PermissionOption[] {
  return options.map((option) => ({
    optionId: String(option.n),
    name: messageLine(
      `${option.n}. ${option.label}${describeNeed(source, option)}${option.recommended ? ' (recommended)' : ''}`,
    ),
    kind: REFUSING.has(option.action) ? 'reject_once' : 'allow_once',
  }));
}

/** Actions that hold the work back or end it. */
const REFUSING: ReadonlySet<string> = new Set(['deny', 'cancel', 'send_back', 'skip', 'dismiss']);

export type Missing = 'note' | 'agent';

/**
 * Returns what the daemon would refuse the answer for. An editor has only buttons, so the next prompt must supply it.
 */
export function findMissing(source: string, { action }: Pick<Option, 'action'>): Missing | undefined {
  if (needsNote(source, action)) return 'note';
  return action === 'hand_over' ? 'agent' : undefined;
}

function describeNeed(source: string, option: Option): string {
  const missing = findMissing(source, option);
  if (missing === undefined) return '';
  return missing === 'note' ? ' (needs a note)' : ' (needs the name of an agent)';
}

/** Renders the question as a tool call: its subject, the evidence and the change. */
export function decisionCall(
  decision: DecisionDetails,
  diffs: readonly ToolContent[],
): ToolCallParts & { title: string } {
  const { id, title, context, evidence } = decision;
  // Drops the last line, a heading for the options, which the editor shows as buttons.
  const text = [context, ...renderEvidence(evidence, context).slice(0, -1)].join('\n');
  return {
    toolCallId: decisionCallId(id),
    title: messageLine(title),
    kind: 'other',
    status: 'pending',
    content: [fencedText(text), ...diffs],
  };
}

export function decisionCallId(id: string): string {
  return `decision/${id}`;
}

/** Describes how the decision was settled, for the title of its tool call. */
export function describeSettled({ title, answer, result, options }: DecisionView): string {
  const settled = answer ?? result;
  if (settled === null) return messageLine(title);
  if ('kind' in settled && settled.kind === 'withdrawn') return messageLine(`${title}: withdrawn`);
  const label = options.find(({ n }) => n === settled.option)?.label ?? settled.action ?? '';
  return messageLine(`${title}: ${label} (${settled.by ?? 'unknown'})`);
}
