import { spawnSync } from 'node:child_process';

/**
 * `npm run test:setup`: installs the Debian packages that some tests use. Without them those tests are skipped, and
 * `npm test` lists them.
 */
const PACKAGES = [
  'bubblewrap',
  'podman',
  'catatonit',
  'crun',
  'uidmap',
  'slirp4netns',
  'passt',
  'iproute2',
  'faketime',
].concat(
  // For failover: the npm package ships only initdb, pg_ctl and postgres.
  ['postgresql-15', 'postgresql-client-15', 'pgbouncer'],
);
const before = process.getuid?.() === 0 ? [] : ['sudo'];

for (const args of [
  ['apt-get', 'update'],
  ['apt-get', 'install', '--yes', '--no-install-recommends', ...PACKAGES],
]) {
  const [program = '', ...rest] = [...before, ...args];
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' };
  const { status, error } = spawnSync(program, rest, { stdio: 'inherit', env });
  if (status === 0) continue;
  process.stderr.write(
    `${program} failed${error === undefined ? '' : `: ${error.message}`}. Install by hand: ${PACKAGES.join(' ')}\n`,
  );
  process.exit(1);
}
