import type { Caller } from '../state/caller.ts';
import type { PageDoor } from './pages/page-ledgers.ts';
import type { Projects } from './project/projects.ts';

/** A call that concerns the state folder. It may still name a project. */
export interface FolderCall {
  readonly caller: Caller;
  readonly input: unknown;
  readonly projectPath: string | undefined;
  readonly projects: Projects;
  readonly door: PageDoor;
}
