import type { ComponentChildren } from 'preact';
import { useRef, useState } from 'preact/hooks';
import type { Answer } from '../../api/answer.ts';
import { standing } from '../app/hub-client.ts';
import { notify } from './notes.tsx';

/** The second click of a double click comes within this time. */
const DOUBLE_MS = 700;
let lastActedAt = -Infinity;

interface Act {
  readonly label: string;
  /** Sends the command. */
  readonly act: () => Promise<Answer>;
  /** The message after success; null for none. */
  readonly done?: string | null;
}

/**
 * Sends a command, unless the page has just sent one or the daemon is away: a double click must not act twice, even if
 * another button has moved under the pointer. A refusal stays visible until it is dismissed. Returns undefined if
 * nothing was sent.
 */
export async function actOnce({ label, act, done = `${label}: done` }: Act): Promise<Answer | undefined> {
  const at = performance.now();
  if (at - lastActedAt < DOUBLE_MS || standing.peek().link.kind !== 'live') return undefined;
  lastActedAt = at;
  const answer = await act();
  if (!answer.ok) notify({ tone: 'bad', text: `${label}: ${answer.error.message}. ${answer.error.hint}` });
  else if (done !== null) notify({ tone: 'good', text: done });
  return answer;
}

interface ActionProps extends Act {
  readonly tone?: 'primary' | 'danger';
  readonly disabled?: boolean;
  readonly title?: string;
  readonly children?: ComponentChildren;
}

/** A button that sends a command once, however often it is clicked, and never while the daemon is away. */
export function Action({ label, act, done, tone, disabled = false, title, children }: ActionProps) {
  const [isUnderWay, setUnderWay] = useState(false);
  const busy = useRef(false);
  const isAway = standing.value.link.kind !== 'live';
  const run = async (): Promise<void> => {
    if (busy.current) return;
    busy.current = true;
    setUnderWay(true);
    await actOnce({ label, act, ...(done === undefined ? {} : { done }) });
    busy.current = false;
    setUnderWay(false);
  };
  return (
    <button
      type="button"
      class={`action ${tone ?? ''}`}
      disabled={disabled || isAway}
      aria-busy={isUnderWay}
      title={isAway ? 'The daemon is away' : title}
      onClick={() => void run()}
    >
      {children ?? label}
    </button>
  );
}

/** Copies the equivalent command of the CLI. */
export function CopyCommand({ command }: { readonly command: string }) {
  const copy = async (): Promise<void> => {
    try {
      await navigator.clipboard.writeText(command);
      notify({ tone: 'good', text: `Copied: ${command}` });
    } catch {
      notify({ tone: 'bad', text: `The browser refused the clipboard. The command: ${command}` });
    }
  };
  return (
    <button
      type="button"
      class="copy"
      title={`Copy: ${command}`}
      aria-label={`Copy the command ${command}`}
      onClick={() => void copy()}
    >
      <code>{command}</code>
    </button>
  );
}
