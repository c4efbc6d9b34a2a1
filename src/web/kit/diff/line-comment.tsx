import { signal } from '@preact/signals';
import { useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks';
import type { Answer } from '../../../api/answer.ts';
import { call } from '../../app/hub-client.ts';
import { type PatchLine, renderLineComment } from '../../model/patch.ts';
import type { CommentTargets, Reader } from '../../model/sessions.ts';
import { Action } from '../action.tsx';
import { CopyText } from '../copy-text.tsx';
import { addToDraft } from '../draft-notes.ts';
import { renderTime } from '../time.tsx';
import { visible } from '../visible.ts';
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
            <Words text={to} most={80} /> at {renderTime(at)}
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
  readonly targets: CommentTargets;
  readonly close: () => void;
}

/** The field under a line. Control and Enter sends, Escape closes. */
export function CommentField({ line, place, targets: { agent, decisionId }, close }: CommentFieldProps) {
  const [text, setText] = useState('');
  const field = useRef<HTMLTextAreaElement>(null);
  const form = useRef<HTMLDivElement>(null);
  // Before the next key arrives.
  useLayoutEffect(() => field.current?.focus(), []);
  // A second try of the same comment happens once.
  const key = useMemo(() => crypto.randomUUID(), [text]);
  const full = renderLineComment(place.path, line, text);
  const isEmpty = text.trim() === '';
  const finish = (to: string): void => {
    sent.value = [...sent.peek(), { place: placeOf(place, line), text: text.trim(), to, at: Date.now() }];
    close();
  };
  const send = async ({ agentId, name }: Reader): Promise<Answer> => {
    const answer = await call('agent_send', { id: agentId, text: full }, { key });
    if (answer.ok) finish(`sent to ${name}`);
    return answer;
  };
  const keep = (id: string): void => {
    addToDraft(id, full);
    finish('added to the note of your answer');
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
  // A message would resume an agent that waits for an answer, so the answer comes first.
  const isAnswerFirst = decisionId !== undefined && (agent === undefined || agent.isParked);
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
      <p class="dim">
        {agent === undefined ? NOBODY[decisionId === undefined ? 'none' : 'decision'] : whoReads(agent)}
      </p>
      <div class="bar">
        {decisionId === undefined ? null : (
          <button
            type="button"
            class={isAnswerFirst ? 'primary' : ''}
            disabled={isEmpty}
            onClick={() => keep(decisionId)}
          >
            Add to my answer
          </button>
        )}
        {agent === undefined ? null : (
          <Action
            label="Send to the agent"
            done={`Sent to ${agent.name}`}
            {...(isAnswerFirst ? {} : { tone: 'primary' as const })}
            disabled={isEmpty}
            act={async () => send(agent)}
          />
        )}
        {agent === undefined && decisionId === undefined ? (
          <CopyText label="Copy as a note" text={full} disabled={isEmpty} />
        ) : null}
        <button type="button" onClick={close}>
          Cancel
        </button>
      </div>
    </div>
  );
}

const NOBODY = {
  decision:
    'No agent works on this task now. The comment becomes a part of the note with which you answer the open decision.',
  none: 'No agent works on this task now, so nobody would read a message. Copy the comment as a note for the next answer or task.',
} as const;

function whoReads({ name, isParked }: Reader): string {
  return isParked
    ? `${visible(name, 60)} waits for a decision: a message answers that, and it resumes.`
    : `${visible(name, 60)} reads a message in its conversation.`;
}
