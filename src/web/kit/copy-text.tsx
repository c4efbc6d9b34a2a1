import { notify } from './notes.tsx';

interface CopyTextProps {
  readonly label: string;
  readonly text: string;
  readonly disabled?: boolean;
}

/** A button that puts text on the clipboard. */
export function CopyText({ label, text, disabled = false }: CopyTextProps) {
  const copy = async (): Promise<void> => {
    try {
      await navigator.clipboard.writeText(text);
      notify({ tone: 'good', text: 'Copied' });
    } catch {
      notify({ tone: 'bad', text: 'The browser refused the clipboard' });
    }
  };
  return (
    <button type="button" disabled={disabled} onClick={() => void copy()}>
      {label}
    </button>
  );
}
