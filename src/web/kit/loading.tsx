import type { ComponentChildren } from 'preact';
import type { Loaded } from '../hub/messages.ts';
import { Words } from './words.tsx';

/** Shows a value with its error beside it: each list fails separately, and keeps what it showed. */
export function Show<T>({
  loaded,
  children,
  what,
}: {
  readonly loaded: Loaded<T>;
  readonly what: string;
  readonly children: (value: T) => ComponentChildren;
}) {
  const { value, error } = loaded;
  return (
    <>
      {error === undefined ? null : (
        <p class="failure" role="alert">
          <strong>{value === undefined ? `${what} cannot be shown` : `${what} may be out of date`}:</strong>{' '}
          <Words text={error.message} />. <Words text={error.hint} />
        </p>
      )}
      {value === undefined ? error === undefined ? <p class="loading">Loading {what}…</p> : null : children(value)}
    </>
  );
}

export function Empty({ children }: { readonly children: ComponentChildren }) {
  return <p class="empty">{children}</p>;
}
