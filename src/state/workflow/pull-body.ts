import { isHandoffOn, parseHandoff, type HandoffMessage } from '../../protocol/handoff/index.ts';
import { excerptStart } from '../runs/excerpt.ts';
import type { Task } from '../tasks/task.ts';

/** What stands between these is Baton's, and is kept up to date; what people write around it stays. */
export const PULL_MARKS = { begin: '<!-- baton -->', end: '<!-- /baton -->' } as const;

/** The pull request in words: what the newest handoff says, and where it comes from. */
export function renderPullBody(task: Pick<Task, 'id' | 'title' | 'flow'>): string {
  const parsed = task.flow.handoff === null ? undefined : parseHandoff(task.flow.handoff.xml);
  const said = parsed?.ok === true && parsed.value.kind === 'handoff' ? wordsOf(parsed.value) : [];
  const rounds = task.flow.rounds === 0 ? [] : [`Rounds of changes so far: ${task.flow.rounds}.`];
  const origin = `Opened by Baton for the task \`${task.id}\`. Everything that led here is in its ledger.`;
  return [PULL_MARKS.begin, ...fitToEntry(said), ...rounds, origin, PULL_MARKS.end].join('\n\n');
}

/** Puts the text into what is there: in the place of the one before, else after it. */
export function replaceMarkedPart(body: string, own: string): string {
  const from = body.indexOf(PULL_MARKS.begin);
  const to = body.indexOf(PULL_MARKS.end, from);
  if (from !== -1 && to !== -1) return `${body.slice(0, from)}${own}${body.slice(to + PULL_MARKS.end.length)}`;
  return body.trim() === '' ? own : `${body.trimEnd()}\n\n${own}`;
}

/** It is part of an entry, which has its limit. */
function fitToEntry(said: readonly string[]): readonly string[] {
  return said.length === 0 ? said : [excerptStart(said.join('\n\n'), 10_000)];
}

function wordsOf(handoff: HandoffMessage): string[] {
  if (isHandoffOn(handoff, 'implementer-agent', 'reviewer-agent')) {
    const { summary, files_changed, tests_added, coverage } = handoff;
    const claims = `Files changed: ${files_changed}. Tests added: ${tests_added}. Coverage: ${escapeAgentText(coverage)}. (As the implementer says.)`;
    return [escapeAgentText(summary), claims];
  }
  if (isHandoffOn(handoff, 'fixer-agent', 'reviewer-agent')) {
    const fixes = handoff.fixes_applied.map(
      ({ location, text }) => `- \`${escapeAgentText(location)}\`: ${escapeAgentText(text)}`,
    );
    return [['Mended in the last round:', ...fixes.slice(0, MOST_FIXES)].join('\n')];
  }
  return [];
}

const MOST_FIXES = 50;

/** Text of agents is text: it calls nobody by name, closes no issue, and ends no comment that is ours. */
function escapeAgentText(text: string): string {
  return excerptStart(text.toWellFormed(), 2000)
    .replaceAll('<!--', '<! --')
    .replaceAll(/(^|[^\w`])@(?=\w)/g, '$1@\u200B')
    .replaceAll(/(?<=\b(?:close[sd]?|fix(?:e[sd])?|resolve[sd]?)\b:?\s+\S*)#(?=\d)/gi, '#\u200B');
}
