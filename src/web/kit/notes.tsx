import { signal } from '@preact/signals';
import { Words } from './words.tsx';

interface Note {
  readonly id: number;
  readonly tone: 'good' | 'bad';
  readonly text: string;
}

const notes = signal<readonly Note[]>([]);
let nextId = 1;
const GOOD_MS = 6000;
const MOST = 5;

/** Shows a message about the user's action. A success disappears by itself; a refusal stays until it is dismissed. */
export function notify({ tone, text }: Omit<Note, 'id'>): void {
  const id = (nextId += 1);
  notes.value = [...notes.peek(), { id, tone, text }].slice(-MOST);
  if (tone === 'good') setTimeout(() => dismiss(id), GOOD_MS);
}

function dismiss(id: number): void {
  notes.value = notes.peek().filter((note) => note.id !== id);
}

export function Notes() {
  return (
    <div class="notes" role="status" aria-live="polite">
      {notes.value.map(({ id, tone, text }) => (
        <p key={id} class={`note ${tone}`}>
          <Words text={text} most={600} />
          <button type="button" class="dismiss" aria-label="Dismiss this message" onClick={() => dismiss(id)}>
            ✕
          </button>
        </p>
      ))}
    </div>
  );
}
