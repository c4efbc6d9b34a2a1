import { event, type EventOf, type Events } from './event.ts';
import { decided, type Outcome, refusal } from './outcome.ts';

/** The key of a page, as this ledger names it. */
export interface PageKeyRecord {
  readonly name: string;
  readonly origin: string;
  /** Why it was revoked; null while it counts. */
  readonly revoked: string | null;
}

interface PageKeyState {
  readonly pageKeys: Map<string, PageKeyRecord>;
}

/** Names the key of a page before its first write in this project. */
export function decideAddPageKey({ pageKeys }: PageKeyState, command: Events['PageKeyAdded']): Outcome<null> {
  const known = pageKeys.get(command.key_id);
  if (known === undefined) return decided([event('PageKeyAdded', command)], null);
  if (known.revoked === null) return decided([], null);
  return refusal('bad-page-key', `the key ${command.key_id} was revoked: ${known.revoked}`, 'Open the page: baton web');
}

/** A key that this ledger does not name has done nothing here. */
export function decideRevokePageKey({ pageKeys }: PageKeyState, command: Events['PageKeyRevoked']): Outcome<null> {
  const isNamed = pageKeys.get(command.key_id)?.revoked === null;
  return decided(isNamed ? [event('PageKeyRevoked', command)] : [], null);
}

export function evolvePageKeys(
  { pageKeys }: PageKeyState,
  { type, data }: EventOf<'PageKeyAdded'> | EventOf<'PageKeyRevoked'>,
): void {
  const { key_id: id } = data;
  if (type === 'PageKeyAdded') {
    pageKeys.set(id, { name: data.name, origin: data.origin, revoked: null });
    return;
  }
  const known = pageKeys.get(id);
  if (known !== undefined) pageKeys.set(id, { ...known, revoked: data.reason });
}
