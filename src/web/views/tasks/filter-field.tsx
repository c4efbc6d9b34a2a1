import { useEffect, useRef, useState } from 'preact/hooks';
import { type KnownValues, suggestFilters } from '../../model/tasks/suggest-filters.ts';

/** The pause in typing after which the filter is applied. */
const PAUSE_MS = 120;

interface FilterFieldProps {
  readonly q: string;
  readonly onChange: (q: string) => void;
  readonly known: KnownValues;
}

/** The filter field. Its text is ahead of the address while the user types, and follows it otherwise. */
export function FilterField({ q, onChange, known }: FilterFieldProps) {
  const [text, setText] = useState(q);
  const sent = useRef(q);
  const timer = useRef<ReturnType<typeof setTimeout> | undefined>(undefined);
  useEffect(() => {
    if (q === sent.current) return;
    sent.current = q;
    clearTimeout(timer.current);
    setText(q);
  }, [q]);
  useEffect(() => () => clearTimeout(timer.current), []);
  const type = (next: string): void => {
    setText(next);
    clearTimeout(timer.current);
    timer.current = setTimeout(() => {
      sent.current = next;
      onChange(next);
    }, PAUSE_MS);
  };
  return (
    <label class="filter">
      <span class="sr">Filter tasks</span>
      <input
        type="search"
        placeholder="status:blocked role:reviewer words…"
        title="Keys: status, phase, role, holder, claimable, activity, critical, after, before. A - before a part excludes it."
        value={text}
        list="task-filters"
        spellcheck={false}
        autocomplete="off"
        onInput={({ currentTarget }) => type(currentTarget.value)}
      />
      <datalist id="task-filters">
        {suggestFilters(text, known).map((suggestion) => (
          <option key={suggestion} value={suggestion} />
        ))}
      </datalist>
    </label>
  );
}
