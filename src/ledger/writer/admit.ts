import { accepted, refused, type Parsed } from '../../protocol/shape/problem.ts';
import { renderDraft, screenDraft, type Draft, type PreparedDraft } from '../format/draft.ts';
import type { PendingAppend } from './commit-group.ts';
import { ledgerProblem } from '../format/ledger-problem.ts';
import type { AppendResult } from './recorded.ts';

/** What one caller wants recorded, as it came. */
export interface AppendRequest {
  readonly drafts: readonly Draft[];
  readonly answer: (recorded: AppendResult) => void;
}

/**
 * Prepares what the callers of one moment ask for; whose drafts do not fit is told so at once. All texts are made before
 * the first is looked at for credentials: a hundred times the one and then a hundred times the other takes a seventh less
 * than in turns, since the processor has at hand what it needs.
 */
export function prepareAppends(
  callers: readonly AppendRequest[],
  size: number,
  secrets: readonly string[],
): PendingAppend[] {
  const rendered = callers.map(({ drafts, answer }) => ({ texts: readable(() => renderAll(drafts, size)), answer }));
  const waiting: PendingAppend[] = [];
  for (const { texts, answer } of rendered) {
    const screened = texts.ok ? readable(() => screenAll(texts.value, secrets)) : texts;
    if (!screened.ok) answer({ ok: false, problem: screened.problems[0] });
    // The caller has emptied its list since.
    else if (screened.value.drafts.length === 0) answer({ ok: true, entries: [] });
    else waiting.push({ ...screened.value, answer });
  }
  return waiting;
}

interface DraftText {
  readonly draft: Draft;
  readonly text: string;
}

/** Data that computes, a getter that throws say, is its caller's alone and must not end the others. */
function readable<T>(read: () => Parsed<T>): Parsed<T> {
  try {
    return read();
  } catch (error) {
    const what = error instanceof Error ? `: ${error.message}` : '';
    return refused(ledgerProblem('ledger/bad-draft', `a draft cannot be read${what}`, 'Put plain JSON into it.'));
  }
}

function renderAll(drafts: readonly Draft[], size: number): Parsed<readonly DraftText[]> {
  const texts: DraftText[] = [];
  for (const draft of drafts) {
    const text = renderDraft(draft, { position: texts.length, size });
    if (!text.ok) return text;
    texts.push({ draft, text: text.value });
  }
  return accepted(texts);
}

function screenAll(
  texts: readonly DraftText[],
  secrets: readonly string[],
): Parsed<Pick<PendingAppend, 'drafts' | 'bytes'>> {
  const drafts: PreparedDraft[] = [];
  let bytes = 0;
  for (const { draft, text } of texts) {
    const screened = screenDraft(draft, text, secrets);
    if (!screened.ok) return screened;
    drafts.push(screened.value);
    bytes += screened.value.bytes;
  }
  return accepted({ drafts, bytes });
}
