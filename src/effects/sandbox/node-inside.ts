import type { Mount } from '../../protocol/sandbox.ts';
import type { Launch } from '../../supervisor/contract.ts';

/** The path of this machine's Node in a container, for `baton` and hooks. The image's own Node stays in place. */
const NODE_INSIDE = '/run/baton/node';

export const NODE_MOUNT: Mount = { kind: 'read', at: NODE_INSIDE, from: process.execPath };

export function useNodeInside(launch: Launch): Launch {
  return replaceInLaunch(launch, [[process.execPath, NODE_INSIDE]]);
}

/** Replaces paths that differ inside the sandbox in everything that the process reads and runs. */
export function replaceInLaunch(launch: Launch, pairs: readonly (readonly [string, string])[]): Launch {
  const replace = (text: string): string => pairs.reduce((all, [from, to]) => all.replaceAll(from, to), text);
  const [program, ...args] = launch.argv;
  const { files = [], folders = [] } = launch;
  return {
    ...launch,
    argv: [replace(program), ...args.map(replace)],
    env: Object.fromEntries(Object.entries(launch.env).map(([name, value]) => [name, replace(value)])),
    files: files.map((file) => ({ ...file, path: replace(file.path), content: replace(file.content) })),
    folders: folders.map(replace),
  };
}
