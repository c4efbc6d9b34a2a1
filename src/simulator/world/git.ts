/** Files by path, with their content. */
export type Tree = Readonly<Record<string, string>>;

export interface Commit {
  readonly sha: string;
  readonly parents: readonly string[];
  readonly tree: Tree;
  /** Who made the commit: the principal of a session, or a person. */
  readonly author: string;
}

export type Combined =
  | { readonly kind: 'commit'; readonly tree: Tree }
  | { readonly kind: 'nothing' }
  | { readonly kind: 'conflict'; readonly files: readonly string[] };

/** Git as it is, whatever is reported about it: a graph of commits, the main branch, and the branches of each clone. */
export class Git {
  readonly #commits = new Map<string, Commit>();
  readonly #branches = new Map<string, string>();
  readonly #seed: number;
  readonly #wasMain = new Set<string>();
  #main = '';

  constructor(seed: number) {
    this.#seed = seed;
    this.main = this.commit([], { 'README.md': 'begin' }, 'operator:ann');
  }

  get main(): string {
    return this.#main;
  }

  set main(sha: string) {
    this.#main = sha;
    for (const each of this.ancestors(sha)) this.#wasMain.add(each);
  }

  /** Whether the main branch has ever had the commit, even if a person has removed it since. */
  wasOnMain(sha: string): boolean {
    return this.#wasMain.has(sha);
  }

  commit(parents: readonly string[], tree: Tree, author: string): string {
    const sha = shaOf(this.#seed, this.#commits.size + 1);
    this.#commits.set(sha, { sha, parents, tree, author });
    return sha;
  }

  find(sha: string): Commit | undefined {
    return this.#commits.get(sha);
  }

  treeOf(sha: string): Tree {
    return this.#commits.get(sha)?.tree ?? {};
  }

  /** The branch as this clone has it. Hosts have their own clones. */
  branch(clone: string, name: string): string | undefined {
    return this.#branches.get(`${clone} ${name}`);
  }

  setBranch(clone: string, name: string, sha: string): void {
    this.#branches.set(`${clone} ${name}`, sha);
  }

  dropClone(clone: string): void {
    for (const key of this.#branches.keys()) if (key.startsWith(`${clone} `)) this.#branches.delete(key);
  }

  isAncestor(older: string, newer: string): boolean {
    return this.ancestors(newer).has(older);
  }

  /** A commit with all commits that it contains. */
  ancestors(sha: string): Set<string> {
    const seen = new Set<string>();
    const next = [sha];
    for (let each = next.pop(); each !== undefined; each = next.pop()) {
      if (seen.has(each)) continue;
      seen.add(each);
      next.push(...(this.#commits.get(each)?.parents ?? []));
    }
    return seen;
  }

  /** The commits of `head` that `base` does not contain. */
  since(base: string, head: string): readonly Commit[] {
    const known = this.ancestors(base);
    return [...this.ancestors(head)].filter((sha) => !known.has(sha)).flatMap((sha) => this.#commits.get(sha) ?? []);
  }

  mergeBase(one: string, other: string): string {
    const known = this.ancestors(one);
    const next = [other];
    for (let each = next.shift(); each !== undefined; each = next.shift()) {
      if (known.has(each)) return each;
      next.push(...(this.#commits.get(each)?.parents ?? []));
    }
    return '';
  }

  changed(from: string, to: string): readonly string[] {
    const [before, after] = [this.treeOf(from), this.treeOf(to)];
    return [...new Set([...Object.keys(before), ...Object.keys(after)])].filter((path) => before[path] !== after[path]);
  }

  /** Merges the trees of two commits by path. */
  combine(head: string, onto: string): Combined {
    const base = this.mergeBase(head, onto);
    const ours = this.treeOf(onto);
    const theirs = this.treeOf(head);
    const changes = this.changed(base, head);
    if (changes.every((path) => ours[path] === theirs[path])) return { kind: 'nothing' };
    const onMain = new Set(this.changed(base, onto));
    const files = changes.filter((path) => onMain.has(path) && ours[path] !== theirs[path]);
    if (files.length > 0) return { kind: 'conflict', files };
    const tree: Record<string, string> = { ...ours };
    for (const path of changes) {
      const text = theirs[path];
      if (text === undefined) delete tree[path];
      else tree[path] = text;
    }
    return { kind: 'commit', tree };
  }
}

/** The only rule of the simulated checks: a tree passes if no file has a bug. */
export function passesChecks(tree: Tree): boolean {
  return !Object.values(tree).some((text) => text.includes('bug'));
}

function shaOf(seed: number, n: number): string {
  let sha = '';
  for (let word = 0; word < 5; word += 1) {
    let x = Math.imul(seed + 1, 0x9e3779b1) ^ Math.imul(n + word * 7919, 0x85ebca77);
    x = Math.imul(x ^ (x >>> 15), 0x2c1b3c6d);
    x = Math.imul(x ^ (x >>> 12), 0x297a2d39);
    sha += ((x ^ (x >>> 15)) >>> 0).toString(16).padStart(8, '0');
  }
  return sha;
}
