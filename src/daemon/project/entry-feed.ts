import { renderEvent, renderPlainEvent } from '../../api/http/event-stream.ts';
import { toHex } from '../../ledger/format/bytes.ts';
import { type Entry, parseEntry, renderEntry } from '../../ledger/format/entry.ts';
import { leafHash } from '../../ledger/format/merkle.ts';
import { nodeSha256 } from '../../ledger/writer/keys.ts';
import type { Ledger } from '../../ledger/writer/ledger.ts';
import { SERVER_LIMITS } from '../limits.ts';

/** Each follower reads entries at its own speed: new ones from memory, older ones from the store. */
export class EntryFeed {
  readonly #ledger: () => Ledger | undefined;
  readonly #followers = new Set<() => void>();
  #atHand: StreamedText[] = [];

  constructor(ledger: () => Ledger | undefined) {
    this.#ledger = ledger;
  }

  add(entries: readonly Entry[]): void {
    if (this.#followers.size === 0) return;
    for (const entry of entries) this.#atHand.push({ seq: entry.seq, entry });
    if (this.#atHand.length > 2 * SERVER_LIMITS.entriesAtHand)
      this.#atHand = this.#atHand.slice(-SERVER_LIMITS.entriesAtHand);
    for (const wake of this.#followers) wake();
  }

  follow(wake: () => void): () => void {
    // Wrapped, so that the same function can follow twice and stop once.
    const own = (): void => wake();
    this.#followers.add(own);
    return () => {
      this.#followers.delete(own);
      if (this.#followers.size === 0) this.#atHand = [];
    };
  }

  async readAfter(seq: number, form: StreamForm = 'project'): Promise<{ readonly text: string; readonly seq: number }> {
    const [oldest] = this.#atHand;
    if (oldest !== undefined && oldest.seq <= seq + 1)
      return joinEntries(this.#atHand.slice(seq + 1 - oldest.seq), seq, form);
    const ledger = this.#ledger();
    if (ledger === undefined || ledger.head.size <= seq) return { text: '', seq };
    for await (const batch of ledger.store.entries({ from: seq + 1, to: ledger.head.size })) {
      return joinEntries(batch.map(streamedOf), seq, form);
    }
    return { text: '', seq };
  }
}

/**
 * The stream of one project has an event per type. The stream of all projects has one event, with the project and the
 * entry's hash.
 */
export type StreamForm = 'project' | 'page';

interface StreamedText {
  readonly seq: number;
  readonly entry: Entry;
  /** Rendered once for all followers, on first use. */
  project?: string;
  page?: string;
}

function joinEntries(entries: readonly StreamedText[], after: number, form: StreamForm): { text: string; seq: number } {
  let text = '';
  let seq = after;
  for (const each of entries) {
    if (text.length > SERVER_LIMITS.streamBytes) break;
    each[form] ??= RENDER[form](each.entry);
    text += each[form];
    seq = each.seq;
  }
  return { text, seq };
}

const RENDER: Readonly<Record<StreamForm, (entry: Entry) => string>> = {
  project: (entry) => renderEvent({ id: String(entry.seq), event: entry.type, data: renderEntry(entry) }),
  page: (entry) => {
    const text = renderEntry(entry);
    const hash = toHex(leafHash(nodeSha256, Buffer.from(text)));
    const data = `{"project":${JSON.stringify(entry.project)},"seq":${entry.seq},"entry":${text},"hash":"${hash}"}`;
    return renderPlainEvent('entry', data);
  },
};

function streamedOf({ seq, bytes }: { readonly seq: number; readonly bytes: Uint8Array }): StreamedText {
  const entry = parseEntry(bytes);
  if (!entry.ok) throw new Error(`entry ${seq} cannot be read: ${entry.problems[0].message}`);
  return { seq, entry: entry.value };
}
