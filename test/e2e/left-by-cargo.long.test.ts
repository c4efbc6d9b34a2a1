import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { probeBubblewrap } from '../../src/sandbox/probe.ts';
import { CheckWorld } from '../attacks/sandbox/check-world.ts';
import { PATIENCE_MS } from '../processes/run-world.ts';

const bubblewrap = await probeBubblewrap();
const { status, stdout } = spawnSync('rustc', ['--print', 'sysroot'], { encoding: 'utf8' });
const missing = status === 0 ? (bubblewrap.works ? '' : bubblewrap.reason) : 'Rust is not installed';
const unless = missing === '' ? '' : ` (NOT RUN: ${missing})`;

const lib = (sum: string, test = ''): string =>
  `pub fn add(a: u32, b: u32) -> u32 { ${sum} }\n#[test]\nfn adds() { ${test} assert_eq!(add(1, 2), 3); }\n`;

/** With this runner cargo runs no test. */
const PLANT = `
  let path = std::path::Path::new(&std::env::var("CARGO_HOME").unwrap()).join("config.toml");
  std::fs::write(path, "[target.'cfg(all())']\\nrunner = \\"true\\"\\n").unwrap(); panic!();`;

describe.skipIf(missing !== '')(`cargo test${unless}`, { timeout: 2 * PATIENCE_MS }, () => {
  let world: CheckWorld;
  beforeAll(async () => {
    world = await CheckWorld.open({
      read: [stdout.trim()],
      setup: 'cargo fetch',
      check: 'cargo test --offline --quiet',
      files: {
        'Cargo.toml': '[package]\nname = "sums"\nversion = "1.0.0"\nedition = "2021"\n',
        'Cargo.lock': 'version = 3\n\n[[package]]\nname = "sums"\nversion = "1.0.0"\n',
        '.gitignore': 'target\n',
        'src/lib.rs': lib('a + b'),
      },
      env: { PATH: `${join(stdout.trim(), 'bin')}:${process.env['PATH'] ?? ''}` },
    });
  }, PATIENCE_MS);
  afterAll(async () => world[Symbol.asyncDispose]());

  it('runs the tests of a branch, even after tests that set a runner in the cache of cargo', async () => {
    expect((await world.check('hostile', { 'src/lib.rs': lib('a + b', PLANT) })).outcome).toBe('failed');
    const broken = await world.check('broken', { 'src/lib.rs': lib('a - b') });
    expect(broken.outcome).toBe('failed');
    expect(broken.printed).toContain('test result: FAILED');
    expect((await world.check('honest', { 'src/lib.rs': lib('b + a') })).outcome).toBe('merged');
  });
});
