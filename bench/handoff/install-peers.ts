import { execFileSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { hasProgram, PEERS_FOLDER, PEER_VERSIONS } from './peers.ts';

/**
 * `node bench/handoff/install-peers.ts`: installs everything that the handoff benchmark compares with Baton. Can be
 * repeated.
 */
mkdirSync(PEERS_FOLDER, { recursive: true });
const dependencies = { ...PEER_VERSIONS };
writeFileSync(join(PEERS_FOLDER, 'package.json'), `${JSON.stringify({ private: true, dependencies }, null, 2)}\n`);
// None of them needs its install script, and one reports to its vendor.
execFileSync('npm', ['install', '--ignore-scripts', '--no-audit', '--no-fund'], {
  cwd: PEERS_FOLDER,
  stdio: 'inherit',
});

if (!hasProgram('redis-server')) {
  if (process.getuid?.() === 0 && hasProgram('apt-get')) {
    execFileSync('apt-get', ['update'], { stdio: 'inherit' });
    // Installs only the program: in runlevel 1 the package does not start its service.
    const env = { ...process.env, RUNLEVEL: '1', DEBIAN_FRONTEND: 'noninteractive' };
    execFileSync('apt-get', ['install', '-y', '--no-install-recommends', 'redis-server'], { stdio: 'inherit', env });
  } else {
    console.error('redis-server is missing: sudo apt-get install redis-server');
    process.exitCode = 1;
  }
}
