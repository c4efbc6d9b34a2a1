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

/** Typing is not searching: the address, and with it the search, follows after a moment. */
const SETTLE_MS = 350;

export function Filters({ filter }: { readonly filter: Filter }) {
  const [typed, setTyped] = useState(filter);
  const name = JSON.stringify(filter);
  const types = useStateView('entry_types', {});
  // The address was changed elsewhere: by a link, or by going back.
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
