import type { Draft } from '../../ledger/format/draft.ts';
import type { Entry } from '../../ledger/format/entry.ts';
import type { RecordedEvent, SettledRequest } from '../../state/event.ts';
import type { CommandRequest, CommandResult } from './request.ts';

/** A request whose answer is still owed. */
export interface PendingRequest {
  readonly request: CommandRequest<unknown>;
  readonly answer: (settled: CommandResult<unknown>) => void;
  timer?: NodeJS.Timeout;
  hasTimedOut?: boolean;
}

export interface DecidedRequest {
  readonly waiting: PendingRequest;
  readonly settled: CommandResult<unknown>;
  /** What it wants recorded, and what follows from that; the first of them is the `from`-th of the trial. */
  readonly drafts: readonly Draft[];
  readonly from: number;
}

/** Who has something recorded, and why. */
export interface EntryOrigin {
  readonly actor: string;
  readonly settles?: SettledRequest;
  readonly cause?: RecordedEvent;
}

/** The rules went wrong over what one request had decided. */
export class FailedReaction extends Error {
  readonly waiting: PendingRequest;

  constructor(waiting: PendingRequest, cause: unknown) {
    super('a reaction failed', { cause });
    this.waiting = waiting;
  }
}

/** A batch that was decided on the state that runs ahead, and is not durable yet. */
export interface Batch {
  readonly seqBefore: number;
  readonly at: string;
  readonly drafts: Draft[];
  readonly recorded: RecordedEvent[];
  readonly decided: DecidedRequest[];
}

/** The ledger keeps the data it was given, and makes its own only where it redacts something. */
export function isRecordedAsDecided(
  entries: readonly { readonly entry: Entry }[],
  { recorded, drafts }: Batch,
): boolean {
  return entries.every(({ entry }, i) => entry.seq === recorded[i]?.seq && entry.data === drafts[i]?.data);
}

/**
 * Those who waited go first: they are about to begin to work, while the others only want to know that they have been heard. The rest
 * follows when the answers of the first are on their way.
 */
export function answerAll(decided: readonly DecidedRequest[]): void {
  let waited = 0;
  for (const { waiting, settled } of decided) {
    if (waiting.timer === undefined) continue;
    waited += 1;
    waiting.answer(settled);
  }
  if (waited === decided.length) return;
  const answerRest = (): void => {
    for (const { waiting, settled } of decided) if (waiting.timer === undefined) waiting.answer(settled);
  };
  if (waited === 0) answerRest();
  else process.nextTick(answerRest);
}
