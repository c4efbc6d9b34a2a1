import { join } from 'node:path';

/** In the folder of a run: which project it belongs to. All projects of a state folder have theirs side by side. */
export function ownerFile(folder: string): string {
  return join(folder, 'project');
}
