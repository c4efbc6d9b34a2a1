import type { Act } from '../scenario.ts';
import type { World } from '../world/parts.ts';
import { DECISION_ACTS } from './decision-acts.ts';
import { HOST_ACTS } from './host-acts.ts';
import { RUN_ACTS } from './run-acts.ts';
import { type Acts, sceneAt } from './scene.ts';
import { TASK_ACTS } from './task-acts.ts';

const ACTS = { ...DECISION_ACTS, ...TASK_ACTS, ...RUN_ACTS, ...HOST_ACTS } satisfies Readonly<
  Record<Act['kind'], Acts[string]>
>;

/** People wait for their moment: what cannot be done at present is tried again for a while. */
export function act({ kind, n }: Act, world: World, tries = 16): void {
  if (world.isHealed) return;
  const host = world.upHost(n);
  if (host !== undefined && ACTS[kind](sceneAt(host, n))) return;
  if (tries > 0) world.timetable.in(4000, () => act({ kind, n, atMs: 0 }, world, tries - 1));
}
