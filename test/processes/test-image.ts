import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ContainerEngine } from '../../src/protocol/sandbox.ts';
import { OWN_CONFIG } from '../../src/sandbox/container/engine-environment.ts';

/**
 * Creates an image without programs: sessions use this machine's with `sandbox.read = ["/usr"]`. Nothing is pulled from
 * a registry.
 */
export function makeTestImage({ command: [program = '', ...args] }: ContainerEngine): TestImage {
  const name = `localhost/baton-test:${process.pid}`;
  const root = mkdtempSync(join(tmpdir(), 'baton-image-'));
  for (const folder of ['usr', 'proc', 'sys', 'dev', 'etc', 'run', 'tmp', 'var/tmp', 'home'])
    mkdirSync(join(root, folder), { recursive: true });
  for (const folder of ['bin', 'lib', 'lib64']) symlinkSync(`usr/${folder}`, join(root, folder));
  writeFileSync(join(root, 'etc/of-the-image'), 'yes\n');
  const archive = execFileSync('tar', ['-C', root, '-c', '.']);
  rmSync(root, { recursive: true });
  const env = { ...process.env, ...OWN_CONFIG };
  const change = 'ENV PATH=/usr/local/bin:/usr/bin:/bin';
  execFileSync(program, [...args, 'import', '--quiet', '--change', change, '-', name], { input: archive, env });
  return {
    name,
    remove: () => void execFileSync(program, [...args, 'rmi', '--force', name], { env, stdio: 'ignore' }),
  };
}

export interface TestImage {
  readonly name: string;
  remove(): void;
}
