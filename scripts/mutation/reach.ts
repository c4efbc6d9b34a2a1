import { globSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

/** The folders of pure code that `ARCHITECTURE.md` lists, and their product files. */
export function pureFiles(root: string): ReadonlyMap<string, readonly string[]> {
  const [, list = ''] = /^Pure folders: (.*)\.$/m.exec(readFileSync(join(root, 'ARCHITECTURE.md'), 'utf8')) ?? [];
  const rooms = [...list.matchAll(/`([^`]+)`/g)].map(([, room = '']) => room);
  return new Map(
    rooms.map((room) => {
      const files = globSync(`src/${room}/**/*.ts`, { cwd: root });
      return [room, files.filter((file) => !/\.(test|cases)\.ts$/.test(file)).toSorted()];
    }),
  );
}

/** Finds the tests of the pure lane that run a file. */
export class Reach {
  readonly #importers = new Map<string, string[]>();
  readonly #root: string;

  constructor(root: string) {
    this.#root = root;
    for (const file of globSync('{src,scripts,test}/**/*.ts', { cwd: root })) this.#read(file);
  }

  #read(file: string): void {
    const code = readFileSync(join(this.#root, file), 'utf8');
    for (const [, named = ''] of code.matchAll(/^(?:import|export)(?! type\b)[^;'"]*?'(\.[^']+)'/gm)) {
      const imported = join(dirname(file), named);
      this.#importers.set(imported, [...(this.#importers.get(imported) ?? []), file]);
    }
  }

  /** The tests that import the file: those of its own room first, then by the length of the way. */
  testsOf(file: string): readonly string[] {
    const steps = new Map([[file, 0]]);
    const queue = [file];
    for (let each = queue.shift(); each !== undefined; each = queue.shift()) {
      for (const importer of this.#importers.get(each) ?? []) {
        if (steps.has(importer)) continue;
        steps.set(importer, (steps.get(each) ?? 0) + 1);
        queue.push(importer);
      }
    }
    const [, room] = file.split('/');
    const isElsewhere = (test: string): number => Number(test.split('/')[1] !== room);
    const isAway = (test: string): number => Number(dirname(test) !== dirname(file));
    return [...steps]
      .filter(([each]) => /^(src|scripts)\/.*\.test\.ts$/.test(each) && !/\.(int|long)\.test\.ts$/.test(each))
      .toSorted(([a, i], [b, j]) => isElsewhere(a) - isElsewhere(b) || i - j || isAway(a) - isAway(b))
      .map(([each]) => each);
  }
}
