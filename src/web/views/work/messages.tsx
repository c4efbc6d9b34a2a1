import { useMemo } from 'preact/hooks';
import { hrefTo } from '../../app/router.ts';
import { Actor } from './actor.tsx';
import { Empty } from '../../kit/loading.tsx';
import { Age } from '../../kit/time.tsx';
import { Words } from '../../kit/words.tsx';
import type { RunRef } from '../../model/run/steering.ts';
import { listMessages, MESSAGE_TYPES, type Message } from '../../model/run/messages.ts';
import { EntriesNote, useRunEntries } from './run-entries.tsx';

const SIGN: Readonly<Record<Message['kind'], string>> = {
  handoff: 'handoff',
  record: 'record',
  message: 'message',
  question: 'question',
  answer: 'answer',
  report: 'report',
  intervention: 'by a person',
};

/** The handoffs, records, messages and decisions of a run, oldest first, as quoted text. */
export function Messages({ run }: { readonly run: RunRef }) {
  const read = useRunEntries(run, MESSAGE_TYPES);
  const messages = useMemo(() => listMessages(read.entries), [read.entries]);
  return (
    <>
      <EntriesNote read={read} what="the messages" />
      {read.isLoaded && messages.length === 0 ? <Empty>There are no messages yet.</Empty> : null}
      <ol class="messages" aria-label="Messages">
        {messages.map((message) => (
          <Item key={message.seq} message={message} />
        ))}
      </ol>
    </>
  );
}

function Item({ message: { seq, at, author, kind, title, text, decisionId } }: { readonly message: Message }) {
  return (
    <li class={`message ${kind}`} data-seq={seq}>
      <p class="bar">
        <span class="sign">{SIGN[kind]}</span>
        <strong>
          {decisionId === undefined ? (
            <Words text={title} most={300} />
          ) : (
            <a href={hrefTo({ view: 'inbox', id: decisionId })}>
              <Words text={title} most={300} />
            </a>
          )}
        </strong>
        <span class="dim">
          <Actor actor={author} /> · <Age at={at} suffix=" ago" /> ·{' '}
          <a href={hrefTo({ view: 'ledger', id: String(seq) })}>#{seq}</a>
        </span>
      </p>
      {text === '' ? null : (
        <blockquote>
          <Words text={text} most={8000} />
        </blockquote>
      )}
    </li>
  );
}
