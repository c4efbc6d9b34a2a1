import type { Caller } from './caller.ts';
import { event, type EventOf, type Events } from './event.ts';
import { decided, type Outcome, refusal } from './outcome.ts';

/** A page's key, as this ledger names it. */
export interface PageKeyRecord {
  readonly name: string;
  readonly origin: string;
  /** Why the key was revoked; null while it is valid. */
  readonly revoked: string | null;
}

interface PageKeyState {
  readonly pageKeys: Map<string, PageKeyRecord>;
}

/** Records a page's key before its first write in this project. */
export function decideAddPageKey({ pageKeys }: PageKeyState, command: Events['PageKeyAdded']): Outcome<null> {
  const known = pageKeys.get(command.key_id);
  if (known === undefined) return decided([event('PageKeyAdded', command)], null);
  if (known.revoked === null) return decided([], null);
  return refuseRevoked(command.key_id, known.revoked);
}

/** Revokes a key. A key that this ledger does not name has written nothing here. */
export function decideRevokePageKey({ pageKeys }: PageKeyState, command: Events['PageKeyRevoked']): Outcome<null> {
  const isNamed = pageKeys.get(command.key_id)?.revoked === null;
  return decided(isNamed ? [event('PageKeyRevoked', command)] : [], null);
}

/** Refuses a command whose page's key was revoked while the command waited. */
export function findRevokedPage({ pageKeys }: PageKeyState, caller: Caller): ReturnType<typeof refusal> | undefined {
  const via = caller.kind === 'operator' ? caller.via : undefined;
  if (via === undefined) return undefined;
  const revoked = pageKeys.get(via)?.revoked ?? null;
  return revoked === null ? undefined : refuseRevoked(via, revoked);
}

function refuseRevoked(id: string, reason: string): ReturnType<typeof refusal> {
  return refusal(
    'bad-page-key',
    `the key ${id} was revoked: ${reason}`,
    'Get a new key: baton web for the page; an editor starts baton acp again.',
  );
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
