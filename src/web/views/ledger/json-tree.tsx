import { useState } from 'preact/hooks';
import { fieldsOf, isObject } from '../../../protocol/shape/read-unknown.ts';
import { Words } from '../../kit/words.tsx';

/** How many fields or items are shown at first, and added by each click. */
const MOST_ITEMS = 50;
/** How much of a text is shown at first. */
const MOST_CHARACTERS = 600;
const OPEN_DEPTH = 1;

/** Any value as a foldable tree. Its content is text of agents and people. */
export function JsonTree({ value, depth = 0 }: { readonly value: unknown; readonly depth?: number }) {
  if (Array.isArray(value)) {
    const items = value.map((item: unknown, index) => [String(index), item] as const);
    return <Items items={items} depth={depth} sign={['[', ']']} />;
  }
  if (isObject(value)) return <Items items={Object.entries(fieldsOf(value))} depth={depth} sign={['{', '}']} />;
  if (typeof value === 'string') return <Text text={value} />;
  return <code class="literal">{String(value)}</code>;
}

interface ItemsProps {
  readonly items: readonly (readonly [string, unknown])[];
  readonly depth: number;
  readonly sign: readonly [string, string];
}

function Items({ items, depth, sign: [open, close] }: ItemsProps) {
  const [most, setMost] = useState(MOST_ITEMS);
  if (items.length === 0) return <code class="dim">{`${open}${close}`}</code>;
  return (
    <ul class="fields">
      {items.slice(0, most).map(([name, item]) => (
        <li key={name}>
          <Field name={name} value={item} depth={depth} />
        </li>
      ))}
      {items.length <= most ? null : (
        <li>
          <button type="button" onClick={() => setMost(most + 10 * MOST_ITEMS)}>
            {items.length - most} more
          </button>
        </li>
      )}
    </ul>
  );
}

function Field({ name, value, depth }: { readonly name: string; readonly value: unknown; readonly depth: number }) {
  const label = (
    <span class="name">
      <Words text={name} most={100} />
    </span>
  );
  const size = Array.isArray(value) ? value.length : isObject(value) ? Object.keys(value).length : 0;
  if (size === 0)
    return (
      <>
        {label} <JsonTree value={value} depth={depth + 1} />
      </>
    );
  return (
    <details open={depth < OPEN_DEPTH && size <= MOST_ITEMS}>
      <summary>
        {label} <span class="dim">{countOf(size, Array.isArray(value) ? 'item' : 'field')}</span>
      </summary>
      <JsonTree value={value} depth={depth + 1} />
    </details>
  );
}

function countOf(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`;
}

function Text({ text }: { readonly text: string }) {
  const [isWhole, setWhole] = useState(false);
  return (
    <span class="text">
      <Words text={isWhole || text.length <= MOST_CHARACTERS ? text : `${text.slice(0, MOST_CHARACTERS)}…`} />
      {text.length <= MOST_CHARACTERS ? null : (
        <button type="button" class="more" onClick={() => setWhole(!isWhole)}>
          {isWhole ? 'Less' : `All ${text.length} characters`}
        </button>
      )}
    </span>
  );
}
