import { useEffect, useState } from 'preact/hooks';
import { useStateView } from '../../app/hub-client.ts';
import { setQuery } from '../../app/router.ts';
import { type Filter, FILTER_FIELDS, isFiltered } from './filter.ts';

const LABELS: Readonly<Record<keyof Filter, string>> = {
  type: 'Type',
  task: 'Task',
  actor: 'Actor',
  text: 'Text',
};

/** The delay after typing before the address, and so the search, follows. */
const SETTLE_MS = 350;

export function Filters({ filter }: { readonly filter: Filter }) {
  const [typed, setTyped] = useState(filter);
  const name = JSON.stringify(filter);
  const types = useStateView('entry_types', {});
  // Follows the address when a link or going back changes it.
  useEffect(() => setTyped(filter), [name]);
  useEffect(() => {
    if (JSON.stringify(typed) === name) return undefined;
    const timer = setTimeout(() => setQuery({ ...typed }), SETTLE_MS);
    return () => clearTimeout(timer);
  }, [typed]);
  return (
    <form
      class="filters"
      role="search"
      onSubmit={(event) => {
        event.preventDefault();
        setQuery({ ...typed });
      }}
    >
      {FILTER_FIELDS.map((field) => (
        <label key={field}>
          <span class="sr">{LABELS[field]}</span>
          <input
            type={field === 'text' ? 'search' : 'text'}
            placeholder={LABELS[field]}
            value={typed[field]}
            spellcheck={false}
            {...(field === 'type' ? { list: 'entry-types' } : {})}
            onInput={({ currentTarget: { value } }) => setTyped({ ...typed, [field]: value })}
          />
        </label>
      ))}
      <datalist id="entry-types">
        {(types.value ?? []).map((type) => (
          <option key={type} value={type} />
        ))}
      </datalist>
      {isFiltered(filter) ? (
        <button type="button" onClick={() => setQuery({})}>
          Clear
        </button>
      ) : null}
    </form>
  );
}
