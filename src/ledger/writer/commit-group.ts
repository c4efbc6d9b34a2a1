import { accepted, type Parsed, type Problem } from '../../protocol/shape/problem.ts';
import { linkDrafts, type LinkedEntry } from '../format/chain.ts';
import { signCheckpoint } from '../format/checkpoint.ts';
import { type Draft, type PreparedDraft, renderDraft, screenDraft } from '../format/draft.ts';
import type { Entry } from '../format/entry.ts';
import { DO_NOT_WRITE, LEDGER_LIMITS, ledgerProblem, refuse } from '../format/limits.ts';
import type { SnapshotSigner } from '../snapshots-and-blobs.ts';
import { type Commit, type Failure, type Head, type StoredEntry, StoreProblem, type Tile } from '../store.ts';
import type { WalkPosition } from '../verify/walk.ts';

/** The drafts of one caller: recorded consecutively in one commit, or not at all. */
export interface PendingAppend {
  readonly drafts: readonly PreparedDraft[];
  readonly bytes: number;
  /** The size of the ledger that the caller decided on; undefined if the drafts fit a ledger of any size. */
  readonly after: number | undefined;
  readonly answer: (recorded: AppendResult) => void;
}

/** Removes the callers of the next commit from the queue: always the first, then as many as fit. */
export function dequeueGroup(queue: PendingAppend[]): PendingAppend[] {
  let entries = 0;
  let bytes = 0;
  const end = queue.findIndex((waiting, i) => {
    entries += waiting.drafts.length;
    bytes += waiting.bytes;
    return i > 0 && (entries > LEDGER_LIMITS.entriesPerCommit || bytes > LEDGER_LIMITS.bytesPerCommit);
  });
  return queue.splice(0, end < 0 ? queue.length : end);
}

/** Removes the callers that decided on another size of the ledger than the drafts would follow. */
export function removeOutdated(group: PendingAppend[], size: number): PendingAppend[] {
  const outdated: PendingAppend[] = [];
  let place = size;
  for (const waiting of group) {
    if (waiting.after === undefined || waiting.after === place) place += waiting.drafts.length;
    else outdated.push(waiting);
  }
  if (outdated.length > 0) group.splice(0, group.length, ...group.filter((waiting) => !outdated.includes(waiting)));
  return outdated;
}

export interface BuiltCommit {
  readonly commit: Commit;
  readonly position: WalkPosition;
  readonly linked: readonly (readonly LinkedEntry[])[];
  readonly entries: readonly Entry[];
}

export function buildCommit(
  { sha256, project, signer }: SnapshotSigner,
  at: string,
  from: WalkPosition,
  callers: readonly (readonly PreparedDraft[])[],
): BuiltCommit {
  const frontier = from.frontier.copy();
  const tiles: Tile[] = [];
  const rows: StoredEntry[] = [];
  const entries: Entry[] = [];
  let { head, isNumbered } = from;
  const linked = callers.map((drafts) => {
    const own = linkDrafts(sha256, project, at, head, drafts, isNumbered);
    for (const { entry, stored } of own) {
      rows.push(stored);
      entries.push(entry);
    }
    const last = own.at(-1);
    if (last) {
      head = { size: last.stored.seq, hash: last.stored.hash };
      isNumbered = last.entry.v > 1;
    }
    return own;
  });
  for (const { hash } of rows) {
    const completed = frontier.add(hash);
    if (completed.length > 0) tiles.push(...completed);
  }
  if (!isSome(rows)) throw new Error('a commit has at least one entry');
  const { size } = head;
  const note = signCheckpoint(sha256, project, { size, root: frontier.root() }, from.head.size, signer);
  const commit = { after: from.head, entries: rows, tiles, checkpoint: { size, note } };
  return { commit, position: { head, frontier, isNumbered }, linked, entries };
}

function isSome<T>(items: readonly T[]): items is readonly [T, ...T[]] {
  return items.length > 0;
}

export interface AppendRequest extends Pick<PendingAppend, 'after' | 'answer'> {
  readonly drafts: readonly Draft[];
}

/**
 * Answers refused callers at once. Renders all texts before the first search, because interleaving takes a seventh
 * longer.
 */
export function prepareAppends(
  callers: readonly AppendRequest[],
  size: number,
  secrets: readonly string[],
): PendingAppend[] {
  const rendered = callers.map(({ drafts, ...caller }) => ({
    texts: readable(() => renderAll(drafts, size)),
    ...caller,
  }));
  const waiting: PendingAppend[] = [];
  for (const { texts, after, answer } of rendered) {
    const screened = texts.ok ? readable(() => screenAll(texts.value, secrets)) : texts;
    if (!screened.ok) answer({ ok: false, problem: screened.problems[0] });
    // The caller has emptied its list in the meantime.
    else if (screened.value.drafts.length === 0) answer({ ok: true, entries: [] });
    else waiting.push({ ...screened.value, after, answer });
  }
  return waiting;
}

interface DraftText {
  readonly draft: Draft;
  readonly text: string;
}

/** Data that contains code, such as a getter that throws, must fail only its own caller. */
function readable<T>(read: () => Parsed<T>): Parsed<T> {
  try {
    return read();
  } catch (error) {
    const what = error instanceof Error ? `: ${error.message}` : '';
    return refuse('ledger/bad-draft', `a draft cannot be read${what}`, 'Put plain JSON into it.');
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

export type AppendResult = { readonly ok: true; readonly entries: readonly LinkedEntry[] } | AppendRefusal;
/** `conflict`: the caller decided on another state of the ledger, which has caught up; the caller decides again. */
export type AppendRefusal = { readonly ok: false; readonly conflict: Head } | Failure;

export function ledgerClosed(): Problem {
  return ledgerProblem('ledger/closed', 'the ledger is closed', 'Open it again.');
}

export function headMissing(head: Head): Problem {
  return ledgerProblem(
    'ledger/rolled-back',
    `entry ${head.size}, which was recorded, is missing or different: the store was rolled back`,
    DO_NOT_WRITE,
  );
}

export function queueFull(): Problem {
  return ledgerProblem(
    'ledger/too-much',
    `more than ${LEDGER_LIMITS.draftsPerAppend} drafts in one call, or ${LEDGER_LIMITS.waitingCallers} callers waiting`,
    'Record in smaller groups, and wait for the responses.',
  );
}

export function appendUnavailable(error: unknown): Failure {
  if (error instanceof StoreProblem) return { ok: false, problem: error.problem };
  const what = error instanceof Error ? error.message : String(error);
  const hint = 'No data is lost: try again when the store is back.';
  return { ok: false, problem: ledgerProblem('ledger/unavailable', `the store does not answer: ${what}`, hint) };
}

export function unexpectedFailure(error: unknown): Problem {
  const what = error instanceof Error ? (error.stack ?? error.message) : String(error);
  return ledgerProblem('ledger/unexpected', `the ledger has stopped: ${what}`, 'This is a bug in Baton.');
}
