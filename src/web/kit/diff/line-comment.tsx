import { signal } from '@preact/signals';
import { useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks';
import type { Answer } from '../../../api/answer.ts';
import { call } from '../../app/hub-client.ts';
import { type PatchLine, renderLineComment } from '../../model/patch.ts';
import type { Reader } from '../../model/sessions.ts';
import { Action } from '../action.tsx';
import { CopyText } from '../copy-text.tsx';
import { renderTime } from '../time.tsx';
import { Words } from '../words.tsx';
import type { PatchPlace } from './use-patch.ts';

interface Sent {
  readonly place: string;
  readonly text: string;
  readonly to: string;
  readonly at: number;
}

/** What was sent from this tab. The ledger has all of it, as messages to agents. */
const sent = signal<readonly Sent[]>([]);

export function nameLine({ kind, old, new: now }: PatchLine): string {
  return kind === 'removed' ? `removed line ${old}` : kind === 'added' ? `added line ${now}` : `line ${now}`;
}

/** A comment stays with its line when the change goes on, as long as the line stays the same. */
function placeOf({ taskId, path }: PatchPlace, { kind, text, old, new: now }: PatchLine): string {
  return JSON.stringify([taskId, path, kind === 'removed' ? -(old ?? 0) : now, text]);
}

export function sentOn(place: PatchPlace, line: PatchLine): readonly Sent[] {
  if (sent.value.length === 0) return sent.value;
  const name = placeOf(place, line);
  return sent.value.filter((each) => each.place === name);
}

export function SentComments({ sent: comments }: { readonly sent: readonly Sent[] }) {
  return (
    <>
      {comments.map(({ text, to, at }) => (
        <p key={at} class="sent">
          <span class="dim number">
            sent to <Words text={to} most={60} /> at {renderTime(at)}
          </span>
          <Words text={text} />
        </p>
      ))}
    </>
  );
}

interface CommentFieldProps {
  readonly line: PatchLine;
  readonly place: PatchPlace;
  readonly reader: Reader | undefined;
  readonly close: () => void;
}

/** The field under a line. Control and Enter sends, Escape closes. */
export function CommentField({ line, place, reader, close }: CommentFieldProps) {
  const [text, setText] = useState('');
  const field = useRef<HTMLTextAreaElement>(null);
  const form = useRef<HTMLDivElement>(null);
  // Before the next key arrives.
  useLayoutEffect(() => field.current?.focus(), []);
  // A second try of the same comment happens once.
  const key = useMemo(() => crypto.randomUUID(), [text]);
  const full = renderLineComment(place.path, line, text);
  const send = async (to: Reader): Promise<Answer> => {
    const answer = await call('agent_send', { id: to.agentId, text: full }, { key });
    if (answer.ok) {
      sent.value = [...sent.peek(), { place: placeOf(place, line), text: text.trim(), to: to.name, at: Date.now() }];
      close();
    }
    return answer;
  };
  const press = (event: KeyboardEvent): void => {
    if (event.key === 'Escape') {
      event.stopPropagation();
      close();
    }
    if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) {
      const button = form.current?.querySelector('button.primary');
      if (button instanceof HTMLElement) button.click();
    }
  };
  const label = `Comment on ${nameLine(line)}`;
  return (
    <div class="comment" ref={form} onKeyDown={press}>
      <textarea
        ref={field}
        rows={3}
        aria-label={label}
        placeholder={label}
        value={text}
        onInput={({ currentTarget }) => setText(currentTarget.value)}
      />
      {reader === undefined ? <p class="dim">{NOBODY}</p> : <WhoReads reader={reader} />}
      <div class="bar">
        {reader === undefined ? (
          <CopyText label="Copy as a note" text={full} disabled={text.trim() === ''} />
        ) : (
          <Action
            label="Send to the agent"
            done={`Sent to ${reader.name}`}
            tone="primary"
            disabled={text.trim() === ''}
            act={async () => send(reader)}
          />
        )}
        <button type="button" onClick={close}>
          Cancel
        </button>
      </div>
    </div>
  );
}

const NOBODY =
  'No agent works on this task now, so nobody would read a message. Copy the comment, and give it as the note of your answer when you send the work back.';

function WhoReads({ reader: { name, isParked } }: { readonly reader: Reader }) {
  return (
    <p class="dim">
      <Words text={name} most={60} /> reads it
      {isParked ? '. It waits for a decision: the message answers that, and it resumes.' : ' in its conversation.'}
    </p>
  );
}
