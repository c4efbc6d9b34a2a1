import { signal } from '@preact/signals';
import { useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks';
import { shellWord } from '../../../protocol/text/quote-for-shell.ts';
import { call } from '../../app/hub-client.ts';
import { type PatchLine, renderLineComment, renderPlacedComment } from '../../model/patch.ts';
import type { CommentTargets, Reader } from '../../model/sessions.ts';
import { Action, CopyCommand } from '../action.tsx';
import { CopyText } from '../copy-text.tsx';
import { addToDraft } from '../draft-notes.ts';
import { renderTime } from '../time.tsx';
import { visible } from '../visible.ts';
import { Words } from '../words.tsx';
import type { PatchPlace } from './use-patch.ts';

interface Sent {
  readonly place: string;
  readonly text: string;
  /** The action that was taken with the comment. */
  readonly what: string;
  readonly at: number;
}

/** Comments sent from this tab. The ledger has all of them, as messages to agents. */
const sent = signal<readonly Sent[]>([]);

export function nameLine({ kind, old, new: now }: PatchLine): string {
  return kind === 'removed' ? `removed line ${old}` : kind === 'added' ? `added line ${now}` : `line ${now}`;
}

/** The place of a comment. A comment stays with its line in later changes, as long as the line is unchanged. */
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
      {comments.map(({ text, what, at }) => (
        <p key={at} class="sent">
          <span class="dim number">
            {what} at {renderTime(at)}
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

/** The comment field below a line. Control and Enter sends, Escape closes. */
export function CommentField({ line, place, targets, close }: CommentFieldProps) {
  const [text, setText] = useState('');
  const field = useRef<HTMLTextAreaElement>(null);
  const form = useRef<HTMLDivElement>(null);
  // A layout effect, so that the field has the focus before the next key arrives.
  useLayoutEffect(() => field.current?.focus(), []);
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
  const finish = (what: string): void => {
    sent.value = [...sent.peek(), { place: placeOf(place, line), text: text.trim(), what, at: Date.now() }];
    close();
  };
  const label = `Comment on ${nameLine(line)}`;
  const full = renderPlacedComment(place.path, line, text);
  const isEmpty = text.trim() === '';
  const way = wayOf(targets);
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
      <p class="dim">{describeWay(way, targets)}</p>
      <div class="bar">
        {way === 'note' ? (
          <SendNote line={line} place={place} text={text} agent={targets.agent} finish={finish} />
        ) : way === 'copy' ? (
          <CopyText label="Copy as a note" text={full} disabled={isEmpty} />
        ) : (
          <button
            type="button"
            class="primary"
            disabled={isEmpty}
            onClick={() => {
              addToDraft(way.decisionId, full);
              finish('added to the note of your answer');
            }}
          >
            Add to my answer
          </button>
        )}
        <button type="button" onClick={close}>
          Cancel
        </button>
      </div>
    </div>
  );
}

type Way = 'note' | 'copy' | { readonly decisionId: string };

/**
 * While a decision is open, comments are added to its answer, because an agent that waits for the answer would not read
 * a note.
 */
function wayOf({ agent, decisionId, isOver }: CommentTargets): Way {
  if (decisionId !== undefined && (agent === undefined || agent.isParked)) return { decisionId };
  return agent === undefined && isOver ? 'copy' : 'note';
}

function describeWay(way: Way, { agent }: CommentTargets): string {
  if (way === 'copy') return 'The task is over, so no agent would read a note. Copy the comment for a new task.';
  if (way !== 'note')
    return 'A decision about this task is open: the comment becomes a part of the note of your answer.';
  return agent === undefined
    ? 'No agent works on this task now. The next session on it reads the note.'
    : `${visible(agent.name, 60)} reads it in its conversation.`;
}

interface SendNoteProps {
  readonly line: PatchLine;
  readonly place: PatchPlace;
  readonly text: string;
  readonly agent: Reader | undefined;
  readonly finish: (what: string) => void;
}

function SendNote({ line, place, text, agent, finish }: SendNoteProps) {
  // Repeating the same comment has no second effect.
  const key = useMemo(() => crypto.randomUUID(), [text]);
  const { taskId, path, base, head } = place;
  const at = line.new ?? line.old ?? 1;
  const note = { path, line: at, head: line.new === null ? base : head, text: renderLineComment(line, text) };
  const label = agent === undefined ? 'Leave for the next session' : 'Send to the agent';
  return (
    <>
      <Action
        label={label}
        tone="primary"
        done={agent === undefined ? 'The next session reads it' : `Sent to ${agent.name}`}
        disabled={text.trim() === ''}
        act={async () => {
          const answer = await call('task_note', { task_id: taskId, ...note }, { key });
          if (answer.ok) finish(answer.result.agent_id === null ? 'left for the next session' : 'sent to the agent');
          return answer;
        }}
      />
      <CopyCommand
        command={`baton task note ${shellWord(taskId)} TEXT --at ${shellWord(visible(`${path}:${at}`, 200))}`}
      />
    </>
  );
}
