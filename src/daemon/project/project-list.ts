import { readFileSync } from 'node:fs';
import { writeFileAtomically } from '../../api/files.ts';

/** The repository of each project, kept in `projects.json`, because the token of a session names only the project. */
export class ProjectList {
  readonly #path: string;
  readonly #paths: Map<string, string>;

  constructor(path: string) {
    this.#path = path;
    this.#paths = readList(path);
  }

  pathOf(id: string): string | undefined {
    return this.#paths.get(id);
  }

  ids(): readonly string[] {
    return [...this.#paths.keys()];
  }

  remember(id: string, path: string): void {
    if (this.#paths.get(id) === path) return;
    this.#paths.set(id, path);
    writeFileAtomically(this.#path, `${JSON.stringify(Object.fromEntries(this.#paths), null, 2)}\n`);
  }
}

function readList(path: string): Map<string, string> {
  try {
    const list: unknown = JSON.parse(readFileSync(path, 'utf8'));
    const pairs = typeof list === 'object' && list !== null ? Object.entries(list) : [];
    return new Map(pairs.filter((pair): pair is [string, string] => typeof pair[1] === 'string'));
  } catch {
    // Missing at the first start. A damaged list repairs itself: each call of an operator adds the path of its project.
    return new Map();
  }
}
