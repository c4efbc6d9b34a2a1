import { signal } from '@preact/signals';

/**
 * Notes that the user has begun to write, by decision. They are kept while the page is open, and comments on lines are
 * added to them.
 */
const drafts = signal<ReadonlyMap<string, string>>(new Map());

export function draftOf(decisionId: string): string {
  return drafts.value.get(decisionId) ?? '';
}

export function setDraft(decisionId: string, text: string): void {
  const next = new Map(drafts.peek());
  if (text === '') next.delete(decisionId);
  else next.set(decisionId, text);
  drafts.value = next;
}

export function addToDraft(decisionId: string, text: string): void {
  const before = (drafts.peek().get(decisionId) ?? '').trimEnd();
  setDraft(decisionId, before === '' ? text : `${before}\n\n${text}`);
}
