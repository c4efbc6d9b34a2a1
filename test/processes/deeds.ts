import type { Asked, Told } from './peers.ts';

export type Deed = (...args: never[]) => Promise<unknown>;

/** Makes this process a peer: it runs its parent's requests, and exits with it. */
export function perform(deeds: Readonly<Record<string, Deed>>): void {
  process.on('disconnect', () => process.exit());
  process.on('message', ({ id, deed, args }: Asked) => {
    const tell = (told: Told): void => void process.send?.(told);
    const act = deeds[deed] as ((...given: readonly unknown[]) => Promise<unknown>) | undefined; // oxlint-disable-line typescript/no-unsafe-type-assertion
    if (act === undefined) return tell({ id, threw: `a peer cannot ${deed}` });
    act(...args).then(
      (said) => tell({ id, said }),
      (error: unknown) => tell({ id, threw: String(error) }),
    );
  });
}
