import { visible } from '../../kit/visible.ts';
import { Words } from '../../kit/words.tsx';

const UUID = /\b([0-9a-f]{8})-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b/g;

/** The actor of an entry, with ids cut to the part that people know. */
export function Actor({ actor }: { readonly actor: string }) {
  return (
    <span title={visible(actor, 200)}>
      <Words text={actor.replaceAll(UUID, '$1')} most={80} />
    </span>
  );
}
