import { git, type GitResult, type GitLocation } from './run-git.ts';

/** The files of one commit as git has them: raw blobs, without filters, attributes or replace refs. */
export interface CommittedFiles {
  /** Paths below a folder, or the path itself if it is a file; '' is the top. */
  list(path: string): Promise<readonly CommittedFile[]>;
  read(file: CommittedFile): Promise<GitResult<string>>;
}

export interface CommittedFile {
  readonly path: string;
  readonly object: string;
  readonly isLink: boolean;
}

export function openCommittedFiles(place: GitLocation, commit: string): CommittedFiles {
  const env = { GIT_NO_REPLACE_OBJECTS: '1', GIT_LITERAL_PATHSPECS: '1' };
  return {
    async list(path) {
      const asked = ['ls-tree', '-r', '-z', '--full-tree', commit, ...(path === '' ? [] : ['--', path])];
      const listed = await git(asked, { cwd: place, env, maxBytes: 64 * 1024 * 1024 });
      return listed.ok ? listed.value.stdout.split('\0').flatMap(parseLine) : [];
    },
    async read({ object }) {
      const read = await git(['cat-file', 'blob', object], { cwd: place, env });
      return read.ok ? { ok: true, value: read.value.stdout } : read;
    },
  };
}

function parseLine(line: string): readonly CommittedFile[] {
  const [, mode, object, path] = /^(\d+) blob ([0-9a-f]+)\t(.+)$/s.exec(line) ?? [];
  return object === undefined || path === undefined ? [] : [{ path, object, isLink: mode === '120000' }];
}
