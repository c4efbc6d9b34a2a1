import { spawnSync } from 'node:child_process';
import { mkdtempSync, realpathSync, rmSync, statfsSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/**
 * A separate disk of a few megabytes that can be filled to the last block. Mounting needs root: without it, `find`
 * returns undefined.
 */
export class SmallDisk implements Disposable {
  readonly path: string;

  private constructor(path: string) {
    this.path = path;
  }

  /** Mounts the disk at an existing empty folder, or else at a new one. */
  static find(megabytes: number, at?: string): SmallDisk | undefined {
    const path = at ?? realpathSync(mkdtempSync(join(tmpdir(), 'baton-disk-')));
    const mounted = spawnSync('mount', ['-t', 'tmpfs', '-o', `size=${megabytes}m,mode=700`, 'tmpfs', path]);
    if (mounted.status === 0) return new SmallDisk(path);
    rmSync(path, { recursive: true });
    return undefined;
  }

  /** Fills the disk except for this many bytes, in whole blocks. */
  fill(leaving = 0): void {
    const { bavail, bsize } = statfsSync(this.path);
    const bytes = Math.max(0, Math.floor((bavail * bsize - leaving) / bsize)) * bsize;
    writeFileSync(this.#filler, Buffer.alloc(bytes));
  }

  makeRoom(): void {
    rmSync(this.#filler, { force: true });
  }

  [Symbol.dispose](): void {
    // Lazily, because a process that was just killed may still have it open.
    spawnSync('umount', ['--lazy', this.path]);
    rmSync(this.path, { recursive: true, force: true });
  }

  get #filler(): string {
    return join(this.path, '.filler');
  }
}
