import { readFileIfPresent, writeFileAtomically } from '../../api/files.ts';
import { fieldsInJson } from '../../protocol/shape/read-unknown.ts';

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

/** Missing at the first start. A damaged list repairs itself: each call of an operator adds the path of its project. */
function readList(path: string): Map<string, string> {
  const pairs = Object.entries(fieldsInJson(readFileIfPresent(path)));
  return new Map(pairs.filter((pair): pair is [string, string] => typeof pair[1] === 'string'));
}
