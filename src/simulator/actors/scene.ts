import type { Caller } from '../../state/caller.ts';
import type { Command } from '../../state/decide.ts';
import type { Task } from '../../state/tasks/task.ts';
import type { Host, World } from '../world/parts.ts';

export const ANN: Caller = { kind: 'operator', name: 'ann' };
export const BOB: Caller = { kind: 'operator', name: 'bob' };
export const SYSTEM: Caller = { kind: 'system', name: 'daemon' };

/** A person at a host, at the moment at which they act. */
export interface Scene {
  readonly world: World;
  readonly host: Host;
  readonly who: Caller;
  /** Chooses the subject among those that exist. */
  readonly n: number;
  /** Returns whether the command has recorded something. */
  readonly say: (command: Command, caller?: Caller) => boolean;
  /** Says it about one task after the other, until one of the commands has recorded something. */
  readonly sayOfATask: (make: (task: Task) => Command | undefined) => boolean;
}

/** What people do, by its name. Each returns whether there was anything to do. */
export type Acts = Readonly<Record<string, (scene: Scene) => boolean>>;

export function sceneAt(host: Host, n: number): Scene {
  const who = n % 3 === 0 ? BOB : ANN;
  const say = (command: Command, caller: Caller = who): boolean => {
    const { size } = host.world.chain;
    return host.submit(command, caller).kind === 'ok' && host.world.chain.size > size;
  };
  const sayOfATask = (make: (task: Task) => Command | undefined): boolean =>
    inTurn([...host.state.tasks.values()], n).some((task) => {
      const command = make(task);
      return command !== undefined && say(command);
    });
  return { world: host.world, host, who, n, say, sayOfATask };
}

export function pick<T>(from: readonly T[], n: number): T | undefined {
  return from[n % Math.max(1, from.length)];
}

/** All items, the n-th first. */
function inTurn<T>(from: readonly T[], n: number): readonly T[] {
  const at = n % Math.max(1, from.length);
  return [...from.slice(at), ...from.slice(0, at)];
}
