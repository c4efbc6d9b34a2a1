import type { EventOf, RecordedEvent } from './event.ts';

/** The runbook that a project goes by: everything with a gate or a merge, whatever its working file says meanwhile. */
export interface Adoption {
  readonly sha256: string;
  readonly commit: string | null;
  readonly committed: string | null;
  readonly by: string;
  readonly at: string;
}

/** The part of the state that says which runbook is in force. */
export interface AdoptionState {
  readonly adopted: Map<string, Adoption>;
}

const IN_FORCE = 'in-force';

/** Undefined before the first adoption. */
export function findAdoption({ adopted }: AdoptionState): Adoption | undefined {
  return adopted.get(IN_FORCE);
}

export function evolveAdoption(
  { adopted }: AdoptionState,
  { data, at }: EventOf<'RunbookAdopted'> & Pick<RecordedEvent, 'at'>,
): void {
  const { sha256, commit, committed, by } = data;
  adopted.set(IN_FORCE, { sha256, commit, committed, by, at });
}

/** The runbooks that a task in this state may still need: the one in force, and those that open workflows were started with. */
export function runbooksInUse({
  adopted,
  tasks,
}: AdoptionState & { readonly tasks: ReadonlyMap<string, PinnedRunbook> }): ReadonlySet<string> {
  const found = new Set<string>();
  const inForce = adopted.get(IN_FORCE);
  if (inForce !== undefined) found.add(inForce.sha256);
  // What is completed can be reinstated, and then goes on by the same rules.
  for (const { flow } of tasks.values()) if (flow.runbook !== null) found.add(flow.runbook);
  return found;
}

interface PinnedRunbook {
  readonly flow: { readonly runbook: string | null };
}
