import type { ComponentChildren } from 'preact';
import { useRef, useState } from 'preact/hooks';
import type { Answer } from '../../api/answer.ts';
import { standing } from '../app/hub-client.ts';
import { notify } from './notes.tsx';

/** The second click of a double click comes within this time. */
const DOUBLE_MS = 700;
let lastActedAt = -Infinity;

interface ActionProps {
  readonly label: string;
  /** Sends the command. */
  readonly act: () => Promise<Answer>;
  /** Shown when it was done. */
  readonly done?: string;
  readonly tone?: 'primary' | 'danger';
  readonly disabled?: boolean;
  readonly title?: string;
  readonly children?: ComponentChildren;
}

/**
 * A button that sends a command: once, however often it is clicked, and never while the daemon is away. A refusal stays on the screen until it
 * is read.
 */
export function Action({ label, act, done, tone, disabled = false, title, children }: ActionProps) {
  const [isUnderWay, setUnderWay] = useState(false);
  const busy = useRef(false);
  const isAway = standing.value.link.kind !== 'live';
  const run = async (): Promise<void> => {
    const at = performance.now();
    if (busy.current || at - lastActedAt < DOUBLE_MS) return;
    busy.current = true;
    lastActedAt = at;
    setUnderWay(true);
    const answer = await act();
    busy.current = false;
    setUnderWay(false);
    if (answer.ok) notify({ tone: 'good', text: done ?? `${label}: done` });
    else notify({ tone: 'bad', text: `${label}: ${answer.error.message}. ${answer.error.hint}` });
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

/** Copies the command of the CLI that does the same. */
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
