import { type ListedProject, readProjectList, writeProjectPath, writeProjectStore } from '../../api/project-list.ts';

/** The repository and store of each project. Needed because a session's token names only the project. */
export class ProjectList {
  readonly #stateDir: string;
  #listed: ReadonlyMap<string, ListedProject>;

  constructor(stateDir: string) {
    this.#stateDir = stateDir;
    this.#listed = readProjectList(stateDir);
  }

  pathOf(id: string): string | undefined {
    return this.#listed.get(id)?.path;
  }

  /** Reads the file again, because `baton host join` adds projects while the daemon runs. */
  storeOf(id: string): string | undefined {
    this.#listed = readProjectList(this.#stateDir);
    return this.#listed.get(id)?.store;
  }

  ids(): readonly string[] {
    return [...this.#listed.keys()];
  }

  remember(id: string, { path, store }: Pick<ListedProject, 'path'> & Partial<ListedProject>): void {
    const known = this.#listed.get(id);
    if (known?.path === path && (store === undefined || known.store === store)) return;
    if (store === undefined) writeProjectPath(this.#stateDir, id, path);
    else writeProjectStore(this.#stateDir, id, { path, store });
    this.#listed = readProjectList(this.#stateDir);
  }
}
