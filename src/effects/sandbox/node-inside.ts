import type { Mount } from '../../protocol/sandbox.ts';
import type { Launch } from '../../supervisor/contract.ts';

/** Where a container has this machine's Node, for `baton` and hooks: an image's own Node stays at its place. */
const NODE_INSIDE = '/run/baton/node';

export const NODE_MOUNT: Mount = { kind: 'read', at: NODE_INSIDE, from: process.execPath };

export function useNodeInside(launch: Launch): Launch {
  return replaceInLaunch(launch, [[process.execPath, NODE_INSIDE]]);
}

/** Other paths for what a sandbox has elsewhere, in all that the process reads and runs. */
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
