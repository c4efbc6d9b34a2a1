import type { EvidenceBundle } from '../../protocol/evidence.ts';
import { event, type EventOf } from '../event.ts';
import { excerptStart } from '../runs/excerpt.ts';
import type { Claim, Task } from './task.ts';

/** The bundle that an exit signal names. Its checked bytes are stored as `blob` before the session's end is decided. */
export interface SessionEvidence {
  readonly ref: string;
  readonly blob: string;
  readonly bundle: EvidenceBundle;
}

/** The parts of a bundle that the next reader needs. They are cut to fit into an entry; the blob has everything. */
export function evidenceRecordedEvent(
  { id: task_id }: Task,
  { epoch, sessionId: session_id }: Claim,
  evidence: SessionEvidence,
): EventOf<'EvidenceRecorded'> {
  const { ref, blob, bundle } = evidence;
  const commands = cutList(bundle.commands, ({ run, exit_code }) => ({ run: cutText(run), exit_code }));
  const decisions = cutList(bundle.decisions ?? [], cutText);
  const failed_approaches = cutList(bundle.failed_approaches ?? [], cutText);
  const left_out = commands.leftOut + decisions.leftOut + failed_approaches.leftOut;
  return event('EvidenceRecorded', {
    task_id,
    epoch,
    session_id,
    ref,
    blob,
    head_sha: bundle.head_sha,
    commands: commands.kept,
    decisions: decisions.kept,
    failed_approaches: failed_approaches.kept,
    next_step: cutText(bundle.next_step),
    ...(left_out === 0 ? {} : { left_out }),
  });
}

/**
 * Three lists and one text of these sizes, with ids and reference, stay below the 65,535 bytes of an entry, whatever
 * characters they contain.
 */
const LIST_BYTES = 16_000;
const TEXT_CHARACTERS = 1_000;

/** A text that is cut ends in `…`. */
function cutText(text: string): string {
  return excerptStart(text, TEXT_CHARACTERS);
}

/** The first items, as many as fit. */
function cutList<T, C>(
  items: readonly T[],
  cut: (item: T) => C,
): { readonly kept: readonly C[]; readonly leftOut: number } {
  const kept: C[] = [];
  let bytes = 0;
  for (const item of items) {
    const short = cut(item);
    bytes += encoder.encode(JSON.stringify(short)).length + 1;
    if (bytes > LIST_BYTES) break;
    kept.push(short);
  }
  return { kept, leftOut: items.length - kept.length };
}

const encoder = new TextEncoder();
